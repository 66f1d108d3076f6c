"""Names made whole, so that a search list does not turn one lookup into many.

With `ndots:5` and four search domains, as in a pod, a name with fewer dots costs up to ten queries before it is tried
as it is. Which domain applies is the system's to say: `shop.dev` may be a Service to a pod and a public name to all
others. So the system's own way is gone once in a while, and the whole name that it led to is asked for until then.
"""

import re
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

_RESOLV_CONF = Path("/etc/resolv.conf")
_NDOTS = re.compile(r"ndots:([0-9]{1,2})")
_MOST_KNOWN = 10_000


@dataclass(frozen=True, slots=True)
class SearchList:
    """What the system does to names (resolv.conf(5)).

    Attributes:
        domains: whether there are any.
        ndots: names with fewer dots are tried with the domains first.
    """

    domains: bool = False
    ndots: int = 1

    def multiplies(self, name: str) -> bool:
        """Say whether looking the name up asks for others first."""
        return self.domains and not name.endswith(".") and name.count(".") < self.ndots


@dataclass(frozen=True, slots=True)
class Answer:
    """What a name stands for, and the name that had it in the end, without the dot at its end."""

    hosts: frozenset[str]
    canonical: str = ""


@dataclass(frozen=True, slots=True)
class _Known:
    """A whole name, empty where none was found to do, and until when that holds."""

    whole: str
    until: float


def read_search_list(text: str) -> SearchList:
    """Return what a resolv.conf says; of several lines of a kind the last one counts."""
    domains, ndots = False, 1
    for line in text.splitlines():
        keyword, *words = line.split() or [""]
        if keyword in {"search", "domain"}:
            domains = any(word != "." for word in words)
        elif keyword == "options":
            ndots = max([ndots, *(int(found[1]) for word in words if (found := _NDOTS.fullmatch(word)))])
    return SearchList(domains, min(ndots, 15))


def system_search_list() -> SearchList:
    """Return this system's; one that cannot be read has no domains."""
    try:
        return read_search_list(_RESOLV_CONF.read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return SearchList()


def ask_system(name: str) -> Answer:
    """Return the A and AAAA addresses of a name, as the system resolves it; this blocks.

    Raises:
        OSError, ValueError: what socket.getaddrinfo raises.
    """
    found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM, flags=socket.AI_CANONNAME)
    return Answer(frozenset(str(where[0]) for *_, where in found), found[0][3] if found else "")


class WholeNames:
    """A lookup that asks for whole names where it knows them; it may be called in several threads at once.

    Args:
        ask: what asks the system.
        search_list: read whenever something is to be learned.
        keep: seconds for which a name is taken for whole.
        clock: seconds, never going back.
    """

    def __init__(
        self,
        *,
        ask: Callable[[str], Answer] = ask_system,
        search_list: Callable[[], SearchList] = system_search_list,
        keep: float = 600.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ask = ask
        self._search_list = search_list
        self._keep = keep
        self._clock = clock
        self._known: dict[str, _Known] = {}

    def __call__(self, name: str) -> frozenset[str]:
        """Return the addresses of a name; raises what socket.getaddrinfo raises."""
        known = self._known.get(name)
        fresh = known is not None and self._clock() < known.until
        if known is not None and fresh and known.whole:
            if hosts := self._try(known.whole):
                return hosts
            del self._known[name]
        answer = self._ask(name)
        if not fresh and self._search_list().multiplies(name):
            self._learn(name, answer)
        return answer.hosts

    def _learn(self, name: str, answer: Answer) -> None:
        """Note a whole name if it gives the very same; a host file's entry, say, has none that does."""
        expanded = answer.canonical.lower().startswith(f"{name.lower()}.")
        whole = f"{answer.canonical.removesuffix('.') if expanded else name}."
        if len(self._known) >= _MOST_KNOWN:
            self._known = {}
        same = bool(answer.hosts) and self._try(whole) == answer.hosts
        self._known[name] = _Known(whole if same else "", self._clock() + self._keep)

    def _try(self, whole: str) -> frozenset[str]:
        try:
            return self._ask(whole).hosts
        except (OSError, ValueError):
            return frozenset()
