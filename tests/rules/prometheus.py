"""A real Prometheus that scrapes and evaluates several times a second."""

import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from exporter.model.target import Address
from tests.rules.rulefiles import FILES
from tests.servers.process import Server, find_program

_EVERY = "250ms"


@dataclass(frozen=True, slots=True)
class Firing:
    """An alert that fires.

    Attributes:
        since: Unix time in seconds at which its condition began to hold.
    """

    name: str
    labels: dict[str, str]
    annotations: dict[str, str]
    since: str


class Prometheus(Server):
    """Prometheus with the shipped rules, of which only the waiting is cut short."""

    def __init__(self, folder: Path, address: Address, scraped: str) -> None:
        """Scrape `scraped`, a host and port, from now on."""
        folder.mkdir(parents=True, exist_ok=True)
        rules = [_hasten(file, folder / file.name) for file in FILES]
        configuration = folder / "prometheus.yml"
        configuration.write_text(
            yaml.safe_dump(
                {
                    "global": {"scrape_interval": _EVERY, "scrape_timeout": _EVERY, "evaluation_interval": _EVERY},
                    "rule_files": [str(rule) for rule in rules],
                    "scrape_configs": [{"job_name": "tlsprobe", "static_configs": [{"targets": [scraped]}]}],
                }
            )
        )
        command = (
            find_program("prometheus"),
            f"--config.file={configuration}",
            f"--storage.tsdb.path={folder / 'data'}",
            f"--web.listen-address={address}",
        )
        super().__init__(address, command, folder)
        self.wait_until(self._ready, "readiness")

    def query(self, expression: str, time: str | None = None) -> float | None:
        """Return the value of an expression that has one series at most, None where it has none; `time` as Firing's."""
        words = {"query": expression} | ({"time": time} if time else {})
        result = self._get("query", words)["result"]
        return float(result[0]["value"][1]) if result else None

    def values(self, expression: str) -> tuple[float, ...]:
        """Return the values of all series of an expression, NaN among them."""
        return tuple(float(series["value"][1]) for series in self._get("query", {"query": expression})["result"])

    def firing(self) -> Iterator[Firing]:
        """Yield the alerts that fire now."""
        for alert in self._get("alerts", {})["alerts"]:
            if alert["state"] == "firing":
                labels = dict(alert["labels"])
                yield Firing(labels.pop("alertname"), labels, alert["annotations"], alert["activeAt"])

    def _ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://{self.address}/-/ready", timeout=5):
                return True
        except urllib.error.HTTPError:
            return False

    def _get(self, what: str, words: dict[str, str]) -> dict[str, Any]:
        url = f"http://{self.address}/api/v1/{what}?{urllib.parse.urlencode(words)}"
        with urllib.request.urlopen(url, timeout=5) as answer:
            data: dict[str, Any] = json.load(answer)["data"]
            return data


def _hasten(source: Path, copy: Path) -> Path:
    """Copy a rule file, with `for` and `keep_firing_for` left out: what is evaluated stays as it is."""
    content = yaml.safe_load(source.read_text())
    for group in content["groups"]:
        for rule in group["rules"]:
            rule.pop("for", None)
            rule.pop("keep_firing_for", None)
    copy.write_text(yaml.safe_dump(content))
    return copy
