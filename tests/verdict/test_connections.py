"""Whether servers keep connections, and how that is told."""

from collections.abc import Sequence

import pytest

from exporter.model.connections import Announced, End, HttpAnswer, Reuse
from exporter.model.failure import Failure, Reason, Stage
from exporter.model.observation import Handshake, Observation, Timing, TimingSource, TlsFacts
from exporter.model.target import Address
from exporter.verdict.connections import ConnectionState, tell, verdict_on, verdicts_on
from tests.verdict.fleet import TLS13, address

A, B, C = (address(number) for number in range(1, 4))
OK = HttpAnswer(status=200, version="1.1", body_bytes=2, duration=0.001, keep_alive=True)
CLOSED = Failure(Stage.HTTP, Reason.CLOSED)
BOTH_KEEP = "keeps connections alive: 8 of 8 further requests were answered on 2 connections"


def reuse(
    answered: int, end: End, *, wanted: int | None = None, failure: Failure | None = None, goaway: int | None = None
) -> Reuse:
    """Make what came of further requests, by default one more than was answered where the connection ended."""
    attempts = answered + (end is not End.OWN_LIMIT) if wanted is None else wanted
    return Reuse(attempts, (OK,) * answered, end, failure, goaway)


KEPT = reuse(4, End.OWN_LIMIT)
CLOSING = reuse(0, End.CONNECTION_CLOSE)


def seen(further: Reuse | None, backend: Address = A, http: HttpAnswer | Failure | None = OK) -> Observation:
    """Make the observation of a connection."""
    timing = Timing(source=TimingSource.KERNEL, duration=0.001, wall=0.001)
    facts = TlsFacts(version=TLS13, cipher="c")
    return Observation(backend, TLS13, None, Handshake(facts, timing, http=http, reuse=further))


LOST = Observation(A, TLS13, None, Failure(Stage.CONNECT, Reason.TIMEOUT))


@pytest.mark.parametrize(
    ("further", "state", "text"),
    [
        pytest.param(
            KEPT,
            ConnectionState.KEPT_ALIVE,
            "keeps connections alive: 4 of 4 further requests were answered on one connection",
            id="kept alive",
        ),
        pytest.param(
            CLOSING,
            ConnectionState.CLOSES_EACH_TIME,
            "closes after each response: every request pays a handshake",
            id="Connection: close",
        ),
        pytest.param(
            reuse(0, End.HTTP_1_0),
            ConnectionState.CLOSES_EACH_TIME,
            "closes after each response, since it answers in HTTP/1.0: every request pays a handshake",
            id="HTTP/1.0",
        ),
        pytest.param(
            reuse(0, End.CLOSED),
            ConnectionState.CLOSES_EACH_TIME,
            "closes after each response, without having said so: every request pays a handshake",
            id="closed without a word",
        ),
        pytest.param(
            reuse(0, End.RESET),
            ConnectionState.CLOSES_EACH_TIME,
            "closes after each response, without having said so: every request pays a handshake",
            id="closed, and our request was reset",
        ),
        pytest.param(
            reuse(2, End.MAX_REQUESTS), ConnectionState.LIMITED, "closes after 3 requests", id="a limit of requests"
        ),
        pytest.param(
            reuse(2, End.GOAWAY, goaway=0),
            ConnectionState.LIMITED,
            "closes after 3 requests, with a GOAWAY",
            id="a friendly GOAWAY",
        ),
        pytest.param(
            reuse(0, End.GOAWAY, goaway=0),
            ConnectionState.CLOSES_EACH_TIME,
            "closes after each response, with a GOAWAY: every request pays a handshake",
            id="a GOAWAY at once",
        ),
        pytest.param(
            reuse(1, End.GOAWAY, goaway=2),
            ConnectionState.BREAKS,
            "gives up connections for a fault, by its GOAWAY",
            id="a GOAWAY for an internal error",
        ),
        pytest.param(
            reuse(1, End.IN_FLIGHT, failure=CLOSED),
            ConnectionState.BREAKS,
            "closes connections while a request is on its way, for which a proxy's client gets a 502",
            id="in flight",
        ),
        pytest.param(
            reuse(1, End.RESET, failure=Failure(Stage.HTTP, Reason.RESET)),
            ConnectionState.BREAKS,
            "resets connections on which a further request is made",
            id="reset within an answer",
        ),
        pytest.param(
            reuse(0, End.ERROR, failure=Failure(Stage.HTTP, Reason.MALFORMED)),
            ConnectionState.BREAKS,
            "gives no whole answer to a further request on a connection, or says more than it was asked",
            id="a broken answer",
        ),
    ],
)
def test_one_connection(further: Reuse, state: ConnectionState, text: str) -> None:
    """Each way in which a connection ends has its state and its words."""
    verdict = verdict_on([seen(further)])

    assert (state, further.end) == (verdict.state, verdict.end)
    assert (f"the server {text}",) == tell({A: verdict})


