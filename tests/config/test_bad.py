"""Each mistake is a file, which begins with the exact messages that it gets."""

from pathlib import Path

import pytest

from exporter.config.load import ConfigError, load

BAD = Path(__file__).parent / "bad"
MARK = "# expect: "


@pytest.mark.parametrize("path", sorted(BAD.glob("*.yaml")), ids=lambda path: path.stem)
def test_mistake(path: Path) -> None:
    """A mistake is told with its line, its place, what was found and what is allowed."""
    lines = path.read_text(encoding="utf-8").splitlines()
    expected = [line.removeprefix(MARK) for line in lines if line.startswith(MARK)]

    with pytest.raises(ConfigError) as caught:
        load(path)

    told = [str(problem).removeprefix(f"{path}:").strip() for problem in caught.value.problems]
    assert expected == [line.replace(f"{BAD}/", "") for line in told]


def test_every_file_expects_something() -> None:
    """No file stands there without a message."""
    assert [] == [path.name for path in BAD.iterdir() if not path.read_text(encoding="utf-8").startswith(MARK)]
