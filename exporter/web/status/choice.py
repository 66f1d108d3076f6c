"""Which targets the first page shows: those with a text in them, or in a state."""

from dataclasses import dataclass
from typing import Self

from exporter.web.status.facts import Story, Tone
from exporter.web.status.html import Html, element
from exporter.web.status.words import TONES, tone_of

_UNWELL = "unwell"
_MOST_CHARACTERS = 200
_STATES = {"": "any state", _UNWELL: "not well", **{word: word for _, word in TONES.values()}}


@dataclass(frozen=True, slots=True)
class Choice:
    """What was asked for.

    Attributes:
        words: stand in the target's name, its address, its server name or a label, in capitals or not.
        state: one of the states' words, `unwell` for all but the well ones, "" for any.
        unknown: what was asked for as a state and is none.
    """

    words: str = ""
    state: str = ""
    unknown: str = ""

    @classmethod
    def of(cls, words: str, state: str) -> Self:
        """Return the choice that a query makes; a state that is none is any."""
        state = state[:_MOST_CHARACTERS]
        known = state in _STATES
        return cls(words.strip()[:_MOST_CHARACTERS], state if known else "", "" if known else state)

    def explain(self) -> str:
        """Return what is to be said of a state that is none."""
        return f"there is no state {self.unknown!r}; there are {', '.join(filter(None, _STATES))}"

    @property
    def all(self) -> bool:
        """Whether every target is wanted."""
        return not self.words and not self.state

    def holds(self, story: Story, now: float) -> bool:
        """Tell whether a target is wanted; `now` is Unix time in seconds."""
        tone = tone_of(story, now)
        fits = tone is not Tone.WELL if self.state == _UNWELL else self.state in {"", TONES[tone][1]}
        return fits and (not self.words or self.words.casefold() in _texts(story))


def _texts(story: Story) -> str:
    target = story.target
    labels = (f"{name}: {value}" for name, value in target.labels)
    return "\n".join((target.name, str(target.endpoint), target.server_name, *labels)).casefold()


def choice_form(choice: Choice) -> Html:
    """Return the form; a script keeps it as it is while the rest of the page changes."""
    options = [
        element("option", words, value=state, selected=state == choice.state) for state, words in _STATES.items()
    ]
    return element(
        "form",
        element("label", "Part of a name, address or label", for_="filter-words"),
        element("input", type="search", name="q", id="filter-words", value=choice.words, autocomplete="off",
                spellcheck="false", maxlength=_MOST_CHARACTERS),
        element("label", "State", for_="filter-state"),
        element("select", *options, name="state", id="filter-state"),
        element("button", "Show", type="submit"),
        element("a", "Show all", href="./"),
        id="filter",
        class_="filter",
        method="get",
        action="./",
        role="search",
        aria_label="Choose targets",
    )  # fmt: skip
