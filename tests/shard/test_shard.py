"""Which exporter probes which target."""

import random
from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.cli.shard import find_shard
from exporter.config.problem import ConfigError
from exporter.discovery.shard import WHOLE, Shard, part
from exporter.model.target import Endpoint, Target

_MANY = 10_000


def numbered() -> Sequence[str]:
    """Names that differ in their last digits alone."""
    return [f"shop-{number:05d}.example.com:443" for number in range(_MANY)]


def drawn(seed: int) -> Sequence[str]:
    """Names that have nothing in common."""
    chance = random.Random(seed)  # noqa: S311 -- the same names each time
    return [f"{chance.getrandbits(64):x}" for _ in range(_MANY)]


def target(name: str, *others: str) -> Target:
    """Return a target of which only name and company matter."""
    return Target(name, Endpoint("127.0.0.1", 443), "localhost", share_with=others)


NAMES = [
    pytest.param(numbered(), id="numbered"),
    pytest.param(drawn(1), id="drawn"),
    pytest.param(drawn(4), id="drawn, and plain rendezvous hashing would fill a shard by over a tenth too much"),
]


@pytest.mark.parametrize("names", NAMES)
def test_shares(names: Sequence[str]) -> None:
    """For one to sixteen shards each target is on exactly one, and the fullest is within a tenth of the mean."""
    for count in range(1, 17):
        owners = part(names, count)

        assert set(owners) == set(range(count))
        assert max(Counter(owners).values()) <= 1.1 * _MANY / count


@pytest.mark.parametrize("names", NAMES)
def test_one_more_shard(names: Sequence[str]) -> None:
    """The new shard takes its part, and hardly any target moves between the others."""
    for count in (1, 2, 3, 7, 15):
        before, after = part(names, count), part(names, count + 1)
        moved = [new for old, new in zip(before, after, strict=True) if old != new]

        assert len(moved) == pytest.approx(_MANY / (count + 1), rel=0.15)
        assert sum(new != count for new in moved) <= 0.01 * _MANY


def test_one_more_target() -> None:
    """A target that comes moves no more than a few of the others."""
    names = numbered()
    before, after = part(names, 16), part([*names, "another"], 16)

    assert sum(old != new for old, new in zip(before, after, strict=False)) <= 16


@given(st.lists(st.text(), unique=True, max_size=50), st.integers(1, 40))
def test_each_on_one(names: list[str], count: int) -> None:
    """Every shard finds out by itself which targets are its own, and together they have each once, in any order."""
    targets = [target(name) for name in names]
    chosen = [each for index in range(count) for each in Shard(index, count).choose(targets)]

    assert sorted(each.name for each in chosen) == sorted(names)
    assert set(Shard(0, count).choose(targets)) == set(Shard(0, count).choose(targets[::-1]))


def test_a_hundred_thousand() -> None:
    """A hundred thousand targets on sixteen shards: all are probed, and shares are fair."""
    targets = [target(f"tenant-{number}") for number in range(100_000)]
    share = Shard(7, 16).choose(targets)
    owners = Counter(part([each.name for each in targets], 16))

    assert len(share) == owners[7]
    assert sum(owners.values()) == 100_000
    assert max(owners.values()) <= 1.05 * 100_000 / 16


def test_company_is_kept() -> None:
    """Targets whose sessions are offered to each other are on the same shard, over any number of steps."""
    chain = [target("a", "b"), target("b", "c"), target("c"), target("d", "c"), target("e", "not there")]
    for count in range(1, 17):
        shares = [{each.name for each in Shard(index, count).choose(chain)} for index in range(count)]

        assert any({"a", "b", "c", "d"} <= share for share in shares)


def test_too_large_a_company() -> None:
    """A company that no shard has room for stays whole all the same."""
    chain = [target("first"), *(target(f"t{number}", "first") for number in range(100))]
    shares = [len(Shard(index, 4).choose(chain)) for index in range(4)]

    assert sorted(shares) == [0, 0, 0, 101]


@pytest.mark.parametrize(
    ("text", "environment", "host", "expected"),
    [
        pytest.param("0/1", {}, "", WHOLE, id="the only one"),
        pytest.param("3/16", {}, "tlsprobe-5", Shard(3, 16), id="by number"),
        pytest.param("auto/16", {}, "tlsprobe-5", Shard(5, 16), id="by the host's name"),
        pytest.param("auto/16", {"TLSPROBE_SHARD_INDEX": "7"}, "node-5", Shard(7, 16), id="by a variable"),
        pytest.param(
            "auto/16", {"TLSPROBE_SHARD_INDEX": "a-b-15"}, "node-5", Shard(15, 16), id="by a pod's name in it"
        ),
    ],
)
def test_words(text: str, environment: dict[str, str], host: str, expected: Shard) -> None:
    """A shard is named by its number, or finds its number where a StatefulSet puts it."""
    assert find_shard(text, environment, host) == expected


@pytest.mark.parametrize(
    ("text", "environment", "host", "told"),
    [
        pytest.param(
            "banana",
            {},
            "",
            '"banana" is no shard; allowed: INDEX/COUNT with an index from 0 on, such as 0/4, or auto/COUNT',
            id="no shard",
        ),
        pytest.param("4/4", {}, "", '"4/4" has no shard 4; allowed: an index from 0 to 3', id="counted from one"),
        pytest.param("0/0", {}, "", '"0/0" means 0 shards; allowed: 1 to 1000 of them', id="none"),
        pytest.param(
            "auto/4",
            {},
            "web",
            'the host\'s name is "web", with no number at its end; allowed: a name such as tlsprobe-3',
            id="no ordinal",
        ),
        pytest.param(
            "auto/4",
            {"TLSPROBE_SHARD_INDEX": ""},
            "web-1",
            'TLSPROBE_SHARD_INDEX is "", with no number at its end; allowed: a name such as tlsprobe-3',
            id="empty variable",
        ),
        pytest.param(
            "auto/4",
            {},
            "tlsprobe-4",
            '"auto/4" has no shard 4, the number in the host\'s name, "tlsprobe-4"; allowed: an index from 0 to 3',
            id="more replicas than shards",
        ),
    ],
)
def test_refused_words(text: str, environment: dict[str, str], host: str, told: str) -> None:
    """What is no shard is refused in words that say what is allowed."""
    with pytest.raises(ConfigError) as raised:
        find_shard(text, environment, host)

    assert str(raised.value) == f"--shard: {told}"
