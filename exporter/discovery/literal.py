"""Addresses that need no name service: reading literals, and one order for all."""

import ipaddress

from exporter.model.target import Address, Endpoint


def literal(endpoint: Endpoint) -> Address | None:
    """Return the address that an endpoint's host already is, in its canonical form, or None where it is a name."""
    try:
        return Address(str(ipaddress.ip_address(endpoint.host)), endpoint.port)
    except ValueError:
        return None


def in_order(addresses: set[Address]) -> tuple[Address, ...]:
    """Return addresses in numeric order, IPv4 before IPv6, so that 10.0.0.9 comes before 10.0.0.10."""
    return tuple(sorted(addresses, key=_rank))


def _rank(address: Address) -> tuple[int, int, str, int]:
    ip = ipaddress.ip_address(address.host)
    return ip.version, int(ip), address.host, address.port
