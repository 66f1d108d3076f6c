"""How long to wait before an API server is asked again: pure."""

_FIRST = 0.5
_LONGEST = 30.0


def pause(troubles: int, chance: float) -> float:
    """Return seconds: twice as long after each trouble in a row, and half of it by chance.

    So exporters that lost the same server do not all come back at one moment.

    Args:
        troubles: how many there were in a row, 1 or more.
        chance: from 0 to 1.
    """
    return min(_LONGEST, _FIRST * 2.0 ** min(troubles - 1, 10)) * (0.5 + chance / 2)
