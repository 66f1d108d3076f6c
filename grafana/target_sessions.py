"""One target: its ticket keys, and what resumes."""

from grafana.alarms import threshold_series
from grafana.panels import Lanes, Lines, Panel
from grafana.queries import (
    EACH,
    EACH_TARGET,
    EACH_VERSION,
    ONE,
    ONE_BACKEND_TLS,
    ONE_TLS,
    Query,
    per_minute,
    share,
)
from grafana.tables import Column, Table
from grafana.words import BACKEND, TARGET, YES_IS_BAD

_BACKEND = "{{backend}}, TLS {{tls}}"
_VERSION = "TLS {{tls}}"
_OFF_MAJORITY = "target_backend_tls:tlsprobe_ticket_key_fingerprint:off_majority"
_HITS_BY_ORIGIN = "target_tls_origin:tlsprobe_resumptions_per_attempt:ratio_rate15m"

KEYS: tuple[Panel, ...] = (
    Lanes(
        title="Ticket key of each backend",
        description="The number of the key that each backend encrypts with, in order of first sight at the exporter"
        " that is chosen above: the same number and colour is the same key. In a rotation all lanes change colour one"
        " after the other; a lane that stays behind was forgotten. Where keys show no name, backends that accept each"
        " other's tickets count as having one key. Numbers are an exporter's own, and begin at 1 when it does.",
        queries=(
            Query(
                f'max by ({EACH}) (tlsprobe_ticket_key_group{{{ONE_BACKEND_TLS},instance="$seen_by"}})',
                _BACKEND,
            ),
        ),
        unit="none",
        by_value=True,
        width=24,
        height=9,
        runbooks=("TlsprobeTicketKeysSplit", "TlsprobeResumptionBrokenByRotation", "TlsprobeRotationWithoutOverlap"),
        absent="no keys can be told apart",
    ),
    Lanes(
        title="State of the target",
        description="How the backends stand to each other.",
        queries=(Query(TARGET.ranks(ONE_TLS, EACH_VERSION), _VERSION),),
        unit="none",
        mappings=(TARGET.mapping,),
        height=7,
        runbooks=("TlsprobeTicketKeysSplit", "TlsprobeResumptionGone"),
    ),
    Lanes(
        title="How each backend resumes",
        description="What each backend does with tickets of its own.",
        queries=(Query(BACKEND.ranks(ONE_BACKEND_TLS, EACH), _BACKEND),),
        unit="none",
        mappings=(BACKEND.mapping,),
        height=7,
    ),
    Table(
        title="Keys in use",
        description="A fingerprint is a salted hash of the key's name: equal in all exporters for equal keys. The age"
        " is that at the exporter that knows the key longest. Several keys behind one address come from several"
        " servers or processes there. If more than half of the backends share a key, those with another are marked.",
        queries=(
            Query(f"max by ({EACH}) (tlsprobe_ticket_key_fingerprint{{{ONE_BACKEND_TLS}}})"),
            Query(f"time() - min by ({EACH}) (tlsprobe_ticket_key_first_seen_timestamp_seconds{{{ONE_BACKEND_TLS}}})"),
            Query(f"max by ({EACH}) (tlsprobe_ticket_keys_seen{{{ONE_BACKEND_TLS}}})"),
            Query(f"max by ({EACH}) (tlsprobe_ticket_key_census_keys{{{ONE_BACKEND_TLS}}})"),
            Query(f"max by ({EACH}) (tlsprobe_ticket_key_weak{{{ONE_BACKEND_TLS}}})"),
            Query(f"max by ({EACH}) (tlsprobe_ticket_lifetime_seconds{{{ONE_BACKEND_TLS}}})"),
            Query(f"max by ({EACH}) (tlsprobe_ticket_max_early_data_bytes{{{ONE_BACKEND_TLS}}})"),
            Query(f"max by ({EACH}) ({_OFF_MAJORITY}{{{ONE_BACKEND_TLS}}})"),
        ),
        columns=(
            Column(title="Fingerprint", unit="hex"),
            Column(title="Age", unit="s"),
            Column(title="Keys so far"),
            Column(title="Keys at the address"),
            Column(title="Can be guessed", mappings=(YES_IS_BAD,)),
            Column(title="Promised life", unit="s"),
            Column(title="Early data", unit="bytes"),
            Column(title="Other than most", mappings=(YES_IS_BAD,)),
        ),
        order=("cluster", "namespace", "target", "backend", "tls"),
        width=16,
        runbooks=("TlsprobeTicketKeyWeak", "TlsprobeTicketLifetimeTooLong", "TlsprobeEarlyDataOffered"),
    ),
    Lines(
        title="Age of the oldest key",
        description="How long a backend has encrypted with the same key at least, and the age that was promised.",
        queries=(
            Query(
                f"time() - min by ({EACH_VERSION}) (tlsprobe_ticket_key_first_seen_timestamp_seconds{{{ONE_TLS}}})",
                _VERSION,
            ),
            Query(f"max by ({EACH_TARGET}) (tlsprobe_expect_rotation_seconds{{{ONE}}})", "promised", is_threshold=True),
        ),
        unit="s",
        width=8,
        runbooks=("TlsprobeTicketKeyOld",),
    ),
)

