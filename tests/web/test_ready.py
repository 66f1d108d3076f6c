"""Readiness."""

import pytest

from exporter.web.ready import why_not_ready


@pytest.mark.parametrize(
    ("loaded", "targets", "begun", "waited", "expected"),
    [
        pytest.param(False, 0, 0, 0.0, "no configuration loaded yet", id="no configuration"),
        pytest.param(False, 0, 0, 60.0, "no configuration loaded yet", id="no configuration after a long time"),
        pytest.param(
            True, 3, 2, 9.9, "first round begun for 2 of 3 targets; ready after 10 s at the latest", id="some not begun"
        ),
        pytest.param(True, 3, 2, 10.0, None, id="a slow target holds us for ten seconds at most"),
        pytest.param(True, 3, 3, 0.1, None, id="all begun"),
        pytest.param(True, 0, 0, 0.0, None, id="nothing to probe"),
    ],
)
def test_readiness(loaded: bool, targets: int, begun: int, waited: float, expected: str | None) -> None:
    """We are ready when the configuration is loaded and the first rounds are under way, or ten seconds have passed."""
    assert expected == why_not_ready(loaded=loaded, targets=targets, begun=begun, waited=waited)
