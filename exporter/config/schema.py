"""The shape of a configuration file: fields, types and defaults. What values mean together is checked elsewhere.

The JSON Schema for editors is made from these classes; the lines under "Attributes" become its descriptions.
"""

from typing import Literal

from msgspec import field

from exporter.config.kinds import (
    Address,
    Bytes,
    Count,
    CountOrNone,
    Crowd,
    Duration,
    FilePath,
    HeaderValue,
    HostHeader,
    KubernetesName,
    KubernetesPort,
    LabelValue,
    ListenAddress,
    Method,
    Name,
    Protocol,
    Rate,
    RequestPath,
    Requests,
    Salt,
    Section,
    Share,
    SrvNameText,
    Status,
    TargetName,
    Url,
    Version,
)
from exporter.model.target import IdleScope, ProxyProtocol, Resumption, StartTls


class DefaultsSection(Section, frozen=True):
    """What targets have that do not say otherwise.

    Attributes:
        interval: from the start of one round to the start of the next, at least 1s and never below the timeout.
        timeout: bounds one connection, all its waits together.
    """

    interval: Duration = "30s"
    timeout: Duration = "5s"


class TicketKeysSection(Section, frozen=True):
    """How the judgement of ticket keys remembers.

    Attributes:
        grace: how long backends may differ after one of them changed its key, before that is called a split.
        hold: rounds for which a backend's last state stands while it cannot be reached.
        state_file: where what was seen of keys outlives a restart (unset: in memory alone); no ticket is written.
        salt: goes into the hashes that stand for names of keys, a text or {file: PATH}; exporters with the same one
            agree on their numbers (unset: one that is the same everywhere).
    """

    grace: Duration = "5m"
    hold: Count = 3
    state_file: FilePath | None = None
    salt: Salt | None = None


class TlsSection(Section, frozen=True):
    """How a target is spoken to in TLS.

    Attributes:
        versions: protocol versions to probe, each by itself.
        alpn: protocols to offer, most wanted first; an empty list offers none. Requests are sent as HTTP/2 where the
            server takes h2, as HTTP/1.1 elsewhere (unset: [http/1.1]; none with starttls).
        verify: whether a certificate that does not verify is a failure; its facts are reported either way.
        ca_file: PEM bundle to trust instead of the system's.
        cert_file: PEM chain of a client certificate to show; needs key_file.
        key_file: its private key, PEM, not encrypted.
    """

    versions: list[Version] = field(default_factory=lambda: list[str | float](["1.2", "1.3"]))
    alpn: list[Protocol] | None = None
    verify: bool = True
    ca_file: FilePath | None = None
    cert_file: FilePath | None = None
    key_file: FilePath | None = None


class HttpSection(Section, frozen=True):
    """The request that goes out on each full handshake.

    Attributes:
        enabled: whether a request is made at all; without one only the handshake is probed.
        method: in upper case.
        path: begins with a slash, percent-encoded.
        host: the Host header (unset: the server name, with the port where it is not 443).
        headers: more headers; a value is a text, or {file: PATH} for a secret.
        expect_status: statuses that are no failure; an empty list accepts any.
        large_path: of a larger body, asked for now and then to see the sizes of TLS records (unset: never).
        large_bytes: no more than so much of it is read.
    """

    enabled: bool = True
    method: Method = "GET"
    path: RequestPath = "/"
    host: HostHeader | None = None
    headers: dict[str, HeaderValue] = field(default_factory=dict)
    expect_status: list[Status] = field(default_factory=list)
    large_path: RequestPath | None = None
    large_bytes: Bytes = 1 << 20


class ProbeSection(Section, frozen=True):
    """How much of a target is probed in one round.

    Attributes:
        sample: how many backends a round takes, walking round the ring; 0 is all of them.
        max_extra_connections: what a round may open beyond three connections for each backend and version.
        survival: whether tickets are kept back and offered when they are old, to learn how long they really live.
        keepalive: whether connections are tried for further requests, and held to see how long they may be idle.
        requests: how many requests in a row a connection is to carry.
        idle: at one backend of the target, at each backend, or off; a held connection takes about 40 KiB.
        idle_bound: nobody is watched for longer.
        staple: whether a stapled OCSP answer is asked for, every ten minutes and on a connection of its own.
        hello_splits: whether a ClientHello goes out in two parts now and then, on a connection of its own.
        max_backends: so many addresses are probed at most, always the same ones; the others are left out, and counted.
    """

    sample: CountOrNone = 0
    max_extra_connections: CountOrNone = 40
    survival: bool = True
    keepalive: bool = True
    requests: Requests = 5
    idle: IdleScope = IdleScope.TARGET
    idle_bound: Duration = "2m"
    staple: bool = True
    hello_splits: bool = True
    max_backends: Count = 256


