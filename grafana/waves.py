"""Connections and waves: what is kept alive, and whether the servers left would bear all clients at once."""

from grafana import links
from grafana.alarms import threshold_series
from grafana.frame import Frame, Section, chosen
from grafana.panels import Lines, Number, Panel
from grafana.queries import EACH_BACKEND, EACH_TARGET, EACH_VERSION, FLEET, PLACE, Query, highest, lowest, per_minute
from grafana.tables import Column, Table

_WHERE = "cluster, namespace"
_HITS = "target_tls:tlsprobe_resumptions_per_attempt:ratio_rate15m"
_LOAD = "target_tls:tlsprobe_wave_load:ratio_rate15m"
_LOAD_OF = "namespace_mode:tlsprobe_wave_load:ratio"
_NAME = "{{namespace}} {{target}}, TLS {{tls}}"
_WINDOW = f"max by ({_WHERE}) (tlsprobe_wave_window_seconds{{{PLACE}}})"
_CLIENTS = f"max by ({_WHERE}) (tlsprobe_wave_clients{{{PLACE}}})"
_SERVERS = f"max by ({_WHERE}) (tlsprobe_wave_servers{{{PLACE}}})"
_BEARABLE = ((None, "green"), (0.8, "orange"), (1, "red"))
_WINDOWS = (60, 10, 5, 2, 1)
_UNSET = "no wave is configured"


def _load_within(seconds: int) -> Query:
    """Return the load of each server if the same clients came back within so many seconds, at the live rate."""
    return Query(f"max by ({EACH_TARGET}) ({_LOAD}{{{FLEET}}})\n* on ({_WHERE}) group_left ()\n{_WINDOW} / {seconds}")


_CONFIGURED: tuple[Panel, ...] = (
    Number(
        title="Clients",
        description="Clients that may all come back at once, as configured (`wave`): after a restart, a failover, or a"
        " ticket key that was lost.",
        queries=(Query(_CLIENTS),),
        unit="short",
        absent=_UNSET,
    ),
    Number(
        title="Servers left",
        description="Servers that would be left to take them, as configured.",
        queries=(Query(_SERVERS),),
        unit="none",
        absent=_UNSET,
    ),
    Number(
        title="Window",
        description="Within which all of the clients come back, as configured.",
        queries=(Query(_WINDOW),),
        unit="s",
        absent=_UNSET,
    ),
    Number(
        title="Offered to each server",
        description="New connections a second: clients over servers and window.",
        queries=(Query(f"{_CLIENTS}\n/ on ({_WHERE}) {_SERVERS}\n/ on ({_WHERE}) {_WINDOW}"),),
        unit="cps",
        absent=_UNSET,
    ),
    Number(
        title="Ceiling of a server",
        description="Handshakes a second that one server sustains, as configured; `tlsprobe capacity` measures it.",
        queries=(
            Query(f"min by ({_WHERE}, mode) (tlsprobe_wave_ceiling_handshakes_per_second{{{PLACE}}})", "{{mode}}"),
        ),
        unit="cps",
        absent=_UNSET,
    ),
    Number(
        title="Load if nobody resumes, or all do",
        description="Of each server's ceiling. Nobody resumes after a change of key without overlap.",
        queries=(Query(f"{_LOAD_OF}{{{PLACE}}}", "{{mode}}"),),
        unit="percentunit",
        steps=_BEARABLE,
        absent=_UNSET,
    ),
)

