"""Our targets as Prometheus takes them."""

import json

import pytest
from aiohttp.test_utils import make_mocked_request

from exporter.model.target import Endpoint, Target
from exporter.web.door import Door
from exporter.web.sd import answer

TARGETS = (
    Target("shop", Endpoint("shop.example.com", 443), "shop.example.com", labels=(("team", "payments"),)),
    Target("chat, north", Endpoint("10.0.0.1", 8443), "10.0.0.1"),
)


@pytest.mark.parametrize(
    ("door", "host", "path"),
    [
        pytest.param(Door(), "exporter:10507", "/probe", id="plain"),
        pytest.param(Door(prefix="/tls"), "exporter:10507", "/tls/probe", id="with a prefix"),
        pytest.param(Door(external_url="https://mon.example/tls"), "mon.example", "/tls/probe", id="through a proxy"),
        pytest.param(Door(external_url="https://mon.example/tls"), "10.0.0.9:10507", "/probe", id="beside a proxy"),
    ],
)
def test_groups(door: Door, host: str, path: str) -> None:
    """Each target is a group that leads a scrape to its own probe, and has its name for an instance."""
    response = answer(make_mocked_request("GET", "/sd", headers={"Host": host}), TARGETS, door)
    labels = {"__metrics_path__": path, "__param_target": "shop", "instance": "shop", "team": "payments"}

    assert "application/json" == response.content_type
    assert response.text is not None
    first, second = json.loads(response.text)
    assert {"targets": [host], "labels": labels} == first
    assert "chat, north" == second["labels"]["__param_target"]
