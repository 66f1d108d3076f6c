"""The arithmetic of a wave, and the command that shows it."""

import json
from pathlib import Path

import pytest

from exporter.cli import main
from exporter.load.wave import Ceiling, Wave

PUBLISHED = ["--clients", "100000", "--ceiling", "5000", "--servers", "8,5", "--windows", "60,10,5,2,1"]

TABLE = """\
window  offered/s  8 servers  5 servers
  60 s      1,667        4 %        7 %
  10 s     10,000       25 %       40 %
   5 s     20,000       50 %       80 %
   2 s     50,000      125 %      200 %
   1 s    100,000      250 %      400 %
"""


def test_published_table(capsys: pytest.CaptureFixture[str]) -> None:
    """The table of a published example comes out digit for digit, with the shortest windows that fit."""
    assert main(["wave", *PUBLISHED]) == 0
    printed = capsys.readouterr().out

    assert TABLE in printed
    assert "Shortest window that fits: 2.5 s for 8 servers, 4 s for 5 servers." in printed


def test_published_table_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    """The same table as JSON has rates with one decimal and loads with four."""
    assert main(["wave", *PUBLISHED, "--json"]) == 0

    assert json.loads(capsys.readouterr().out) == [
        {"window_seconds": 60, "offered_per_second": 1666.7, "load": {"8": 0.0417, "5": 0.0667}},
        {"window_seconds": 10, "offered_per_second": 10000.0, "load": {"8": 0.25, "5": 0.4}},
        {"window_seconds": 5, "offered_per_second": 20000.0, "load": {"8": 0.5, "5": 0.8}},
        {"window_seconds": 2, "offered_per_second": 50000.0, "load": {"8": 1.25, "5": 2.0}},
        {"window_seconds": 1, "offered_per_second": 100000.0, "load": {"8": 2.5, "5": 4.0}},
    ]