@pytest.mark.parametrize(
    ("observations", "expected"),
    [
        pytest.param([], ConnectionState.UNKNOWN, id="not seen"),
        pytest.param([LOST], ConnectionState.UNKNOWN, id="no handshake"),
        pytest.param([seen(None)], ConnectionState.NOT_ASKED, id="one request"),
        pytest.param([seen(None, http=None)], ConnectionState.NOT_ASKED, id="no request"),
        pytest.param([seen(reuse(0, End.OWN_LIMIT))], ConnectionState.NOT_ASKED, id="only a larger body"),
        pytest.param([seen(None, http=CLOSED)], ConnectionState.UNKNOWN, id="the first request broke"),
        pytest.param(
            [seen(reuse(0, End.ERROR, failure=Failure(Stage.PROBE, Reason.STARVED)))],
            ConnectionState.UNKNOWN,
            id="it broke by our own doing",
        ),
        pytest.param([seen(None), seen(KEPT), LOST], ConnectionState.KEPT_ALIVE, id="one of several tells"),
        pytest.param([seen(KEPT), seen(CLOSING)], ConnectionState.CLOSES_EACH_TIME, id="the worst of two"),
    ],
)
def test_what_is_known(observations: Sequence[Observation], expected: ConnectionState) -> None:
    """Nothing is concluded where nothing was asked, nor from what failed before or by our own doing."""
    assert expected is verdict_on(observations).state


def test_numbers() -> None:
    """Requests are added up over connections, and the limits of those in the state are told apart."""
    found = verdict_on([seen(KEPT), seen(reuse(2, End.MAX_REQUESTS)), seen(reuse(1, End.MAX_REQUESTS))])

    assert (3, 2, 2, 3, 9, 7) == (
        found.connections,
        found.alike,
        found.fewest,
        found.most,
        found.wanted,
        found.answered,
    )
    assert ("the server closes after 2 to 3 requests, seen on 2 of 3 connections",) == tell({A: found})


def test_announced_timeout() -> None:
    """What the server announces is told beside what it does; a later answer without it takes nothing back."""
    says = HttpAnswer(200, "1.1", 2, 0.001, keep_alive=True, announced=Announced(timeout=65))

    (text,) = tell({A: verdict_on([seen(KEPT, http=says), seen(KEPT)])})

    assert text.endswith(
        "8 of 8 further requests were answered on 2 connections; it says that it keeps an idle one for 65 s"
    )


@pytest.mark.parametrize(
    ("observations", "expected"),
    [
        pytest.param(
            [seen(CLOSING, backend) for backend in (A, B, C)],
            ["each of the 3 backends closes after each response: every request pays a handshake"],
            id="all alike",
        ),
        pytest.param(
            [seen(KEPT), seen(KEPT, B), seen(CLOSING, C)],
            [
                "127.0.0.3:443 closes after each response: every request pays a handshake",
                f"each of 127.0.0.1:443, 127.0.0.2:443 {BOTH_KEEP}",
            ],
            id="one closes",
        ),
        pytest.param(
            [seen(None), seen(None, B, CLOSED), seen(None, C)],
            [
                "127.0.0.2:443 has not shown what it does with further requests",
                "each of 127.0.0.1:443, 127.0.0.3:443 was not asked for more than one request on a connection",
            ],
            id="not asked, and not known",
        ),
    ],
)
def test_several_backends(observations: Sequence[Observation], expected: list[str]) -> None:
    """Those that are alike share a sentence, and the worst comes first."""
    assert expected == list(tell(verdicts_on((A, B, C), observations)))


def test_many_backends_are_not_all_named() -> None:
    """A sentence names four at the most."""
    many = [address(number) for number in range(1, 8)]
    observations = [seen(KEPT, backend) for backend in many[:6]] + [seen(CLOSING, many[6])]

    _, text = tell(verdicts_on(many, observations))

    assert "each of 127.0.0.1:443, 127.0.0.2:443, 127.0.0.3:443, 127.0.0.4:443 and 2 more keeps" in text