class ExpectSection(Section, frozen=True):
    """What was meant: it is exported, and alerts compare with it.

    Attributes:
        resumption: shared (any backend resumes any ticket), per_backend, off, or any (nothing is promised).
        min_backends: fewer than this is a finding (unset: no finding).
        rotation: a ticket key older than this is a finding (unset: no finding).
        ticket_life: share of their lifetime hint that tickets must live (unset: no finding).
        keepalive_idle: how long an idle connection must live (unset: no finding).
    """

    resumption: Resumption = Resumption.SHARED
    min_backends: Count | None = None
    rotation: Duration | None = None
    ticket_life: Share | None = None
    keepalive_idle: Duration | None = None


class KubernetesSection(Section, frozen=True):
    """A Service whose EndpointSlices list the backends; it takes a service account that may list and watch these.

    Attributes:
        service: the Service's name.
        port: the name of one of its ports, or the number that the pods listen on.
        namespace: the Service's namespace (unset: the one that the exporter runs in).
    """

    service: KubernetesName
    port: KubernetesPort
    namespace: KubernetesName | None = None


class BackendsFromSection(Section, frozen=True):
    """Who lists the backends: one of these.

    Attributes:
        srv: a DNS name in full, whose SRV records of the lowest priority are the backends.
        kubernetes: a Service, whose ready endpoints are the backends.
    """

    srv: SrvNameText | None = None
    kubernetes: KubernetesSection | None = None


class TargetSection(Section, frozen=True):
    """One name and port to probe.

    Attributes:
        name: the value of the label `target`, unique; `reference` is taken.
        address: the name and port to resolve, port 443 where none is given; each of its addresses is a backend.
        labels: the owner's own labels, for routing alerts.
        backends: addresses to probe instead of resolving; SNI and Host stay the name, the port is the address's.
        backends_from: who lists the backends instead, SRV records or a Kubernetes Service (unset: the name itself).
        server_name: SNI, and the name that the certificate must hold (unset: the address's host).
        tls: how the target is spoken to in TLS.
        http: the request that goes out on each full handshake.
        interval: from the start of one round to the start of the next (unset: that of `defaults`).
        timeout: bounds one connection, all its waits together (unset: that of `defaults`).
        probe: how much is probed in one round.
        expect: what was meant, for alerts to compare with.
        share_with: names of other targets, whose tickets are offered to this one too, one a round, to find session
            state that is shared more widely than was meant.
        proxy: an HTTP proxy that is asked for a tunnel to each backend (unset: backends are asked directly).
        proxy_protocol: the version of the PROXY protocol's header that goes ahead of TLS (unset: none).
        starttls: the protocol in which the server is asked to turn to TLS; no HTTP request is made then (unset: TLS
            from the first byte).
    """

    name: Name
    address: Address
    labels: dict[str, LabelValue] = field(default_factory=dict)
    backends: list[Address] = field(default_factory=list)
    server_name: str | None = None
    tls: TlsSection = field(default_factory=TlsSection)
    http: HttpSection = field(default_factory=HttpSection)
    interval: Duration | None = None
    timeout: Duration | None = None
    probe: ProbeSection = field(default_factory=ProbeSection)
    expect: ExpectSection = field(default_factory=ExpectSection)
    share_with: list[TargetName] = field(default_factory=list)
    proxy: Address | None = None
    proxy_protocol: ProxyProtocol | None = None
    starttls: StartTls | None = None
    backends_from: BackendsFromSection | None = None


