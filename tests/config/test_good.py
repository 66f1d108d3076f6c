"""Files without a mistake, and what comes of them."""

from pathlib import Path

import pytest

from exporter.config.load import Config, load, parse
from exporter.config.schema import DefaultsSection, HttpSection, TemplateSection
from exporter.config.settings import (
    ListingUrl,
    LogSettings,
    ReferenceSettings,
    SourceSettings,
    TicketKeys,
    WaveSettings,
)
from exporter.config.template import Template
from exporter.model.fingerprint import salt_of
from exporter.model.source import KubernetesService, SrvName
from exporter.model.target import (
    Endpoint,
    Expect,
    HttpSettings,
    IdleScope,
    ProbeSettings,
    ProxyProtocol,
    Resumption,
    StartTls,
    Target,
    TlsSettings,
    TlsVersion,
)
from tests.servers.certificates import Authority, Leaf

GOOD = Path(__file__).parent / "good"
LEAST = Target(name="shop", endpoint=Endpoint("shop.example.com", 443), server_name="shop.example.com")
FULL = Config(
    listen=("127.0.0.1:0", "[::1]:10507"),
    targets=(
        Target(
            name="shop, north",
            endpoint=Endpoint("xn--bcher-kva.example.", 8443),
            server_name="shop.example.com",
            backends=(Endpoint("10.0.0.1", 8443), Endpoint("::1", 443), Endpoint("node-1.example.com", 9443)),
            versions=(TlsVersion.TLS13,),
            tls=TlsSettings(verify=False, alpn=("h2",)),
            http=HttpSettings(
                enabled=False,
                method="HEAD",
                path="/a?b=%20",
                host="shop.example.com:8443",
                headers=(("Accept", "*/*"), ("X-Token", "Bearer abc"), ("X-None", "")),
                expect_status=(200, 204),
                large_path="/large",
                large_bytes=65536,
            ),
            probe=ProbeSettings(
                sample=4,
                max_extra_connections=0,
                survival=False,
                requests=3,
                idle=IdleScope.OFF,
                idle_bound=10.0,
                staple=False,
                hello_splits=False,
                max_backends=9,
            ),
            expect=Expect(Resumption.OFF, min_backends=3, rotation=86400, ticket_life=0.9, keepalive_idle=60),
            interval=1.0,
            timeout=1.0,
            labels=(("team", "payments"), ("zone", "a")),
            share_with=("plain",),
            proxy=Endpoint("proxy.example.com", 3128),
            proxy_protocol=ProxyProtocol.V2,
        ),
        Target(
            name="records",
            endpoint=Endpoint("a.example.com", 443),
            server_name="a.example.com",
            interval=60.0,
            timeout=2.5,
            backends_from=SrvName("_https._tcp.a.example.com"),
        ),
        Target(
            name="service",
            endpoint=Endpoint("a.example.com", 443),
            server_name="a.example.com",
            interval=60.0,
            timeout=2.5,
            backends_from=KubernetesService("web", 8443, "shop"),
        ),
        Target(
            name="plain",
            endpoint=Endpoint("10.0.0.9", 443),
            server_name="10.0.0.9",
            interval=60.0,
            timeout=2.5,
            tls=TlsSettings(alpn=()),
            http=HttpSettings(enabled=False),
            probe=ProbeSettings(requests=1, idle=IdleScope.OFF),
            starttls=StartTls.IMAP,
        ),
    ),
    discover=(
        SourceSettings(
            name="files",
            place=str(GOOD / "more/*.json"),
            refresh=2.0,
            max_targets=5,
            template=Template(
                TemplateSection(labels={"team": "b"}, http=HttpSection(path="/x")), DefaultsSection("1m", 2.5), GOOD
            ),
        ),
        SourceSettings(
            name="inventory",
            place=ListingUrl("http://inventory.example.com/targets", (("X-Token", "Bearer abc"),)),
            refresh=60.0,
            template=Template(TemplateSection(), DefaultsSection("1m", 2.5), GOOD),
        ),
    ),
    ticket_keys=TicketKeys(grace=90.0, hold=5, state_file=str(GOOD / "state/keys.json"), salt=salt_of("Bearer abc")),
    reference=ReferenceSettings(enabled=False, interval=5.0),
    wave=WaveSettings(clients=100_000, servers=5, ceiling=5000.0, window=60.0, resumed_ceiling=8000.0),
    log=LogSettings(level="debug", format="logfmt"),
)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param("empty-sections", Config(), id="empty sections are the defaults"),
        pytest.param("least", Config(targets=(LEAST,)), id="a name and an address are enough"),
        pytest.param("full", FULL, id="every field"),
    ],
)
def test_good(name: str, expected: Config) -> None:
    """A file becomes exactly the settings that stand in it, and the model's defaults for the rest."""
    assert expected == load(GOOD / f"{name}.yaml")


def test_shared_settings() -> None:
    """Targets that name the same settings by an alias have equal ones."""
    first, second = load(GOOD / "shared.yaml").targets

    assert (TlsVersion.TLS13,) == first.versions == second.versions


def target_with(tls: str, folder: Path) -> Target:
    """Return the one target of a configuration with these TLS settings."""
    text = f"targets: [{{name: a, address: a.example.com, tls: {{{tls}}}}}]"
    return parse(text, "text", folder).targets[0]


def test_certificate_files(authority: Authority, leaf: Leaf) -> None:
    """PEM files are named from the configuration's folder, and stand in the settings with their whole path."""
    folder = authority.file.parent
    names = [path.relative_to(folder) for path in (authority.file, leaf.certificate_file, leaf.key_file)]
    tls = target_with("ca_file: {}, cert_file: {}, key_file: {}".format(*names), folder).tls

    assert tls.content
    assert (
        TlsSettings(
            ca_file=str(authority.file),
            cert_file=str(leaf.certificate_file),
            key_file=str(leaf.key_file),
            content=tls.content,
        )
        == tls
    )


def test_absolute_path(authority: Authority, tmp_path: Path) -> None:
    """An absolute path is taken as it is."""
    assert str(authority.file) == target_with(f"ca_file: {authority.file}", tmp_path).tls.ca_file


def test_byte_order_mark(tmp_path: Path) -> None:
    """A file that an editor began with a byte order mark is read all the same."""
    path = tmp_path / "config.yaml"
    path.write_bytes(b"\xef\xbb\xbflog: {level: debug}\r\n")

    assert Config(log=LogSettings(level="debug")) == load(path)


def test_one_secret_ends_in_one_line_feed(tmp_path: Path) -> None:
    """Only the last line feed of a secret's file is left out."""
    (tmp_path / "token").write_bytes(b"abc\r\n")
    text = "targets: [{name: a, address: a.example.com, http: {headers: {X-Token: {file: token}}}}]"

    assert (("X-Token", "abc"),) == parse(text, "text", tmp_path).targets[0].http.headers
