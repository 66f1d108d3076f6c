"""What the page about capacity shows is what comes out."""

import re
import subprocess
from pathlib import Path

import pytest
import yaml

from exporter.cli import main
from exporter.load.wave import Ceiling, Wave
from tests.servers.process import find_program

PAGE = Path("docs/capacity.md")


def blocks(language: str) -> list[str]:
    """Return the page's blocks of code in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def test_wave_on_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    """The command on the page prints what stands below it."""
    (command, expected), *_ = (block.split("\n", 1) for block in blocks("text") if "tlsprobe wave" in block)

    assert main(command.removeprefix("$ tlsprobe ").split()) == 0
    assert expected == capsys.readouterr().out


@pytest.mark.servers("promtool")
@pytest.mark.parametrize("share", [0.0, 0.7, 1.0])
def test_recording_rules(tmp_path: Path, share: float) -> None:
    """The recording rules on the page are the same arithmetic as the command's, with the live resumption rate."""
    configured, rules = (yaml.safe_load(block) for block in blocks("yaml"))
    wave = configured["wave"]
    (load,) = Wave(
        wave["clients"], (wave["servers"],), (10.0,), Ceiling(wave["ceiling"], wave["resumed_ceiling"]), share
    ).loads()
    series = {
        "tlsprobe_wave_clients": wave["clients"],
        "tlsprobe_wave_servers": wave["servers"],
        "tlsprobe_wave_window_seconds": 10,
        'tlsprobe_wave_ceiling_handshakes_per_second{mode="full"}': wave["ceiling"],
        'tlsprobe_wave_ceiling_handshakes_per_second{mode="resumed"}': wave["resumed_ceiling"],
    }
    inputs = [{"series": name, "values": f"{value}x20"} for name, value in series.items()]
    inputs += [
        {"series": 'tlsprobe_resumption_attempts_total{origin="self",target="shop"}', "values": "0+100x20"},
        {"series": 'tlsprobe_resumptions_total{origin="self",target="shop"}', "values": f"0+{share * 100:.0f}x20"},
        {"series": 'tlsprobe_resumption_attempts_total{origin="aged",target="shop"}', "values": "0+100x20"},
        {"series": 'tlsprobe_resumption_attempts_total{origin="self",target="reference"}', "values": "0+90x20"},
        {"series": 'tlsprobe_resumptions_total{origin="self",target="reference"}', "values": "0+90x20"},
    ]
    expected = {"live": load.load, "all_full": load.all_full}
    test = {
        "interval": "1m",
        "input_series": inputs,
        "promql_expr_test": [
            {
                "expr": f"round(tlsprobe:wave_load:{name}, 0.0001)",
                "eval_time": "20m",
                "exp_samples": [{"labels": "{}", "value": round(loads[wave["servers"]], 4)}],
            }
            for name, loads in expected.items()
        ],
    }
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump(rules))
    document = {"rule_files": ["rules.yaml"], "evaluation_interval": "1m", "tests": [test]}
    (tmp_path / "tests.yaml").write_text(yaml.safe_dump(document))
    done = subprocess.run(
        [find_program("promtool"), "test", "rules", "tests.yaml"],
        cwd=tmp_path, check=False, capture_output=True, text=True, timeout=60,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout + done.stderr
