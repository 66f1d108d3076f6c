"""The servers, and what their documentation and source say of their tickets."""

from tests.interop.case import Product
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
from tests.servers.lighttpd import Library

_GO = (
    "Go gives one ticket on each connection, for seven days in TLS 1.3 and without a promise in TLS 1.2. From Go 1.21"
    " on a ticket shows no key name."
)

NGINX = Product(
    name="nginx",
    programs=("nginx",),
    start=nginx.start,
    ask=("nginx", "-v"),
    note="The lifetime is `ssl_session_timeout`. With `ssl_session_tickets off` TLS 1.3 tickets go on, but only name a"
    " session; without a cache there is none, and nginx gives tickets that it never takes.",
)
HAPROXY = Product(
    name="HAProxy",
    programs=("haproxy",),
    start=haproxy.start,
    ask=("haproxy", "-v"),
    note="With `tls-ticket-keys` a resumed TLS 1.3 connection brings no new ticket. `allow-0rtt` offers early data.",
)
APACHE = Product(
    name="Apache httpd",
    programs=("apache2",),
    start=apache.start,
    ask=("apache2", "-v"),
    note="The lifetime is `SSLSessionCacheTimeout`. With `SSLSessionTicketKeyFile` a resumed TLS 1.3 connection brings"
    " no new ticket.",
)
H2O = Product(
    name="H2O",
    programs=("h2o",),
    start=h2o.start,
    ask=("h2o", "--version"),
    note="Tickets are OpenSSL's, whose own lifetime they keep whatever H2O's is. A resumed TLS 1.3 connection brings"
    " no new one.",
)
CADDY = Product(
    name="Caddy",
    programs=("caddy",),
    start=caddy.start,
    ask=("caddy", "version"),
    note=f"{_GO} Caddys with one storage and the `distributed` key source share their keys.",
)
TRAEFIK = Product(
    name="Traefik",
    programs=("traefik",),
    start=traefik.start,
    ask=("traefik", "version"),
    note=f"{_GO} There is no setting for a shared key.",
)
ENVOY = Product(
    name="Envoy",
    programs=("envoy",),
    start=envoy.start,
    ask=("envoy", "--version"),
    note="BoringSSL sends TLS 1.3 tickets with the first bytes that it writes: an answer, or its own close_notify. With"
    " `disable_stateless_session_resumption` TLS 1.2 keeps sessions in memory, and TLS 1.3 does not resume.",
)
GRANIAN = Product(
    name="Granian",
    programs=("granian",),
    start=granian.start,
    ask=("granian", "--version"),
    note="rustls without a ticketer keeps sessions in memory. A TLS 1.3 ticket is good for one use, a TLS 1.2 session"
    " id for many.",
)
NODE = Product(
    name="Node",
    programs=("node",),
    start=node.start,
    ask=("node", "--version"),
    note="Tickets have OpenSSL's lifetime of two hours. A resumed TLS 1.3 connection brings no new one. Servers with"
    " one `ticketKeys` need one `sessionIdContext`, too.",
)
JAVA = Product(
    name="Java",
    programs=("javac",),
    start=java.start,
    ask=("javac", "-version"),
    note="JSSE names its keys by a counter of four bytes, which begins somewhere in each process. It hangs up without"
    " close_notify.",
)
HITCH = Product(
    name="Hitch",
    programs=("hitch",),
    start=hitch.start,
    ask=("hitch", "--version"),
    note="The workers of one Hitch have a key in common; there is no setting for it. HTTP is that of the server"
    " behind.",
)
STUNNEL = Product(
    name="stunnel",
    programs=("stunnel4",),
    start=stunnel.start,
    ask=("stunnel4", "-version"),
    note="The lifetime is `sessionCacheTimeout`. With `ticketKeySecret` the key's name is not set, and what is sent in"
    " its place is whatever lay in memory: it changes while the key stays, so that only acceptance tells. With tickets"
    " off, the second of two TLS 1.3 tickets is good and the first never is. HTTP is that of the server behind.",
)
LIGHTTPD = Product(
    name="lighttpd",
    programs=tuple(library.file for library in Library),
    start=lighttpd.start,
    ask=("lighttpd", "-v"),
    note="With OpenSSL a resumed TLS 1.3 connection brings no new ticket, and `-SessionTicket` leaves TLS 1.3 tickets"
    " that are never taken. `ssl.stek-file` is a shared key for OpenSSL and wolfSSL alone. mbedTLS 2.28 speaks TLS 1.2"
    " alone and tells so by a `handshake_failure` alert.",
)
GNUTLS = Product(
    name="gnutls-serv",
    programs=("gnutls-serv",),
    start=gnutls.start,
    ask=("gnutls-serv", "--version"),
    note="The lifetime is six hours, and a resumed TLS 1.3 connection brings two tickets like a full one.",
    http=("1.0", False),
    wildcard=True,
)
S_SERVER = Product(
    name="openssl s_server",
    programs=("openssl",),
    start=s_server.start,
    ask=("openssl", "version"),
    note="This is OpenSSL by itself: a lifetime of two hours, and two tickets after a full TLS 1.3 handshake, one after"
    " a resumed one.",
    http=("1.0", False),
)
S_SERVER_EARLY = Product(
    name="openssl s_server -early_data",
    programs=("openssl",),
    start=s_server.start,
    ask=("openssl", "version"),
    note="Against replays of early data OpenSSL keeps TLS 1.3 sessions in memory, and takes each ticket once. It"
    " answers no request here.",
    http=None,
)
