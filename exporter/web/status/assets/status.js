"use strict";
// Loads the page anew now and then and puts in what has changed, so that the reader's place, focus and selection stay.

const seconds = Number(document.body.dataset.refresh);
let paused = false;
let busy = false;
let failed = 0;

const bar = document.createElement("div");
bar.className = "live";
const said = document.createElement("span");
said.setAttribute("role", "status");
const button = document.createElement("button");
button.type = "button";
bar.append(said, button);
document.querySelector("header").append(bar);

const describe = () => {
  button.textContent = paused ? "Go on" : "Pause";
  bar.dataset.state = paused ? "paused" : failed ? "lost" : "live";
  const words = paused ? "paused" : failed ? "no answer, trying again" : "live";
  if (said.textContent !== words) said.textContent = words; // what does not change is not read out again
};

button.addEventListener("click", () => {
  paused = !paused;
  describe();
  if (!paused) refresh();
});

// Scrolled places inside a part are kept, since the part is replaced as a whole.
const places = (part) => [...part.querySelectorAll(".scroll")].map((each) => [each.scrollLeft, each.scrollTop]);

const replace = (old, fresh) => {
  if (old.tagName === "FORM") return; // somebody may be typing there
  if (old.getAttribute("role") === "status") {
    if (old.textContent !== fresh.textContent) old.textContent = fresh.textContent; // or it would not be read out
    return;
  }
  if (old.outerHTML === fresh.outerHTML) return;
  const kept = places(old);
  const inside = [...old.querySelectorAll("a, .scroll")];
  const focus = inside.indexOf(document.activeElement);
  old.replaceWith(fresh);
  fresh.querySelectorAll(".scroll").forEach((each, number) => {
    if (kept[number]) [each.scrollLeft, each.scrollTop] = kept[number];
  });
  if (focus >= 0) fresh.querySelectorAll("a, .scroll")[focus]?.focus({ preventScroll: true });
};

const selecting = () => !getSelection().isCollapsed;

const update = (text) => {
  const fresh = new DOMParser().parseFromString(text, "text/html");
  const main = document.getElementById("main");
  const next = fresh.getElementById("main");
  if (!next) throw new Error("not a page of ours");
  document.title = fresh.title;
  document.querySelector("link[rel=icon]").href = fresh.querySelector("link[rel=icon]").getAttribute("href");
  const asOf = document.getElementById("as-of");
  replace(asOf, document.adoptNode(fresh.getElementById("as-of")));
  const shape = (parent) => [...parent.children].map((each) => `${each.tagName} ${each.id}`).join();
  if (shape(main) !== shape(next)) {
    main.replaceChildren(...[...next.children].map((each) => document.adoptNode(each)));
    return;
  }
  [...next.children].forEach((each, number) => replace(main.children[number], document.adoptNode(each)));
};

const refresh = async (wanted = false) => {
  if (busy || (!wanted && (paused || document.hidden || selecting()))) return;
  busy = true;
  const asked = location.href;
  try {
    const answer = await fetch(asked, { cache: "no-store", signal: AbortSignal.timeout(10000) });
    const text = await answer.text();
    if ((answer.ok || answer.status === 404) && asked === location.href) update(text);
    failed = answer.ok || answer.status === 404 ? 0 : failed + 1;
  } catch {
    failed += 1;
  } finally {
    busy = false;
    describe();
  }
  if (asked !== location.href) await refresh(true); // another choice was made meanwhile
};

// The choice stands in the address, so that it is still there when the page is loaded anew or is sent to somebody.
const filter = document.getElementById("filter");
const choose = () => {
  const chosen = [...new FormData(filter)].filter(([, value]) => value !== "");
  const query = new URLSearchParams(chosen).toString();
  history.replaceState(null, "", location.pathname + (query && `?${query}`));
  return refresh(true);
};
if (filter) {
  let soon = 0;
  filter.addEventListener("input", () => {
    clearTimeout(soon);
    soon = setTimeout(choose, 150);
  });
  filter.addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(soon);
    choose();
  });
}

document.addEventListener("visibilitychange", () => refresh());
setInterval(refresh, seconds * 1000);
describe();
