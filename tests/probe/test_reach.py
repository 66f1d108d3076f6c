"""The way to a backend says who it was that could not be reached."""

from exporter.model.failure import Failure, Reason, Stage
from exporter.model.target import Address, Endpoint, Target
from exporter.probe.reach import connect
from tests.servers.ports import Ports

_BACKEND = Address("192.0.2.1", 443)


async def test_a_proxy_that_is_down(ports: Ports) -> None:
    """A proxy that cannot be reached is named, since the failure is told of the backend behind it."""
    proxy = Address("127.0.0.1", ports.claim())
    found = await connect(Target("site", Endpoint("site.test", 443), "site.test", proxy=proxy), _BACKEND)

    assert Failure(Stage.CONNECT, Reason.CONNECTION_REFUSED, f"at the proxy {proxy}") == found


async def test_a_proxy_without_an_address() -> None:
    """A proxy whose name gave no address is named, too, and nobody is connected to."""
    proxy = Endpoint("proxy.invalid", 3128)
    found = await connect(Target("site", Endpoint("site.test", 443), "site.test", proxy=proxy), _BACKEND)

    assert Failure(Stage.RESOLVE, Reason.NO_SUCH_NAME, f"proxy {proxy}") == found
