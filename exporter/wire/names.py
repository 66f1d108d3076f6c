"""Server names as TLS has them: sent in a ClientHello, and looked for among a certificate's names."""

from collections.abc import Iterable
from functools import lru_cache
from ipaddress import ip_address

from cryptography import x509


@lru_cache(1024)
def wire_name(server_name: str) -> bytes:
    """Return a name in its ASCII form, or an IP literal as it is; the ssl module takes a while for it each time.

    Neither the zone of an IPv6 address nor a name's closing dot is part of what a certificate holds.

    Raises:
        ValueError: (UnicodeError among them) the name cannot be encoded.
    """
    return server_name.partition("%")[0].removesuffix(".").encode("idna")


@lru_cache(1024)
def address_of(server_name: str) -> bytes | None:
    """Return the packed address that a server name is, None where it is no IP literal."""
    try:
        return ip_address(server_name.partition("%")[0]).packed
    except ValueError:
        return None


class HeldNames:
    """The names that a certificate holds, to be looked up by RFC 9525 section 6; its subject is not one of them."""

    __slots__ = ("_addresses", "_exact", "_parents")

    def __init__(self, names: Iterable[x509.GeneralName]) -> None:
        exact: set[bytes] = set()
        self._addresses: set[bytes] = set()
        for name in names:
            if isinstance(name, x509.DNSName):
                exact.add(name.value.lower().encode())
            elif isinstance(name, x509.IPAddress) and not hasattr(name.value, "network_address"):
                self._addresses.add(name.value.packed)
        self._exact = exact
        # A wildcard counts only as the whole left-most label, and stands for one label (section 6.3).
        self._parents = {name[2:] for name in exact if name[:2] == b"*." and name[2:] and b"*" not in name[2:]}

    def match(self, server_name: str) -> bool:
        """Tell whether one of them stands for the name; an IP literal is looked for among the addresses alone."""
        address = address_of(server_name)
        if address is not None:
            return address in self._addresses
        name = wire_name(server_name).lower()
        if not name or b"*" in name:
            return False
        return name in self._exact or name.partition(b".")[2] in self._parents
