"""A rate in the words of a table."""


def spell_rate(rate: float) -> str:
    """Return a rate a second: whole from 100 on, and with three digits below, so that half a one is seen."""
    return f"{rate:,.0f}" if rate >= 100 else f"{rate:.3g}"
