"""What was found of each target lately: one frozen story each, replaced after every round."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from exporter.model.failure import Failure
from exporter.model.fingerprint import SALT
from exporter.model.target import Target
from exporter.model.verdicts import RoundResult
from exporter.web.status.facts import LogLine, Story
from exporter.web.status.story import Bounds, continue_story, failure_of

_ALL_ROUNDS = 20_000
"""Over all targets: with more than 166 of them, each is told a shorter time of."""
_FEWEST_ROUNDS = 20
_ALL_LANES = 12_000
_FEWEST_LANES = 12


class History:
    """The stories of all targets, within a bound over all of them.

    A target with three backends and two TLS versions takes some 60 KiB when it is one of a few, and a thousand of them
    some 30 KiB each. A story is never changed, so whoever has one may read it in another thread.

    Args:
        salt: of the numbers that stand for names of keys.
    """

    def __init__(self, salt: bytes = SALT) -> None:
        self._salt = salt
        self._stories: dict[str, Story] = {}

    def admit(self, target: Target) -> None:
        """Begin a target's story; one that is known goes on with its new settings."""
        known = self._stories.get(target.name)
        self._stories[target.name] = Story(target=target) if known is None else replace(known, target=target)

    def forget(self, name: str) -> None:
        """Drop a target with all that is known of it."""
        self._stories.pop(name, None)

    def add(self, result: RoundResult, line: Mapping[str, object] | None = None, *, warning: bool = False) -> None:
        """Go on with a target's story after a round.

        Args:
            line: what the log says of the round, as names and values.
            warning: whether it says it as a warning.
        """
        before = self._stories.get(result.target.name) or Story(target=result.target)
        bounds = self._bounds()
        story = continue_story(before, result, self._salt, bounds)
        if line is not None:
            told = LogLine(result.started + result.elapsed, _spell(line)[: bounds.words], warning)
            story = replace(story, log=(*story.log, told)[-bounds.log :])
        self._stories[result.target.name] = story

    def fail(self, name: str, failure: Failure, at: float) -> None:
        """Note a failure that is in no result; `at` is Unix time in seconds."""
        if (story := self._stories.get(name)) is not None:
            self._stories[name] = failure_of(story, failure, at, self._bounds())

    def find(self, name: str) -> Story | None:
        """Return a target's story, None where there is none of that name."""
        return self._stories.get(name)

    def all(self) -> tuple[Story, ...]:
        """Return all stories, in the order in which the targets came."""
        return tuple(self._stories.values())

    def _bounds(self) -> Bounds:
        number = max(1, len(self._stories))
        most = Bounds()
        return replace(
            most,
            rounds=min(most.rounds, max(_FEWEST_ROUNDS, _ALL_ROUNDS // number)),
            lanes=min(most.lanes, max(_FEWEST_LANES, _ALL_LANES // number)),
        )


def _spell(line: Mapping[str, object]) -> str:
    return " ".join(f"{name}={_value(value)}" for name, value in line.items())


def _value(value: object) -> str:
    if isinstance(value, Iterable) and not isinstance(value, str):
        value = "; ".join(map(str, value))
    text = str(value)
    return f'"{text}"' if " " in text else text