class TemplateSection(Section, frozen=True):
    """What all targets of a source have; the source's own labels win over the same fields here.

    Attributes:
        labels: the owner's own labels, for routing alerts.
        server_name: SNI, and the name that the certificate must hold (unset: each address's host).
        tls: how the targets are spoken to in TLS.
        http: the request that goes out on each full handshake.
        interval: from the start of one round to the start of the next (unset: that of `defaults`).
        timeout: bounds one connection, all its waits together (unset: that of `defaults`).
        probe: how much is probed in one round.
        expect: what was meant, for alerts to compare with.
        proxy: an HTTP proxy that is asked for a tunnel to each backend (unset: backends are asked directly).
        proxy_protocol: the version of the PROXY protocol's header that goes ahead of TLS (unset: none).
        starttls: the protocol in which the server is asked to turn to TLS (unset: TLS from the first byte).
    """

    labels: dict[str, LabelValue] = field(default_factory=dict)
    server_name: str | None = None
    tls: TlsSection = field(default_factory=TlsSection)
    http: HttpSection = field(default_factory=HttpSection)
    interval: Duration | None = None
    timeout: Duration | None = None
    probe: ProbeSection = field(default_factory=ProbeSection)
    expect: ExpectSection = field(default_factory=ExpectSection)
    proxy: Address | None = None
    proxy_protocol: ProxyProtocol | None = None
    starttls: StartTls | None = None


class DiscoverSection(Section, frozen=True):
    """Targets from outside, in the form that Prometheus has for files and for HTTP.

    Attributes:
        name: the value of the label `source`, unique.
        file: a file, or several with * or ? in the last part of the path; .json is JSON and all else YAML.
        url: where to ask instead of reading files; the answer is JSON.
        refresh: from one look to the next, at least 1s (unset: 5s for files, 60s for a URL).
        max_targets: a list with more targets is refused.
        headers: more headers for the URL; a value is a text, or {file: PATH} for a secret.
        ca_file: PEM bundle to trust instead of the system's, for the URL.
        target: what all of the source's targets have.
    """

    name: Name
    file: FilePath | None = None
    url: Url | None = None
    refresh: Duration | None = None
    max_targets: Count = 1000
    headers: dict[str, HeaderValue] = field(default_factory=dict)
    ca_file: FilePath | None = None
    target: TemplateSection = field(default_factory=TemplateSection)


class ReferenceSection(Section, frozen=True):
    """The loopback servers that tell what a handshake costs on this machine, and whether the prober sees true.

    Attributes:
        enabled: whether they run at all.
        interval: from the start of one round to the start of the next, at least 1s.
    """

    enabled: bool = True
    interval: Duration = "60s"


class WaveSection(Section, frozen=True):
    """Clients that may all come back at once, and who would take them: exported, to be compared with live figures.

    Attributes:
        clients: how many there are.
        servers: how many would be left to take them.
        ceiling: full handshakes a second that one server sustains, as measured by `tlsprobe capacity`.
        resumed_ceiling: resumed ones (unset: not known).
        window: within which all of them come back.
    """

    clients: Crowd
    servers: Count
    ceiling: Rate
    window: Duration
    resumed_ceiling: Rate | None = None


class LogSection(Section, frozen=True):
    """What is logged and how.

    Attributes:
        level: the least severe level that is shown.
        format: auto is text on a terminal and logfmt elsewhere.
    """

    level: Literal["debug", "info", "warning", "error"] = "info"
    format: Literal["auto", "text", "json", "logfmt"] = "auto"


class Document(Section, frozen=True):
    """The whole file; every section may be left out.

    Attributes:
        listen: addresses of the web side, HOST:PORT, with an empty host for all interfaces.
        defaults: what targets have that do not say otherwise.
        ticket_keys: how the judgement of ticket keys remembers.
        targets: what is probed.
        discover: sources of more targets, which may change at any time.
        reference: the loopback servers that are probed beside the targets.
        wave: clients that may all come back at once, and who would take them (unset: nothing is exported).
        log: what is logged and how.
    """

    listen: list[ListenAddress] = field(default_factory=lambda: [":10507"])
    defaults: DefaultsSection = field(default_factory=DefaultsSection)
    ticket_keys: TicketKeysSection = field(default_factory=TicketKeysSection)
    targets: list[TargetSection] = field(default_factory=list)
    discover: list[DiscoverSection] = field(default_factory=list)
    reference: ReferenceSection = field(default_factory=ReferenceSection)
    wave: WaveSection | None = None
    log: LogSection = field(default_factory=LogSection)
