"""The PROXY protocol's header, by which a balancer tells a backend who its client is.

The source is its specification, proxy-protocol.txt of HAProxy, sections 2.1 (v1) and 2.2 (v2).
"""

from ipaddress import IPv4Address, IPv6Address, ip_address

from exporter.model.target import Endpoint, ProxyProtocol

_SIGNATURE = b"\r\n\r\n\x00\r\nQUIT\n"
_VERSION_2_PROXY = b"\x21"
_TCP_OVER_IPV4 = b"\x11"
_TCP_OVER_IPV6 = b"\x21"


def header(version: ProxyProtocol, own: Endpoint, peer: Endpoint) -> bytes:
    """Return the header for a connection from `own` to `peer`, both IP literals, with a zone or without.

    IPv4 addresses that are mapped into IPv6 go out as what they are. Both must be of one family, so beside a real IPv6
    address the other one is mapped.

    Raises:
        ValueError: one of them is no IP literal.
    """
    source, destination = _address(own.host), _address(peer.host)
    if source.version != destination.version:
        source, destination = _map(source), _map(destination)
    over_ipv4 = source.version == 4
    if version is ProxyProtocol.V1:
        family = "TCP4" if over_ipv4 else "TCP6"
        return f"PROXY {family} {source} {destination} {own.port} {peer.port}\r\n".encode("ascii")
    ports = own.port.to_bytes(2, "big") + peer.port.to_bytes(2, "big")
    addresses = source.packed + destination.packed + ports
    family_byte = _TCP_OVER_IPV4 if over_ipv4 else _TCP_OVER_IPV6
    return _SIGNATURE + _VERSION_2_PROXY + family_byte + len(addresses).to_bytes(2, "big") + addresses


def _address(host: str) -> IPv4Address | IPv6Address:
    address = ip_address(host.partition("%")[0])
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def _map(address: IPv4Address | IPv6Address) -> IPv6Address:
    return address if isinstance(address, IPv6Address) else IPv6Address(b"\0" * 10 + b"\xff\xff" + address.packed)
