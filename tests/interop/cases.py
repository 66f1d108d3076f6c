"""All servers and settings, with what is right to say of them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from exporter.model.target import TlsVersion
from exporter.model.verdicts import Mechanism
from tests.interop.case import Case, Product, Sight
from tests.interop.products import (
    APACHE,
    CADDY,
    ENVOY,
    GNUTLS,
    GRANIAN,
    H2O,
    HAPROXY,
    HITCH,
    JAVA,
    LIGHTTPD,
    NGINX,
    NODE,
    S_SERVER,
    S_SERVER_EARLY,
    STUNNEL,
    TRAEFIK,
)
from tests.interop.sights import NOT_SPOKEN, NOTHING, SESSION_ID, apart, dead_ids, ids, shared
from tests.servers import (
    apache,
    caddy,
    envoy,
    gnutls,
    granian,
    h2o,
    haproxy,
    hitch,
    java,
    lighttpd,
    nginx,
    node,
    s_server,
    stunnel,
    traefik,
)
from tests.servers.certificates import Leaf
from tests.servers.lighttpd import Library
from tests.servers.ticket_keys import KeySize, ticket_key, write_ticket_key

MakeSettings = Callable[[Leaf, Path], Any]
NAMED, SHORT, HIDDEN = Mechanism.RFC5077, Mechanism.SHORT_NAME, Mechanism.HIDDEN


def alone(make: Callable[..., Any], **given: object) -> MakeSettings:
    """Return settings by which no server shares anything."""
    return lambda leaf, _folder: make(leaf=leaf, **given)


def with_key(make: Callable[..., Any], size: KeySize = 80, **given: object) -> MakeSettings:
    """Return settings with a key that both servers are given."""
    return lambda leaf, _folder: make(leaf=leaf, ticket_key=ticket_key("one", size), **given)


def with_files(make: Callable[..., Any]) -> MakeSettings:
    """Return settings with a key file for both."""
    return lambda leaf, folder: make(leaf=leaf, ticket_keys=(write_ticket_key(folder, "one"),))


def haproxy_keys(leaf: Leaf, _folder: Path) -> haproxy.Settings:
    """The same three keys for both, the second of which encrypts."""
    return haproxy.Settings(leaf=leaf, ticket_keys=tuple(ticket_key(name) for name in ("one", "two", "three")))


def apache_file(leaf: Leaf, folder: Path) -> apache.Settings:
    """One key file for both."""
    return apache.Settings(leaf=leaf, ticket_key=write_ticket_key(folder, "one", 48))


def caddy_storage(leaf: Leaf, folder: Path) -> caddy.Settings:
    """One storage, in which the first Caddy leaves its key for the other."""
    return caddy.Settings(leaf=leaf, shared_folder=folder / "storage")


def case(
    product: Product, setting: str, settings: MakeSettings, tls12: Sight, tls13: Sight, *, slow: bool = False
) -> Case:
    """Put a case together."""
    expected = {TlsVersion.TLS12: tls12, TlsVersion.TLS13: tls13}
    return Case(product=product, setting=setting, settings=settings, expected=expected, slow=slow)


CASES = (
    case(
        NGINX,
        "keys of their own",
        alone(nginx.Settings),
        apart(mechanism=NAMED, full=1, resumed=0, hint=300),
        apart(mechanism=NAMED, full=2, resumed=1, hint=300),
    ),
    case(
        NGINX,
        "one key file",
        with_files(nginx.Settings),
        shared(mechanism=NAMED, full=1, resumed=0, hint=300),
        shared(mechanism=NAMED, full=2, resumed=1, hint=300),
    ),
    case(
        NGINX,
        "early data",
        alone(nginx.Settings, server="ssl_early_data on;"),
        apart(mechanism=NAMED, full=1, resumed=0, hint=300),
        apart(mechanism=NAMED, full=2, resumed=1, hint=300, early_data=True),
    ),
    case(
        NGINX,
        "tickets off, cache",
        alone(nginx.Settings, tickets=False, cache="shared:site:1m"),
        SESSION_ID,
        ids(full=2, resumed=1, hint=300),
    ),
    case(NGINX, "tickets off", alone(nginx.Settings, tickets=False), NOTHING, dead_ids(full=2, hint=300)),
    case(
        HAPROXY,
        "keys of their own",
        alone(haproxy.Settings),
        apart(mechanism=NAMED, full=1, resumed=0, hint=7200),
        apart(mechanism=NAMED, full=2, resumed=1, hint=7200),
    ),
    case(
        HAPROXY,
        "one key file",
        haproxy_keys,
        shared(mechanism=NAMED, full=1, resumed=0, hint=7200),
        shared(mechanism=NAMED, full=2, resumed=0, hint=7200),
    ),
    case(
        HAPROXY,
        "early data",
        alone(haproxy.Settings, bind="allow-0rtt"),
        apart(mechanism=NAMED, full=1, resumed=0, hint=7200),
        apart(mechanism=NAMED, full=2, resumed=1, hint=7200, early_data=True),
    ),
    case(
        HAPROXY,
        "tickets off, cache",
        alone(haproxy.Settings, tickets=False),
        SESSION_ID,
        ids(full=2, resumed=1, hint=7200),
    ),
    case(
        APACHE,
        "keys of their own",
        alone(apache.Settings),
        apart(mechanism=NAMED, full=1, resumed=0, hint=300),
        apart(mechanism=NAMED, full=2, resumed=1, hint=300),
    ),
    case(
        APACHE,
        "one key file",
        apache_file,
        shared(mechanism=NAMED, full=1, resumed=0, hint=300),
        shared(mechanism=NAMED, full=2, resumed=0, hint=300),
    ),
    case(
        APACHE,
        "tickets off, cache",
        alone(apache.Settings, tickets=False, cache=True),
        SESSION_ID,
        ids(full=2, resumed=1, hint=300),
    ),
    case(APACHE, "tickets off", alone(apache.Settings, tickets=False), NOTHING, dead_ids(full=2, hint=300)),
    case(
        H2O,
        "keys of their own",
        alone(h2o.Settings),
        apart(mechanism=NAMED, full=1, resumed=0, hint=7200),
        apart(mechanism=NAMED, full=2, resumed=0, hint=7200),
    ),
    case(
        H2O,
        "one key file",
        with_key(h2o.Settings),
        shared(mechanism=NAMED, full=1, resumed=0, hint=7200),
        shared(mechanism=NAMED, full=2, resumed=0, hint=7200),
    ),
    case(
        H2O,
        "tickets off, cache",
        alone(h2o.Settings, tickets=False, cache=True),
        SESSION_ID,
        ids(full=2, resumed=1, hint=3600),
    ),
    case(
        CADDY,
        "keys of their own",
        alone(caddy.Settings),
        apart(mechanism=HIDDEN, full=1, resumed=1, hint=0),
        apart(mechanism=HIDDEN, full=1, resumed=1, hint=604800),
    ),
    case(
        CADDY,
        "one storage",
        caddy_storage,
        shared(mechanism=HIDDEN, full=1, resumed=1, hint=0),
        shared(mechanism=HIDDEN, full=1, resumed=1, hint=604800),
    ),
    case(CADDY, "tickets off", alone(caddy.Settings, tickets=False), NOTHING, NOTHING),
    case(
        TRAEFIK,
        "keys of their own",
        alone(traefik.Settings),
        apart(mechanism=HIDDEN, full=1, resumed=1, hint=0),
        apart(mechanism=HIDDEN, full=1, resumed=1, hint=604800),
    ),
    case(TRAEFIK, "tickets off", alone(traefik.Settings, tickets=False), NOTHING, NOTHING),
    case(
        ENVOY,
        "keys of their own",
        alone(envoy.Settings),
        apart(mechanism=NAMED, full=1, resumed=0, hint=7200),
        apart(mechanism=NAMED, full=2, resumed=2, hint=172800),
    ),
    case(
        ENVOY,
        "one key file",
        with_files(envoy.Settings),
        shared(mechanism=NAMED, full=1, resumed=0, hint=7200),
        shared(mechanism=NAMED, full=2, resumed=2, hint=172800),
    ),
    case(ENVOY, "tickets off, cache", alone(envoy.Settings, tickets=False), SESSION_ID, NOTHING),
    case(GRANIAN, "as it comes", alone(granian.Settings), SESSION_ID, ids(full=2, resumed=2, hint=86400)),
    case(
        NODE,
        "keys of their own",
        alone(node.Settings),
        apart(mechanism=NAMED, full=1, resumed=0, hint=7200),
        apart(mechanism=NAMED, full=2, resumed=0, hint=7200),
    ),
    case(
        NODE,
        "one key",
        with_key(node.Settings, 48),
        shared(mechanism=NAMED, full=1, resumed=0, hint=7200),
        shared(mechanism=NAMED, full=2, resumed=0, hint=7200),
    ),
    case(
        JAVA,
        "keys of their own",
        alone(java.Settings),
        apart(mechanism=SHORT, full=1, resumed=1, hint=86400),
        apart(mechanism=SHORT, full=1, resumed=1, hint=86400),
    ),
    case(
        JAVA,
        "tickets off, cache",
        alone(java.Settings, tickets=False),
        SESSION_ID,
        ids(full=1, resumed=1, hint=86400),
    ),
    case(
        HITCH,
        "keys of their own",
        alone(hitch.Settings, workers=2),
        apart(mechanism=NAMED, full=1, resumed=0, hint=7200),
        apart(mechanism=NAMED, full=2, resumed=1, hint=7200),
    ),
    case(
        STUNNEL,
        "keys of their own",
        alone(stunnel.Settings),
        apart(mechanism=NAMED, full=1, resumed=0, hint=300),
        apart(mechanism=NAMED, full=2, resumed=1, hint=300),
    ),
    case(
        STUNNEL,
        "one key",
        with_key(stunnel.Settings),
        shared(mechanism=None, keys=None, full=1, resumed=0, hint=300),
        shared(mechanism=None, keys=None, full=2, resumed=1, hint=300),
    ),
    case(
        STUNNEL,
        "tickets off, cache",
        alone(stunnel.Settings, tickets=False),
        SESSION_ID,
        ids(full=2, resumed=1, hint=300),
        slow=True,
    ),
    case(STUNNEL, "tickets off", alone(stunnel.Settings, tickets=False, resumption=False), NOTHING, NOTHING),
    case(
        LIGHTTPD,
        "OpenSSL, keys of their own",
        alone(lighttpd.Settings),
        apart(mechanism=NAMED, full=1, resumed=0, hint=7200),
        apart(mechanism=NAMED, full=2, resumed=0, hint=7200),
    ),
    case(
        LIGHTTPD,
        "OpenSSL, one key file",
        with_key(lighttpd.Settings),
        shared(mechanism=NAMED, full=1, resumed=0, hint=7200),
        shared(mechanism=NAMED, full=2, resumed=0, hint=7200),
    ),
    case(
        LIGHTTPD,
        "OpenSSL, tickets off",
        alone(lighttpd.Settings, tickets=False),
        NOTHING,
        dead_ids(full=2, hint=7200),
    ),
    case(
        LIGHTTPD,
        "mbedTLS, keys of their own",
        alone(lighttpd.Settings, library=Library.MBEDTLS),
        apart(mechanism=SHORT, full=1, resumed=0, hint=43200),
        NOT_SPOKEN,
    ),
    case(
        LIGHTTPD,
        "NSS, keys of their own",
        alone(lighttpd.Settings, library=Library.NSS),
        apart(mechanism=NAMED, full=1, resumed=0, hint=172800),
        apart(mechanism=NAMED, full=1, resumed=1, hint=172800),
    ),
    case(
        LIGHTTPD,
        "wolfSSL, keys of their own",
        alone(lighttpd.Settings, library=Library.WOLFSSL),
        apart(mechanism=NAMED, full=1, resumed=0, hint=300),
        apart(mechanism=NAMED, full=1, resumed=1, hint=300),
    ),
    case(
        LIGHTTPD,
        "wolfSSL, one key file",
        with_key(lighttpd.Settings, library=Library.WOLFSSL),
        shared(mechanism=NAMED, full=1, resumed=0, hint=300),
        shared(mechanism=NAMED, full=1, resumed=1, hint=300),
    ),
    case(
        GNUTLS,
        "keys of their own",
        alone(gnutls.Settings),
        apart(mechanism=NAMED, full=1, resumed=0, hint=21600),
        apart(mechanism=NAMED, full=2, resumed=2, hint=21600),
    ),
    case(GNUTLS, "tickets off, cache", alone(gnutls.Settings, tickets=False), SESSION_ID, NOTHING),
    case(GNUTLS, "tickets off", alone(gnutls.Settings, tickets=False, cache=False), NOTHING, NOTHING),
    case(
        S_SERVER,
        "keys of their own",
        alone(s_server.Settings),
        apart(mechanism=NAMED, full=1, resumed=0, hint=7200),
        apart(mechanism=NAMED, full=2, resumed=1, hint=7200),
    ),
    case(
        S_SERVER,
        "tickets off, cache",
        alone(s_server.Settings, tickets=False),
        SESSION_ID,
        ids(full=2, resumed=1, hint=7200),
    ),
    case(
        S_SERVER_EARLY,
        "keys of their own",
        alone(s_server.Settings, early_data=True),
        apart(mechanism=NAMED, full=1, resumed=0, hint=7200),
        ids(full=2, resumed=1, hint=7200, early_data=True),
    ),
)
