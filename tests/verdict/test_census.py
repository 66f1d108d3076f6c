"""How many keys answer at one address."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.model.verdicts import Census
from exporter.verdict.census import Samples, count, keys_of, sample, wilson


@pytest.mark.parametrize(
    ("hits", "offers", "low", "high"),
    [
        pytest.param(0, 0, 0.0, 1.0, id="nothing says nothing"),
        pytest.param(5, 5, 0.566, 1.0, id="five hits leave room for two keys"),
        pytest.param(5, 10, 0.237, 0.763, id="half of ten"),
        pytest.param(32, 64, 0.381, 0.619, id="half of many"),
        pytest.param(0, 10, 0.0, 0.278, id="no hit"),
    ],
)
def test_wilson(hits: int, offers: int, low: float, high: float) -> None:
    """The interval is Wilson's, with 95 % (Wilson 1927, equation 1 of Brown, Cai and DasGupta 2001)."""
    assert list(wilson(hits, offers)) == pytest.approx([low, high], abs=5e-4)


@given(st.integers(0, 64), st.integers(0, 64))
def test_wilson_holds_the_rate(hits: int, misses: int) -> None:
    """The rate that was seen is always within, and the interval within what a rate can be."""
    offers = hits + misses
    low, high = wilson(hits, offers)

    assert 0 <= low <= high <= 1
    assert not offers or low <= hits / offers <= high


def play(names: str, hits: str) -> Samples:
    """Take samples of these names, and offers that hit (+) or miss (-)."""
    samples = Samples()
    for letter in names:
        samples = sample(samples, letter.encode() * 16, hit=None)
    for mark in hits:
        samples = sample(samples, None, hit=mark == "+")
    return samples


@pytest.mark.parametrize(
    ("samples", "expected", "keys"),
    [
        pytest.param(play("", ""), None, None, id="nothing"),
        pytest.param(play("AAA", ""), (1, 0, 0, None), 1, id="names alone"),
        pytest.param(play("ABA", "+-"), (2, 2, 1, 2.0), 2, id="two names"),
        pytest.param(play("", "+" * 64), (0, 64, 64, 1.0), None, id="hidden, all hits"),
        pytest.param(play("", "+-" * 4), (0, 8, 4, 2.0), 2, id="hidden, half of them"),
        pytest.param(play("", "+--" * 20), (0, 60, 20, 3.0), 3, id="hidden, a third of them"),
        pytest.param(play("", "-" * 8), (0, 8, 0, None), None, id="hidden, no hit at all"),
        pytest.param(play("", "+" * 5 + "-"), (0, 6, 5, 1.2), 2, id="hidden, one miss"),
        pytest.param(play("A" * 40 + "B" * 64, ""), (1, 0, 0, None), 1, id="only the last ones count"),
    ],
)
def test_count(samples: Samples, expected: tuple[int, int, int, float | None] | None, keys: int | None) -> None:
    """The census says what was seen, and how many keys that makes, unless chance may have made it."""
    census = count(samples)

    assert expected == (None if census is None else (census.keys, census.offers, census.hits, census.effective))
    assert keys_of(census) == keys


def test_five_observations_do_not_claim_more_than_they_can() -> None:
    """After five hits there may still be nearly two keys, and the interval says so."""
    census = count(play("", "+++++"))

    assert census == Census(0, 5, 5, 1.0, 1.0, census.effective_high if census is not None else None)
    assert census.effective_high == pytest.approx(1.77, abs=0.01)
