"""One target: its ticket keys, sessions, handshakes, connections and certificates."""

from grafana import links
from grafana.frame import Frame, Section, chosen, versions
from grafana.queries import ONE, PLACE
from grafana.target_connections import CERTIFICATES, CONNECTIONS, TROUBLE
from grafana.target_handshakes import COST, HANDSHAKES
from grafana.target_now import NOW
from grafana.target_sessions import KEYS, SESSIONS

FRAME = Frame(
    uid=links.TARGET,
    title="TLS target",
    description="One target: who shares a ticket key with whom, what resumes, what handshakes cost, how long things"
    " live.",
    variables=(
        chosen(
            "target",
            "Target",
            f'label_values(tlsprobe_interval_seconds{{{PLACE},target!="reference"}}, target)',
            several=False,
        ),
        chosen("backend", "Backend", f"label_values(tlsprobe_success{{{ONE}}}, backend)"),
        versions(),
        chosen(
            "seen_by", "Keys as seen by", f"label_values(tlsprobe_interval_seconds{{{ONE}}}, instance)", several=False
        ),
    ),
    sections=(
        Section("Now", NOW),
        Section("Ticket keys", KEYS),
        Section("Sessions", SESSIONS),
        Section("Handshakes", HANDSHAKES),
        Section("What goes over the wire", COST),
        Section("Connections", CONNECTIONS),
        Section("Certificates", CERTIFICATES),
        Section("Trouble", TROUBLE),
    ),
    marked=ONE,
)
