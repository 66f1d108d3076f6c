"""The shape of a web configuration file, which Prometheus and its exporters share: fields, types and defaults."""

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, field

from exporter.config.kinds import Fields

FilePath = Annotated[
    str,
    Meta(
        pattern=r"^[^\u0000]+$(?!\n)",
        max_length=4096,
        extra={"allowed": "a path, from the file's folder where it is relative"},
    ),
]
Pem = Annotated[str, Meta(max_length=1 << 20, extra={"allowed": "a text in PEM", "secret": True})]
Version: TypeAlias = Literal["TLS12", "TLS13"]
ClientAuth: TypeAlias = Literal["NoClientCert", "VerifyClientCertIfGiven", "RequireAndVerifyClientCert"]
Hash = Annotated[str, Meta(extra={"allowed": "a bcrypt hash in quotes", "secret": True})]
HeaderValue = Annotated[str | int, Meta(extra={"allowed": "a text"})]
Interval = Annotated[
    Annotated[str, Meta(max_length=64)] | Annotated[int, Meta(ge=0, le=0)],
    Meta(extra={"allowed": "a duration with its unit such as 250ms, 1s or 1m30s, or 0 for no limit"}),
]
Burst = Annotated[int, Meta(ge=0, le=1_000_000, extra={"allowed": "a whole number from 0 to 1000000"})]


class TlsServerSection(Fields, frozen=True):
    """How TLS is served; without a certificate it is not.

    Attributes:
        cert, key, client_ca: PEM in the file itself, instead of the file that the next three name.
        cert_file: the chain.
        client_auth_type: whether clients show a certificate, in the words of Go's crypto/tls.
        client_allowed_sans: one of these must stand in a client's certificate, as a DNS name, address, e-mail or URI.
        cipher_suites: for TLS 1.2, by Go's names.
        prefer_server_cipher_suites: whether our order of cipher suites counts, rather than the client's.
        curve_preferences: by Go's names.
    """

    cert: Pem | None = None
    key: Pem | None = None
    client_ca: Pem | None = None
    cert_file: FilePath | None = None
    key_file: FilePath | None = None
    client_ca_file: FilePath | None = None
    client_auth_type: ClientAuth | None = None
    client_allowed_sans: list[str] = field(default_factory=list)
    min_version: Version = "TLS12"
    max_version: Version = "TLS13"
    cipher_suites: list[str] = field(default_factory=list)
    prefer_server_cipher_suites: bool = True
    curve_preferences: list[str] = field(default_factory=list)


class HttpServerSection(Fields, frozen=True):
    """What is said over HTTP.

    Attributes:
        http2: accepted and without effect: HTTP/1.1 is served.
        headers: sent with each answer.
    """

    http2: bool = True
    headers: dict[str, HeaderValue] = field(default_factory=dict)


class RateLimitSection(Fields, frozen=True):
    """How many requests are answered, by a token bucket.

    Attributes:
        interval: from one request to the next; 0 is no limit.
        burst: so many may come at once.
    """

    interval: Interval = 0
    burst: Burst = 0


class WebDocument(Fields, frozen=True):
    """The whole file.

    Attributes:
        basic_auth_users: bcrypt hashes of passwords by user; without any, nobody is asked for one.
    """

    tls_server_config: TlsServerSection = field(default_factory=TlsServerSection)
    http_server_config: HttpServerSection = field(default_factory=HttpServerSection)
    basic_auth_users: dict[str, Hash] = field(default_factory=dict)
    rate_limit: RateLimitSection = field(default_factory=RateLimitSection)
