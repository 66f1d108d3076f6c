"""YAML: what scalars mean, which line a value has, and texts that must not do harm."""

import itertools
import time

import pytest

from exporter.config.composer import MAX_DEPTH
from exporter.config.document import MAX_BYTES, compose
from exporter.config.problem import MAX_PROBLEMS, ConfigError, Findings
from exporter.config.scalars import Tree, resolve


def composed(text: str) -> Tree:
    """Return the values of a text that has no problem."""
    findings = Findings("text")
    tree = compose(text, findings)
    findings.conclude()
    return tree


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("true", True),
        ("False", False),
        ("off", "off"),
        ("yes", "yes"),
        ("12", 12),
        ("-3", -3),
        ("1:30", "1:30"),
        ("0x10", "0x10"),
        ("1.2", 1.2),
        ("1e3", 1000.0),
        (".5", 0.5),
        (".", "."),
        (".inf", ".inf"),
        ("1_000", "1_000"),
        ("9" * 30, "9" * 30),
        ("2026-01-01", "2026-01-01"),
    ],
)
def test_scalar(written: str, expected: Tree) -> None:
    """A word is a word, unless it is a boolean, a number or nothing by YAML 1.2."""
    assert expected == resolve(written)
    assert type(expected) is type(resolve(written))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a: [1, 'x', {b: c}]", {"a": [1, "x", {"b": "c"}]}, id="nested"),
        pytest.param("a: '1'\nb: !!str 2", {"a": "1", "b": "2"}, id="text that looks like a number"),
        pytest.param("1: x\ntrue: y", {"1": "x", "true": "y"}, id="keys are always words"),
        pytest.param("a: &t {b: 1}\nc: *t", {"a": {"b": 1}, "c": {"b": 1}}, id="alias"),
        pytest.param("a: |\n  x\n  y\n", {"a": "x\ny\n"}, id="block text"),
        pytest.param("# only a comment\n", None, id="nothing"),
    ],
)
def test_values(text: str, expected: Tree) -> None:
    """A document becomes plain values."""
    assert expected == composed(text)


def test_lines() -> None:
    """Each value knows its line, and what an alias stands for has the alias's own."""
    findings = Findings("text")
    compose("a:\n  - x\n  - b: 1\n    c: &t\n      d: 1\ne: *t\n", findings)
    findings.add(("a", 1, "b"), "b")
    findings.add(("e", "d"), "d")

    with pytest.raises(ConfigError) as caught:
        findings.conclude()

    assert [("a[1].b", 3), ("e.d", 6)] == [(problem.place, problem.line) for problem in caught.value.problems]


def laughs(levels: int) -> str:
    """Return a text of a few lines that stands for ten to the power of `levels` values."""
    lines = ["a0: &a0 [" + ",".join("x" * 10) + "]"]
    lines += [f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 10)}]" for n in range(1, levels)]
    return "\n".join(lines)


def ladder(rungs: int) -> str:
    """Return a text whose every line is one level deeper than the one before, by aliases alone."""
    return "\n".join(["a0: &a0 [x]", *(f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, rungs))])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param(laughs(9), "too many values, those that aliases stand for included", id="a billion laughs"),
        pytest.param(ladder(50), "too many levels, one in another", id="depth by aliases"),
        pytest.param("[\n" * 100_000, "too many levels, one in another", id="brackets"),
        pytest.param("{a: " * 50_000, "too many levels, one in another", id="braces"),
        pytest.param("- " * 50_000, "too many levels, one in another", id="dashes"),
        pytest.param("[" + "a," * 500_000 + "]", "too many values, those that aliases stand for included", id="length"),
        pytest.param("x" * (MAX_BYTES + 1), "the file is too large", id="size"),
    ],
)
def test_bounds(text: str, found: str) -> None:
    """A text that would cost too much is refused early."""
    began = time.process_time()

    with pytest.raises(ConfigError) as caught:
        composed(text)

    assert [found] == [problem.found for problem in caught.value.problems]
    assert time.process_time() - began < 20


def test_depth_that_is_allowed() -> None:
    """The bound on levels leaves room for what a configuration needs."""
    assert composed("[" * MAX_DEPTH + "]" * MAX_DEPTH) is not None


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a: [", id="bracket left open"),
        pytest.param("a: 'x", id="quote left open"),
        pytest.param("a: b: c", id="two colons"),
        pytest.param("a: %x", id="reserved indicator"),
        pytest.param("a: *", id="alias without a name"),
        pytest.param("a:\n  b: 1\n c: 2", id="indentation"),
        pytest.param("%YAML 9.9\n---\na: 1\n", id="another YAML"),
        pytest.param('a: "\\U0011FFFF"', id="character beyond Unicode"),
        pytest.param('a: "\\UFFFFFFFF"', id="character beyond numbers"),
        pytest.param("a: \x00", id="NUL"),
        pytest.param("a: \x1b[31m", id="escape"),
        pytest.param("a: \ud800", id="surrogate"),
        pytest.param("\x7fELF\x02\x01", id="binary"),
    ],
)
def test_no_yaml(text: str) -> None:
    """What is no YAML is told in one problem."""
    with pytest.raises(ConfigError) as caught:
        composed(text)

    (problem,) = caught.value.problems
    assert problem.found.startswith("this is not YAML")
    assert str(problem).isprintable()


def test_endless_mistakes() -> None:
    """A text with thousands of mistakes is told a hundred of them."""
    text = "\n".join(f"{key}: 1" for key in itertools.chain.from_iterable((n, n) for n in range(1000)))

    with pytest.raises(ConfigError) as caught:
        composed(text)

    assert len(caught.value.problems) == MAX_PROBLEMS + 1
    assert caught.value.problems[-1].found == "too many problems, the rest is left out"
