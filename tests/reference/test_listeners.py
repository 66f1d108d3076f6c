"""What the parent hands to the child."""

import pytest

from exporter.reference.listeners import Handover, Listener


def test_round_trip() -> None:
    """The child reads what the parent wrote, in one line, and no key shows when it is printed."""
    handover = Handover(
        {Listener.A: 1, Listener.PLAIN: 2}, ecdsa="secret\nlines\n", rsa="secret too", ca="ca", own="own secret"
    )
    line = handover.encode()

    assert handover == Handover.decode(line)
    assert line.index(b"\n") == len(line) - 1
    assert "secret" not in repr(handover)


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b'{"ports": {}}', id="a part is missing"),
        pytest.param(
            b'{"ports": {"d": 1}, "ecdsa": "", "rsa": "", "ca": "", "own": ""}', id="a listener that nobody knows"
        ),
    ],
)
def test_refused(line: bytes) -> None:
    """A line that is not whole is refused."""
    with pytest.raises((ValueError, KeyError)):
        Handover.decode(line)
