"""Whatever is written into a configuration, the answer is a configuration or a ConfigError."""

from pathlib import Path

import msgspec
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from exporter.config.kinds import Section
from exporter.config.load import Config, ConfigError, parse

WORDS = sorted({info.encode_name for kind in Section.__subclasses__() for info in msgspec.structs.fields(kind)})
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(["1.2", "30s", "shop", "a.example:443", "[::1]:1", "/", "GET", "h2", "off", "-", "\x00", "é.é"])
)
KEYS = st.sampled_from(WORDS) | st.text(max_size=10)
TREES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=6), max_leaves=30
)
TARGETS = st.lists(st.dictionaries(st.sampled_from(WORDS), TREES, max_size=8), max_size=4)
FOLDER = Path(__file__).parent / "good"


def answer(text: str) -> Config | ConfigError:
    """Return what comes of a text, which is one of two things."""
    try:
        return parse(text, "text", FOLDER)
    except ConfigError as error:
        return error


def sound(result: Config | ConfigError) -> bool:
    """Return whether an answer is fit for use: settings that hold together, or problems in printable words."""
    if isinstance(result, ConfigError):
        return bool(result.problems) and all(str(problem).isprintable() for problem in result.problems)
    return all(target.interval >= max(1.0, target.timeout) > 0 and target.server_name for target in result.targets)


@settings(max_examples=150, deadline=None)
@given(tree=TREES | st.fixed_dictionaries({"targets": TARGETS | TREES, "defaults": TREES, "listen": TREES}))
def test_any_tree(tree: object) -> None:
    """Any values in any places are read or refused."""
    assert sound(answer(yaml.safe_dump(tree, allow_unicode=True)))


@settings(max_examples=150, deadline=None)
@given(text=st.text(max_size=200) | st.text(alphabet="{}[]:,-&*!|>'\"%@`#\n\t ab1", max_size=200))
def test_any_text(text: str) -> None:
    """Any text is read or refused."""
    assert sound(answer(text))


@settings(max_examples=100, deadline=None)
@given(cut=st.integers(0, 900), junk=st.text(max_size=5))
def test_damaged_file(cut: int, junk: str) -> None:
    """A file that was cut off, or has something strange in the middle, is read or refused."""
    text = (FOLDER / "full.yaml").read_text(encoding="utf-8")

    assert sound(answer(text[:cut]))
    assert sound(answer(text[:cut] + junk + text[cut:]))