def test_rotation_makes_all_of_them_full(capsys: pytest.CaptureFixture[str]) -> None:
    """Where most tickets resume, the load without any resumption stands beside it."""
    words = ["--clients", "1000", "--ceiling", "100", "--resumed-ceiling", "400", "--resumed", "0.8"]

    assert main(["wave", *words, "--servers", "1", "--windows", "10", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [
        {"window_seconds": 10, "offered_per_second": 100.0, "load": {"1": 0.4}, "load_all_full": {"1": 1.0}}
    ]
    assert main(["wave", *words, "--servers", "1"]) == 0
    assert "10 s for 1 server, 2.50 times as long" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("share", "expected"),
    [
        pytest.param(0.0, 100.0, id="none"),
        pytest.param(0.5, 160.0, id="half, weighed by work"),
        pytest.param(1.0, 400.0, id="all"),
    ],
)
def test_mixed_ceiling(share: float, expected: float) -> None:
    """A mixture costs what its parts cost, so its ceiling is their harmonic mean."""
    assert expected == pytest.approx(Ceiling(100.0, 400.0).mixed(share))


def test_window_that_fits_is_full() -> None:
    """The shortest window that fits loads the fleet to exactly 1."""
    wave = Wave(1234, (3,), (1.0,), Ceiling(7.0, 9.0), 0.3)
    window = wave.shortest_windows()[3]

    assert Wave(1234, (3,), (window,), Ceiling(7.0, 9.0), 0.3).loads()[0].load[3] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        pytest.param(["--clients", "0"], '"0" is no number of clients', id="no clients"),
        pytest.param(["--clients", "-5"], '"-5" is no number of clients', id="clients below nothing"),
        pytest.param(["--clients", "1e5"], '"1e5" is no number of clients', id="clients with an exponent"),
        pytest.param(["--servers", ""], "an empty list", id="no servers"),
        pytest.param(["--servers", "8,,5"], '"" is no number of servers', id="a hole in the servers"),
        pytest.param(["--servers", "8,8"], "8 stands there twice", id="servers twice"),
        pytest.param(["--servers", "2.5"], '"2.5" is no number of servers', id="half a server"),
        pytest.param(["--windows", "0"], '"0" is no window', id="window of nothing"),
        pytest.param(["--windows", "-1"], '"-1" is no window', id="window before"),
        pytest.param(["--windows", "nan"], '"nan" is no window', id="window that is no number"),
        pytest.param(["--windows", ""], "an empty list", id="no windows"),
        pytest.param(["--windows", "5x"], '"5x" is no window', id="window of no unit"),
        pytest.param(["--windows", "1e3"], '"1e3" is no window', id="window with an exponent"),
        pytest.param(["--windows", "60,1m"], "60 stands there twice", id="window twice in other words"),
        pytest.param(["--ceiling", "0"], '"0" is no rate', id="ceiling of nothing"),
        pytest.param(["--ceiling", "nan"], '"nan" is no rate', id="ceiling that is no number"),
        pytest.param(["--ceiling", "inf"], '"inf" is no rate', id="ceiling without end"),
        pytest.param(["--resumed-ceiling", "-1"], '"-1" is no rate', id="resumed ceiling below nothing"),
        pytest.param(["--resumed", "1.5"], '"1.5" is no share', id="share over 1"),
        pytest.param(["--resumed", "70%"], '"70%" is no share', id="share in per cent"),
        pytest.param(["--capacity", "x.json"], "not allowed with", id="two ceilings"),
        pytest.param(["--ceiling", "1e-320"], '"1e-320" is no rate', id="ceiling next to nothing"),
        pytest.param(["--resumed-ceiling", "1e-320"], '"1e-320" is no rate', id="the other ceiling, too"),
    ],
)
def test_nonsense(words: list[str], expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What makes no sense is refused with a word on what was found, and nothing is printed."""
    option = words[0]
    sound = [f"{name}={value}" for name, value in zip(PUBLISHED[::2], PUBLISHED[1::2], strict=True) if name != option]
    with pytest.raises(SystemExit) as ended:
        main(["wave", *sound, f"{option}={words[1]}"])
    printed = capsys.readouterr()

    assert ended.value.code == 2
    assert expected in printed.err
    assert not printed.out


def test_share_without_its_ceiling(capsys: pytest.CaptureFixture[str]) -> None:
    """A share of resumed handshakes means nothing where their ceiling is not known."""
    assert main(["wave", *PUBLISHED, "--resumed", "0.7"]) == 2
    assert "--resumed needs --resumed-ceiling" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", "no JSON", id="empty"),
        pytest.param("[1]", "no document of `tlsprobe capacity --json`", id="something else"),
        pytest.param('{"modes": {"full": {"ceiling_per_second": null}}}', "no rate of full", id="none sustained"),
        pytest.param('{"modes": {"full": {"ceiling_per_second": "9"}}}', "is no number", id="a text"),
        pytest.param('{"modes": {"full": {"ceiling_per_second": 0}}}', "1e+09 are possible", id="nothing"),
        pytest.param('{"modes": {"full": {"ceiling_per_second": NaN}}}', "a ceiling of nan", id="no number"),
        pytest.param(f'{{"modes": {{"full": {{"ceiling_per_second": 1{"0" * 400}}}}}}}', "too many digits", id="huge"),
        pytest.param('{"modes": {"full": {"ceiling_per_second": 1e-320}}}', "1e+09 are possible", id="next to nothing"),
        pytest.param('{"modes": {"full": {"ceiling_per_second": 5e300}}}', "1e+09 are possible", id="far too much"),
    ],
)
def test_bad_capacity_file(text: str, expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that holds no ceiling is refused, and named."""
    file = tmp_path / "capacity.json"
    file.write_text(text)

    assert main(["wave", "--clients", "9", "--servers", "1", "--capacity", str(file)]) == 2
    said = capsys.readouterr().err
    assert str(file) in said
    assert expected in said


def test_capacity_file_that_is_no_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nor does one that holds no text pass for a capacity, and it is named, too."""
    file = tmp_path / "capacity.json"
    file.write_bytes(b'\xff\xfe{"modes": {}}')

    assert main(["wave", "--clients", "9", "--servers", "1", "--capacity", str(file)]) == 2
    assert f"{file}: no JSON" in capsys.readouterr().err


def test_missing_capacity_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """So is one that is not there."""
    assert main(["wave", "--clients", "9", "--servers", "1", "--capacity", str(tmp_path / "none")]) == 2
    assert "cannot be read" in capsys.readouterr().err


@pytest.mark.parametrize("flag", ["generator_bound", "highest_tried"])
@pytest.mark.parametrize(
    ("bound", "words", "said", "row"),
    [
        pytest.param(
            ["full"],
            [],
            ["sustains at least 100 full handshakes a second", "fits: at most 10 s for 1 server."],
            {"load": {"1": 1.0}, "load_at_most": True},
            id="full",
        ),
        pytest.param(
            ["resumed"],
            ["--resumed", "0.8"],
            [
                "sustains 100 full or at least 400 resumed handshakes a second, at least 250 with 80 % resumed",
                "fits: at most 4 s for 1 server.",
                "no ticket resumes: 10 s for 1 server",
            ],
            {"load": {"1": 0.4}, "load_all_full": {"1": 1.0}, "load_at_most": True},
            id="resumed",
        ),
        pytest.param(
            ["full"],
            ["--resumed", "1"],
            ["fits: 2.5 s for 1 server.", "no ticket resumes: at most 10 s for 1 server"],
            {"load": {"1": 0.25}, "load_all_full": {"1": 1.0}, "load_all_full_at_most": True},
            id="full, and all resume",
        ),
    ],
)
def test_ceiling_of_the_measurement(
    flag: str,
    bound: list[str],
    words: list[str],
    said: list[str],
    row: dict[str, object],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A ceiling that the measurement set is one that the server has at least, so loads are at most these."""
    file = tmp_path / "capacity.json"
    modes = {
        name: {"ceiling_per_second": rate, flag: name in bound} for name, rate in (("full", 100), ("resumed", 400))
    }
    file.write_text(json.dumps({"modes": modes}))
    command = ["wave", "--clients", "1000", "--servers", "1", "--windows", "10", "--capacity", str(file), *words]
    assert main(command) == 0
    printed = capsys.readouterr().out
    assert [] == [text for text in said if text not in printed]
    assert "the measurement ended before the server did" in printed

    assert main([*command, "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert {"window_seconds": 10, "offered_per_second": 100.0, **row} == found


@pytest.mark.parametrize(
    ("resumed", "expected"),
    [
        pytest.param({"ceiling_per_second": 50, "resumption_held": False}, "were full there", id="too many were full"),
        pytest.param({"ceiling_per_second": None}, "no rate of resumed handshakes was found there", id="none"),
        pytest.param({"ceiling_per_second": 50, "resumption_held": 1}, "neither true nor false", id="a number"),
    ],
)
def test_resumed_ceiling_that_is_none(
    resumed: dict[str, object], expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is no ceiling of resumed handshakes is not taken for one, and one of the user's own can stand in for it."""
    file = tmp_path / "capacity.json"
    file.write_text(json.dumps({"modes": {"full": {"ceiling_per_second": 100}, "resumed": resumed}}))
    command = ["wave", "--clients", "9", "--servers", "1", "--capacity", str(file), "--resumed", "0.5"]

    assert main(command) == 2
    assert expected in capsys.readouterr().err


def test_own_ceiling_beside_a_capacity_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A ceiling of the user's own stands instead of a measured one, and no generator was its limit."""
    file = tmp_path / "capacity.json"
    measured = {"ceiling_per_second": 100, "generator_bound": True, "resumption_held": False}
    file.write_text(json.dumps({"modes": {"full": {"ceiling_per_second": 100}, "resumed": measured}}))
    words = ["--resumed", "0.8", "--resumed-ceiling", "400"]

    assert main(["wave", "--clients", "9", "--servers", "1", "--capacity", str(file), *words]) == 0
    assert "sustains 100 full or 400 resumed handshakes a second, 250 with" in capsys.readouterr().out


def test_resumed_below_full(capsys: pytest.CaptureFixture[str]) -> None:
    """Resumed handshakes that are dearer than full ones are reckoned with, and doubted where no program reads."""
    words = [*PUBLISHED, "--resumed-ceiling", "4000", "--resumed", "0.5", "--json"]
    assert main(["wave", *words]) == 0
    printed = capsys.readouterr()

    assert json.loads(printed.out)[0]["load"] == {"8": 0.0469, "5": 0.075}
    assert "the ceiling of resumed handshakes, 4,000 a second, is below that of full ones, 5,000" in printed.err


def test_resumed_ceiling_without_a_share(capsys: pytest.CaptureFixture[str]) -> None:
    """A ceiling that nothing is reckoned from is refused; a share of none is a share."""
    assert main(["wave", *PUBLISHED, "--resumed-ceiling", "8000"]) == 2
    assert "changes nothing without --resumed" in capsys.readouterr().err
    assert main(["wave", *PUBLISHED, "--resumed-ceiling", "8000", "--resumed", "0"]) == 0


def test_few_handshakes_a_second(capsys: pytest.CaptureFixture[str]) -> None:
    """Rates below 100 a second keep their digits."""
    assert main(["wave", "--clients", "100", "--ceiling", "12.5", "--servers", "1", "--windows", "60"]) == 0
    printed = capsys.readouterr().out

    assert "sustains 12.5 full handshakes" in printed
    assert "60 s       1.67 " in printed


def test_ceilings_from_a_capacity_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Both ceilings are taken from a measurement."""
    file = tmp_path / "capacity.json"
    file.write_text('{"modes": {"full": {"ceiling_per_second": 100}, "resumed": {"ceiling_per_second": 400}}}')
    words = ["--clients", "1000", "--servers", "1", "--windows", "10", "--resumed", "0.8", "--json"]

    assert main(["wave", "--capacity", str(file), *words]) == 0
    assert json.loads(capsys.readouterr().out)[0]["load"] == {"1": 0.4}
