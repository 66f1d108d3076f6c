"""What is probed: targets, their settings and their addresses."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from exporter.model.failure import Failure
from exporter.model.source import BackendFacts, KubernetesService, SrvName

MAX_SHARED = 16
"""Of so many other targets the tickets can be offered to one."""


class TlsVersion(StrEnum):
    """The protocol versions that are probed."""

    TLS12 = "1.2"
    TLS13 = "1.3"


class Endpoint(NamedTuple):
    """A host, as a name or an IP literal, and a port: what a configuration names and resolving turns into addresses.

    A tuple, since verdicts look them up many thousand times a round.
    """

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class Address(Endpoint):
    """One socket address of a backend: its host is an IP literal, with a zone where IPv6 has one."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class TlsSettings:
    """All that makes one TLS context differ from another, the version apart.

    Attributes:
        verify: whether a certificate that does not verify is a failure.
        ca_file: PEM bundle to trust instead of the system's.
        ca_pem: the same as text, for a CA that lives in memory alone.
        cert_file: PEM chain of the client certificate to show.
        key_file: its private key.
        alpn: protocols to offer, most wanted first.
        content: a digest of what these files held when the settings were read, so that others make another context.
    """

    verify: bool = True
    ca_file: str | None = None
    ca_pem: str | None = None
    cert_file: str | None = None
    key_file: str | None = None
    alpn: tuple[str, ...] = ("http/1.1",)
    content: str = ""


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """The request that goes out on each full handshake.

    Attributes:
        host: the Host header; None is the server name, with the port where it is not 443.
        expect_status: statuses that are no failure; empty accepts any.
        large_path: of a larger body, asked for now and then to see the sizes of TLS records.
        large_bytes: no more than so much of it is read.
    """

    enabled: bool = True
    method: str = "GET"
    path: str = "/"
    host: str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    expect_status: tuple[int, ...] = ()
    large_path: str | None = None
    large_bytes: int = 1 << 20


class IdleScope(StrEnum):
    """Where a connection is held open to see how long it may be idle."""

    OFF = "off"
    TARGET = "target"
    """At one backend, which stands for all."""
    BACKEND = "backend"
    """At each of them."""


@dataclass(frozen=True, slots=True)
class ProbeSettings:
    """How much of a target is probed in one round.

    Attributes:
        sample: how many backends a round takes, walking round the ring; 0 is all.
        max_extra_connections: what a round may open beyond its three connections a backend and version.
        survival: whether tickets are kept back and offered when they are old.
        requests: how many requests in a row a connection is to carry; 1 is no keep-alive probe.
        idle: where connections are held.
        idle_bound: seconds; nobody is watched for longer.
        staple: whether a stapled OCSP answer is asked for, every some minutes.
        hello_splits: whether a ClientHello goes out in two parts now and then.
        max_backends: so many addresses are probed at most; the others are left out, and counted.
    """

    sample: int = 0
    max_extra_connections: int = 40
    survival: bool = True
    requests: int = 5
    idle: IdleScope = IdleScope.TARGET
    idle_bound: float = 120.0
    staple: bool = True
    hello_splits: bool = True
    max_backends: int = 256


class ProxyProtocol(StrEnum):
    """Versions of the PROXY protocol, whose header goes ahead of the ClientHello."""

    V1 = "v1"
    V2 = "v2"


class StartTls(StrEnum):
    """Protocols that begin in clear and turn to TLS."""

    SMTP = "smtp"
    IMAP = "imap"
    POP3 = "pop3"
    FTP = "ftp"
    LDAP = "ldap"
    POSTGRESQL = "postgresql"
    MYSQL = "mysql"


class Resumption(StrEnum):
    """What a target's owner means resumption to be."""

    SHARED = "shared"
    PER_BACKEND = "per_backend"
    OFF = "off"
    ANY = "any"


@dataclass(frozen=True, slots=True)
class Expect:
    """What was meant, so that alerts compare with it; None means that nothing was promised.

    Attributes:
        resumption: whether backends are meant to share their ticket key.
        min_backends: fewer than this is a finding.
        rotation: seconds after which a ticket key is older than promised.
        ticket_life: the share of the lifetime hint that tickets must live.
        keepalive_idle: seconds that an idle connection must live.
    """

    resumption: Resumption = Resumption.SHARED
    min_backends: int | None = None
    rotation: float | None = None
    ticket_life: float | None = None
    keepalive_idle: float | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """One configured name and port, with all that its probes need.

    Attributes:
        endpoint: the name and port that are resolved.
        backends: endpoints to probe instead of resolving `endpoint`; SNI and Host stay the name.
        backends_from: who lists them instead, where that is not the configuration.
        server_name: SNI, and the name that the certificate must hold.
        interval: seconds from one round to the next.
        timeout: seconds that one connection may take, all its waits together.
        labels: the owner's own labels, for routing alerts.
        share_with: names of other targets whose tickets are offered to this one, too.
        proxy: the HTTP proxy that is asked for a tunnel to each backend.
        proxy_protocol: the version of the header that tells a backend who its client is; none without.
        starttls: the dialogue ahead of TLS; no HTTP request is made then.
    """

    name: str
    endpoint: Endpoint
    server_name: str
    backends: tuple[Endpoint, ...] = ()
    versions: tuple[TlsVersion, ...] = (TlsVersion.TLS12, TlsVersion.TLS13)
    tls: TlsSettings = field(default_factory=TlsSettings)
    http: HttpSettings = field(default_factory=HttpSettings)
    probe: ProbeSettings = field(default_factory=ProbeSettings)
    expect: Expect = field(default_factory=Expect)
    interval: float = 30.0
    timeout: float = 5.0
    labels: tuple[tuple[str, str], ...] = ()
    share_with: tuple[str, ...] = ()
    proxy: Endpoint | None = None
    proxy_protocol: ProxyProtocol | None = None
    starttls: StartTls | None = None
    backends_from: SrvName | KubernetesService | None = None


@dataclass(frozen=True, slots=True)
class Resolved:
    """What a target stands for right now.

    Attributes:
        addresses: without doubles, in the same order each time; a name that failed gives those of earlier on.
        failure: why at least one name gave nothing this time.
        proxy: an address of the proxy on the way, where there is to be one and its name gave one.
        left_out: how many addresses there were beyond the target's bound.
        facts: what is known of addresses beside that, also of some that are not to be probed.
    """

    addresses: tuple[Address, ...]
    failure: Failure | None = None
    proxy: Address | None = None
    left_out: int = 0
    facts: Mapping[Address, BackendFacts] = field(default_factory=dict)
