"""What was drawn of each target, kept until there is something else to draw: after its next round."""

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from exporter.web.status.facts import Story
from exporter.web.status.words import overdue

T = TypeVar("T")


class Kept(Generic[T]):
    """Draws a story once; it is drawn anew when it has gone on, and when its rounds become overdue.

    Args:
        draw: draws a story at a moment, which is Unix time in seconds; the moment may count for nothing else than
            whether the story is overdue.
    """

    def __init__(self, draw: Callable[[Story, float], T]) -> None:
        self._draw = draw
        self._drawn: dict[str, tuple[Story, bool, T]] = {}

    def get(self, story: Story, now: float) -> T:
        """Return what is drawn of a story at a moment."""
        late = overdue(story, now)
        drawn = self._drawn.get(story.target.name)
        if drawn is None or drawn[0] is not story or drawn[1] is not late:
            drawn = self._drawn[story.target.name] = (story, late, self._draw(story, now))
        return drawn[2]

    def forget_others(self, stories: Iterable[Story]) -> None:
        """Drop what was drawn of targets that are gone."""
        for name in self._drawn.keys() - {story.target.name for story in stories}:
            del self._drawn[name]
