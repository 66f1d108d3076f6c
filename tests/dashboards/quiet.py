"""Queries that rightly have no data while three nginx stand behind a name and two of them get a key of their own."""

from collections.abc import Mapping

NEVER: Mapping[str, str] = {
    "tlsprobe-fleet: mark: Began anew": "the exporter runs all the time",
    "tlsprobe-target: mark: Began anew": "the exporter runs all the time",
    "tlsprobe-waves: mark: Began anew": "the exporter runs all the time",
    "tlsprobe-target: How long tickets live, against what was promised B": "tickets are refused for their key alone",
    "tlsprobe-target: Keys in use G": "nginx offers no early data here",
    "tlsprobe-target: Left until the next OCSP answer is due A": "the certificates have no responder to staple from",
    "tlsprobe-target: Round trips B": "nginx takes the key share that is offered",
    "tlsprobe-target: Tickets received a minute B": "no ticket is old enough to have expired",
}
"""By the query's name, with the reason."""

PERHAPS: Mapping[str, str] = {
    "tlsprobe-exporter: Handshakes with the reference: half are faster A": "a rate needs two samples, a minute apart",
    "tlsprobe-exporter: Failures that are the exporter's own, a minute A": "a machine without time makes some",
    "tlsprobe-exporter: Rounds a minute B": "rounds are left out where the machine is slow",
    "tlsprobe-exporter: Trouble with the reference, a minute A": "a sample fails where the machine is slow",
    "tlsprobe-exporter: Trouble with the reference, a minute B": "a slow machine may have some",
    "tlsprobe-exporter: Trouble with the reference, a minute C": "a server that hangs is replaced",
    "tlsprobe-target: Failures a minute A": "nginx that changes its workers may drop a connection",
    "tlsprobe-target: Handshakes left out a minute A": "what disturbs a handshake is the machine's business",
}
"""The same of those that may have data or none, as the machine will have it."""
