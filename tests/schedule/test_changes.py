"""From one set of targets to another."""

from dataclasses import replace

import pytest

from exporter.model.target import (
    Endpoint,
    Expect,
    HttpSettings,
    ProbeSettings,
    ProxyProtocol,
    StartTls,
    Target,
    TlsSettings,
    TlsVersion,
)
from exporter.schedule.changes import Changes, Continuity, compare, find_changes

SHOP = Target("shop", Endpoint("shop.example.com", 443), "shop.example.com")
BLOG = replace(SHOP, name="blog")
BANK = replace(SHOP, name="bank")


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        pytest.param(replace(SHOP), Continuity.SAME, id="nothing"),
        pytest.param(replace(SHOP, interval=15.0), Continuity.ALTERED, id="interval"),
        pytest.param(replace(SHOP, timeout=1.0), Continuity.ALTERED, id="timeout"),
        pytest.param(replace(SHOP, labels=(("team", "a"),)), Continuity.ALTERED, id="labels"),
        pytest.param(replace(SHOP, expect=Expect(min_backends=2)), Continuity.ALTERED, id="expectations"),
        pytest.param(replace(SHOP, probe=ProbeSettings(sample=2)), Continuity.ALTERED, id="how much is probed"),
        pytest.param(replace(SHOP, http=HttpSettings(path="/up")), Continuity.ALTERED, id="request"),
        pytest.param(replace(SHOP, backends=(Endpoint("10.0.0.1", 443),)), Continuity.ALTERED, id="backends"),
        pytest.param(replace(SHOP, versions=(TlsVersion.TLS13,)), Continuity.ALTERED, id="versions"),
        pytest.param(replace(SHOP, share_with=("blog",)), Continuity.ALTERED, id="company"),
        pytest.param(replace(SHOP, tls=TlsSettings(content="1")), Continuity.RENEWED, id="a certificate on disk"),
        pytest.param(replace(SHOP, tls=TlsSettings(ca_file="ca.pem")), Continuity.RENEWED, id="trust"),
        pytest.param(replace(SHOP, tls=TlsSettings(verify=False), timeout=1.0), Continuity.RENEWED, id="and timeout"),
        pytest.param(replace(SHOP, tls=TlsSettings(alpn=("h2",))), Continuity.ANEW, id="ALPN"),
        pytest.param(replace(SHOP, endpoint=Endpoint("shop.example.com", 8443)), Continuity.ANEW, id="port"),
        pytest.param(replace(SHOP, endpoint=Endpoint("example.com", 443)), Continuity.ANEW, id="host"),
        pytest.param(replace(SHOP, server_name="example.com"), Continuity.ANEW, id="server name"),
        pytest.param(replace(SHOP, proxy=Endpoint("10.0.0.9", 3128)), Continuity.ANEW, id="proxy"),
        pytest.param(replace(SHOP, proxy_protocol=ProxyProtocol.V2), Continuity.ANEW, id="PROXY protocol"),
        pytest.param(replace(SHOP, starttls=StartTls.SMTP), Continuity.ANEW, id="dialogue ahead of TLS"),
    ],
)
def test_compare(after: Target, expected: Continuity) -> None:
    """What is spoken to is another target; how it is spoken to, and how often, is not."""
    assert compare(SHOP, after) is expected
    assert compare(after, SHOP) is expected


def test_find_changes() -> None:
    """Each target is begun, ended, altered, or left alone; one that begins anew has ended first."""
    before = {target.name: target for target in (SHOP, BLOG, BANK, replace(SHOP, name="same"))}
    moved, faster = replace(SHOP, server_name="example.com"), replace(BLOG, interval=10.0)
    new, same = replace(SHOP, name="new"), replace(SHOP, name="same")
    renewed = replace(BANK, tls=TlsSettings(content="1"))

    assert find_changes(before, (new, moved, faster, same, renewed)) == Changes(
        begun=(new, moved), ended=(SHOP,), altered=(faster, renewed), renewed=(renewed,)
    )
    assert find_changes(before, ()) == Changes(ended=tuple(before.values()))
    assert find_changes(before, tuple(before.values())) == Changes()
