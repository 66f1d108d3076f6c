"""What `tlsprobe check` says of lists of targets in files."""

import os
from pathlib import Path

import pytest

from exporter.cli import main

CONFIG = "targets: [{name: shop, address: shop.example}]\ndiscover: [{name: fleet, file: FILE, max_targets: 2}]\n"
GOOD = '[{"targets": ["a.example", "b.example"]}]'


@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        pytest.param("lists/1.json", GOOD, "OK: 1 target, 1 source of more (2 targets in files now)", id="good"),
        pytest.param("lists/*.json", GOOD, "OK: 1 target, 1 source of more (2 targets in files now)", id="a wildcard"),
        pytest.param("lists/*.yaml", GOOD, "OK: 1 target, 1 source of more", id="a wildcard that matches nothing yet"),
        pytest.param(
            "lists/2.json",
            GOOD,
            "warning: DIR/lists/2.json: no such file; what it lists is probed once it is there\n"
            "OK: 1 target, 1 source of more",
            id="no such file",
        ),
        pytest.param(
            "list/*.json",
            GOOD,
            "warning: DIR/list: no such folder; what lies in it is probed once it is there\n"
            "OK: 1 target, 1 source of more",
            id="no such folder",
        ),
        pytest.param(
            "lists/1.json",
            '[{"targets": ["shop.example"], "labels": {"__tlsprobe_name": "shop"}}]',
            'warning: DIR/lists/1.json: "shop" is left out, since the configuration has a target of that name\n'
            "OK: 1 target, 1 source of more (1 target in files now)",
            id="a name that is taken",
        ),
    ],
)
def test_usable(file: str, content: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What can be used is counted; what is not there yet is a warning where it is named in full."""
    assert (0, words, "") == check(file, content, tmp_path, capsys)


@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        pytest.param("lists/1.json", "[{", "DIR/lists/1.json:1: this is not JSON from column 3 on", id="no JSON"),
        pytest.param("lists/*.json", "", "DIR/lists/1.json:1: this is not JSON", id="empty"),
        pytest.param(
            "lists/1.json",
            '[{"targets": ["a:99999"]}]',
            "DIR/lists/1.json:1: [0].targets[0].address: port 99999 is out of range; allowed: 1 to 65535",
            id="a port",
        ),
        pytest.param(
            "lists/1.json",
            '[{"targets": ["a", "b", "c"]}]',
            "DIR/lists/1.json:1: [0].targets: more than 2 targets; allowed: max_targets of the source",
            id="too many",
        ),
        pytest.param("lists", GOOD, "DIR/lists: DIR/lists is no regular file; allowed: a readable file", id="a folder"),
    ],
)
def test_unusable(file: str, content: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is there and cannot be used is a problem: where it stands, what was found, what is allowed."""
    code, out, complaints = check(file, content, tmp_path, capsys)

    assert (1, "") == (code, out)
    assert complaints.startswith(words)


@pytest.mark.parametrize(
    ("second", "words"),
    [
        pytest.param(
            '[{"targets": ["a.example"], "labels": {"team": "shop"}}]',
            'warning: DIR/lists/*.json: "a.example" is left out, since another of its files has a target of that name\n'
            "OK: 1 target, 1 source of more (1 target in files now)",
            id="another target",
        ),
        pytest.param(
            '[{"targets": ["a.example"]}]',
            "OK: 1 target, 1 source of more (1 target in files now)",
            id="the same",
        ),
    ],
)
def test_two_files(second: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A name that two files of one source give is told, as the daemon tells it, unless they give the very same."""
    (tmp_path / "lists").mkdir()
    (tmp_path / "lists" / "2.json").write_text(second)

    assert (0, words, "") == check("lists/*.json", '[{"targets": ["a.example"]}]', tmp_path, capsys)


def test_a_pipe(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A pipe is not waited for."""
    os.mkfifo(tmp_path / "pipe")
    code, _, complaints = check("pipe", GOOD, tmp_path, capsys)

    assert code == 1
    assert "is no regular file" in complaints


def test_the_configuration_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever starts the daemon behind a check may leave the lists out, since it starts without them, too."""
    assert (0, "OK: 1 target, 1 source of more", "") == check("lists/1.json", "[{", tmp_path, capsys, "--config-only")


def check(
    file: str, content: str, folder: Path, capsys: pytest.CaptureFixture[str], *words: str
) -> tuple[int, str, str]:
    """Check a configuration beside a list, and return the exit code and what was printed and complained."""
    (folder / "lists").mkdir(exist_ok=True)
    (folder / "lists" / "1.json").write_text(content)
    (folder / "config.yaml").write_text(CONFIG.replace("FILE", f'"{file}"'))
    code = main(["check", str(folder / "config.yaml"), *words])
    told = capsys.readouterr()
    return code, told.out.replace(str(folder), "DIR").strip(), told.err.replace(str(folder), "DIR").strip()