SESSIONS: tuple[Panel, ...] = (
    Lines(
        title="Sessions that resume, by origin",
        description="The share of offered sessions that were resumed, by who had issued them: `self` the same backend,"
        " `peer` another one, `aged` the same backend some time ago, `departed` one that has left. Keys that are not"
        " shared show in `peer` alone.",
        queries=(
            Query(f"{_HITS_BY_ORIGIN}{{{ONE_TLS}}}", "{{origin}}, TLS {{tls}}"),
            Query(threshold_series("resumption_ratio"), "alert", is_threshold=True),
        ),
        unit="percentunit",
        most=1,
        runbooks=("TlsprobeResumptionRateLow", "TlsprobeResumptionUnwanted"),
    ),
    Lines(
        title="Sessions that resume, by backend",
        description="The same by the backend that was asked, whoever had issued the session.",
        queries=(
            Query(
                share(
                    f"tlsprobe_resumptions_total{{{ONE_BACKEND_TLS}}}",
                    f"tlsprobe_resumption_attempts_total{{{ONE_BACKEND_TLS}}}",
                    EACH,
                ),
                _BACKEND,
            ),
        ),
        unit="percentunit",
        most=1,
    ),
    Lines(
        title="Sessions refused a minute",
        description="Offered sessions that were answered by a full handshake, by the likely cause.",
        queries=(
            Query(
                per_minute("tls, cause", f"tlsprobe_resumption_refusals_total{{{ONE_TLS}}}"), "{{cause}}, TLS {{tls}}"
            ),
        ),
        unit="none",
        stacked=True,
        absent="none refused",
    ),
    Lines(
        title="How long tickets live, against what was promised",
        description="Ages as shares of the lifetime hint: the greatest at which a ticket of the present key was"
        " accepted, and the least at which one was refused though its key had not changed. The dashed line is what"
        " was promised.",
        queries=(
            Query(
                f"max by ({EACH}) (tlsprobe_ticket_oldest_accepted_seconds{{{ONE_BACKEND_TLS}}}"
                f" / tlsprobe_ticket_lifetime_seconds{{{ONE_BACKEND_TLS}}})",
                f"{_BACKEND}: accepted",
            ),
            Query(
                f"min by ({EACH}) (tlsprobe_ticket_youngest_refused_seconds{{{ONE_BACKEND_TLS}}}"
                f" / tlsprobe_ticket_lifetime_seconds{{{ONE_BACKEND_TLS}}})",
                f"{_BACKEND}: refused",
            ),
            Query(
                f"max by ({EACH_TARGET}) (tlsprobe_expect_ticket_life_ratio{{{ONE}}})", "promised", is_threshold=True
            ),
        ),
        unit="percentunit",
        runbooks=("TlsprobeTicketsDieEarly",),
        absent="no ticket is old enough yet",
    ),
    Lines(
        title="Tickets received a minute",
        description="By backend, and those sessions that the TLS library did not offer, such as expired ones.",
        queries=(
            Query(per_minute("backend, tls", f"tlsprobe_tickets_received_total{{{ONE_BACKEND_TLS}}}"), _BACKEND),
            Query(per_minute("tls", f"tlsprobe_tickets_not_offered_total{{{ONE_TLS}}}"), "not offered, TLS {{tls}}"),
        ),
        unit="none",
    ),
    Lines(
        title="Sessions of other targets that were accepted a minute",
        description="Session state that is shared with another target; there only where `share_with` asks for it.",
        queries=(
            Query(
                per_minute("issuer_target, tls", f"tlsprobe_foreign_tickets_accepted_total{{{ONE_TLS}}}"),
                "of {{issuer_target}}, TLS {{tls}}",
            ),
            Query(
                per_minute("issuer_target, tls", f"tlsprobe_foreign_ticket_attempts_total{{{ONE_TLS}}}"),
                "offers of {{issuer_target}}, TLS {{tls}}",
            ),
        ),
        unit="none",
        absent="not asked for",
    ),
)
