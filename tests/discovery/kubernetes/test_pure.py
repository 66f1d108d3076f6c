"""What slices say, how patient we are, and where a pod finds its API server."""

import pytest

from exporter.discovery.kubernetes.account import find_account
from exporter.discovery.kubernetes.patience import pause
from exporter.discovery.kubernetes.slices import Conditions, Member, Port, Slice, list_backends
from exporter.model.target import Address

PORTS = (Port("https", 8443, "TCP"), Port("metrics", 9090), Port("quic", 8443, "UDP"), Port(None, 80))


def backends(*members: Member, port: str | int = "https") -> set[str]:
    """Return what is to be probed of one slice."""
    return {str(each) for each in list_backends([Slice(endpoints=members, ports=PORTS)], port).ready}


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        pytest.param(None, True, id="nothing said"),
        pytest.param(Conditions(), True, id="nothing known"),
        pytest.param(Conditions(ready=True, serving=True, terminating=False), True, id="ready"),
        pytest.param(Conditions(ready=False), False, id="not ready"),
        pytest.param(Conditions(ready=False, serving=True, terminating=True), False, id="draining"),
        pytest.param(Conditions(ready=True, terminating=True), False, id="published although it ends"),
    ],
)
def test_ready(conditions: Conditions | None, expected: bool) -> None:
    """A backend is what is meant to get new connections."""
    assert expected is bool(backends(Member(("10.0.0.1",), conditions)))


@pytest.mark.parametrize(
    ("port", "expected"),
    [
        pytest.param("https", {"10.0.0.1:8443"}, id="by name"),
        pytest.param("", {"10.0.0.1:80"}, id="without a name"),
        pytest.param(1234, {"10.0.0.1:1234"}, id="by number"),
        pytest.param("quic", set(), id="not TCP"),
        pytest.param("other", set(), id="unknown"),
    ],
)
def test_ports(port: str | int, expected: set[str]) -> None:
    """A port is one of the slice's, or a number that pods listen on."""
    assert expected == backends(Member(("10.0.0.1",)), port=port)


def test_hosts() -> None:
    """Addresses of both families are backends, host names are not."""
    assert {"10.0.0.1:80", "[2001:db8::1]:80"} == backends(
        Member(("10.0.0.1", "2001:DB8::1", "shop.example.com", "")), port=80
    )


@pytest.mark.parametrize("turn", [1, -1], ids=["ready first", "ready last"])
def test_an_endpoint_in_two_slices(turn: int) -> None:
    """While an endpoint moves from one slice to another, the word that it is ready holds."""
    slices = [
        Slice(endpoints=(Member(("10.0.0.1",), Conditions(ready=ready)),), ports=PORTS) for ready in (True, False)
    ]

    assert {Address("10.0.0.1", 8443)} == list_backends(slices[::turn], "https").ready


def test_pauses() -> None:
    """Pauses double up to half a minute, of which chance takes up to a half."""
    assert [0.5, 1.0, 2.0] == [pause(troubles, 1.0) for troubles in (1, 2, 3)]
    assert (15.0, 30.0) == (pause(100, 0.0), pause(100, 1.0))


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        pytest.param({}, None, id="no pod"),
        pytest.param({"KUBERNETES_SERVICE_HOST": "10.96.0.1"}, "https://10.96.0.1:443", id="IPv4"),
        pytest.param(
            {"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "6443"}, "https://[fd00::1]:6443", id="v6"
        ),
    ],
)
def test_account(environment: dict[str, str], expected: str | None) -> None:
    """The environment of a pod says where its API server is."""
    account = find_account(environment)

    assert expected == (account.url if account is not None else None)
