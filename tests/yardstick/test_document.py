"""The rules that the page about the yardstick gives, in the rule tests of Prometheus itself."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.servers.process import find_program

PAGE = Path(__file__).parents[2] / "docs" / "bench.md"
CALM_MINUTES, CHANGED_MINUTES = 1440, 60
ALERTS = ("TlsprobeSlowNode", "TlsprobeSlowEndpoint")


def rules() -> str:
    """Return the page's one block of rules."""
    (block,) = re.findall(r"^```yaml\n(groups:\n.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    return str(block)


def series(target: str, before: float, after: float) -> list[dict[str, str]]:
    """Return a target's histogram sums and counts over a day and an hour, one handshake a minute."""
    labels = f'{{instance="pod",target="{target}",tls="1.3",mode="full"}}'
    calm = before * CALM_MINUTES
    return [
        {
            "series": f"tlsprobe_handshake_duration_seconds_sum{labels}",
            "values": f"0+{before}x{CALM_MINUTES} {calm + after}+{after}x{CHANGED_MINUTES - 1}",
        },
        {
            "series": f"tlsprobe_handshake_duration_seconds_count{labels}",
            "values": f"0+1x{CALM_MINUTES + CHANGED_MINUTES}",
        },
    ]


@pytest.mark.servers("promtool")
@pytest.mark.parametrize(
    ("reference", "shop", "expected"),
    [
        pytest.param((0.002, 0.002), (0.040, 0.040), (), id="all as ever"),
        pytest.param((0.002, 0.012), (0.010, 0.020), ALERTS[:1], id="a slow node makes all slower"),
        pytest.param((0.002, 0.002), (0.040, 0.080), ALERTS[1:], id="a slow endpoint"),
        pytest.param((0.002, 0.012), (0.040, 0.090), ALERTS, id="both at once"),
        pytest.param((0.002, 0.0005), (0.010, 0.012), (), id="a faster node blames nobody"),
    ],
)
def test_rules(
    tmp_path: Path, reference: tuple[float, float], shop: tuple[float, float], expected: tuple[str, ...]
) -> None:
    """The alerts fire for whoever got slower, and for nobody else."""
    (tmp_path / "rules.yml").write_text(rules())
    moment = f"{CALM_MINUTES + 40}m"
    firing = {
        ALERTS[0]: {"instance": "pod", "target": "reference", "tls": "1.3"},
        ALERTS[1]: {"instance": "pod", "target": "shop", "tls": "1.3"},
    }
    case = {
        "interval": "1m",
        "input_series": series("reference", *reference) + series("shop", *shop),
        "alert_rule_test": [
            {
                "eval_time": moment,
                "alertname": alert,
                "exp_alerts": [{"exp_labels": firing[alert]}] if alert in expected else [],
            }
            for alert in ALERTS
        ],
    }
    test = tmp_path / "test.yml"
    test.write_text(json.dumps({"rule_files": ["rules.yml"], "evaluation_interval": "10m", "tests": [case]}))
    done = subprocess.run(
        [find_program("promtool"), "test", "rules", str(test)], check=False, capture_output=True, text=True, timeout=60
    )

    assert done.returncode == 0, done.stdout + done.stderr