_HEADROOM: tuple[Panel, ...] = (
    Lines(
        title="Load of each server in a wave, the highest",
        description="With the share of sessions that resumes at the target now. Above 100 % the servers that are left"
        " do not bear it. It needs the ceilings of full and of resumed handshakes.",
        queries=(
            Query(highest(f"{_LOAD}{{{FLEET}}}", EACH_VERSION), _NAME),
            Query(f'{_LOAD_OF}{{{PLACE},mode="full"}}', "nobody resumes", is_threshold=True),
        ),
        unit="percentunit",
        runbooks=("TlsprobeResumptionGone",),
        absent=_UNSET,
    ),
    Lines(
        title="Sessions that resume, the lowest",
        description="The live rate that the load is reckoned with; the dashed line is the alert's.",
        queries=(
            Query(lowest(f"{_HITS}{{{FLEET}}}", EACH_VERSION), _NAME),
            Query(threshold_series("resumption_ratio"), "alert", is_threshold=True),
        ),
        unit="percentunit",
        most=1,
        runbooks=("TlsprobeResumptionRateLow",),
    ),
    Table(
        title="How fast may they come back?",
        description="The load of each server if the same clients came back within other windows, at the live rate, and"
        " the shortest window that the servers left bear.",
        queries=(
            *map(_load_within, _WINDOWS),
            Query(f"max by ({EACH_TARGET}) ({_LOAD}{{{FLEET}}})\n* on ({_WHERE}) group_left ()\n{_WINDOW}"),
        ),
        columns=(
            *(Column(title=f"{seconds} s", unit="percentunit", steps=_BEARABLE, decimals=0) for seconds in _WINDOWS),
            Column(title="Shortest bearable", unit="s", decimals=1),
        ),
        worst="Shortest bearable",
        order=("cluster", "namespace", "target"),
        cells={"target": (links.to_target(),)},
        absent=_UNSET,
    ),
)

_KEPT: tuple[Panel, ...] = (
    Lines(
        title="Requests that need no new connection, the lowest",
        description="The share of the exporter's requests that went over a connection already open.",
        queries=(
            Query(
                lowest(f"target:tlsprobe_http_reused_per_request:ratio_rate15m{{{FLEET}}}", EACH_TARGET),
                "{{namespace}} {{target}}",
            ),
        ),
        unit="percentunit",
        most=1,
        runbooks=("TlsprobeKeepaliveBroken",),
    ),
    Lines(
        title="Further requests that find their connection open, the lowest",
        description="By backend. Where it is low, clients handshake for each request, and a wave never ends. The"
        " dashed line is the alert's.",
        queries=(
            Query(
                lowest(f"target_backend:tlsprobe_http_reuses_per_attempt:ratio_rate15m{{{FLEET}}}", EACH_BACKEND),
                "{{namespace}} {{target}}, {{backend}}",
            ),
            Query(threshold_series("reuse_ratio"), "alert", is_threshold=True),
        ),
        unit="percentunit",
        most=1,
        runbooks=("TlsprobeKeepaliveBroken",),
    ),
    Lines(
        title="How connections ended, a minute",
        description="`goaway` and `connection_close` are goodbyes; `closed`, `reset` and `in_flight` are not.",
        queries=(Query(per_minute("reason", f"tlsprobe_http_connection_ends_total{{{FLEET}}}"), "{{reason}}"),),
        unit="none",
        stacked=True,
        width=8,
        absent="none ended",
    ),
    Lines(
        title="Shortest idle time that closed a connection",
        description="By target. One idle timeout everywhere brings waves of its own; one below the clients' own makes"
        " them send into closed connections.",
        queries=(
            Query(
                f"min by ({EACH_TARGET}) (tlsprobe_keepalive_idle_died_seconds{{{FLEET}}})", "{{namespace}} {{target}}"
            ),
        ),
        unit="s",
        width=8,
        runbooks=("TlsprobeIdleTimeoutShort",),
        absent="none was found closed",
    ),
    Lines(
        title="How backends left, in the time shown",
        description="Held connections of backends that left: `drained` with a goodbye, `dropped` without one, or"
        " `alive` to the end. A deploy that drops brings a wave.",
        queries=(
            Query(
                f"sum by (farewell) (max by ({EACH_TARGET}, farewell) "
                f"(increase(tlsprobe_backend_farewells_total{{{FLEET}}}[$__range])))",
                "{{farewell}}",
            ),
        ),
        unit="none",
        width=8,
    ),
)

FRAME = Frame(
    uid=links.WAVES,
    title="TLS connections and waves",
    description="What connections are kept, and whether the servers that are left would bear all clients at once.",
    variables=(
        chosen(
            "target",
            "Target",
            f'label_values(tlsprobe_interval_seconds{{{PLACE},target!="reference"}}, target)',
        ),
    ),
    sections=(
        Section("A wave, as configured", _CONFIGURED),
        Section("Headroom", _HEADROOM),
        Section("Connections", _KEPT),
    ),
    marked=FLEET,
)
