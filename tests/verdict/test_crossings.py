"""How pairs of backends stand, and what is to be asked again."""

from collections.abc import Mapping

import pytest

from exporter.model.observation import Observation, Offer, Origin, Ticket, TlsFacts
from exporter.model.target import Address
from exporter.model.verdicts import Cause, Crossing, OfferOutcome
from exporter.verdict.crossings import Crossed, JudgedOffer, crossed, stand
from exporter.verdict.hints import speaks, standing_refusals
from exporter.verdict.history import EMPTY, History, Pair, Standing, VersionHistory
from exporter.verdict.keys import Keys
from tests.verdict.fleet import TLS12, TLS13, address, shaken

ONE, TWO, THREE = address(1), address(2), address(3)
PAIR = (ONE, TWO)
A, B = b"A" * 16, b"B" * 16
YES, NO, LOST = OfferOutcome.ACCEPTED, OfferOutcome.REFUSED, OfferOutcome.ERROR


def offered(outcome: OfferOutcome, cause: Cause | None = None, origin: Origin = Origin.PEER) -> JudgedOffer:
    """Make a judged offer of a ticket of the first backend's, of key A, to the second."""
    offer = Offer(ONE, origin, 1.0, Ticket(b"t", 300))
    seen = Observation(TWO, TLS13, offer, shaken(TlsFacts(version=TLS13, cipher="c")))
    return JudgedOffer(seen, offer, Crossing(ONE, TWO, outcome, A, None, cause), fresh=True)


def refused(cause: Cause = Cause.KEY, origin: Origin = Origin.PEER) -> JudgedOffer:
    """Make a refusal."""
    return offered(NO, cause, origin)


def keys(**current: bytes) -> Keys:
    """Name the keys with which the backends encrypt."""
    places = {"one": ONE, "two": TWO}
    return Keys(current={places[place]: name for place, name in current.items()})


OLD_NO = Standing(NO, 5, Cause.KEY, A, 2)
OLD_YES = Standing(YES, 5, offered_key=A)


@pytest.mark.parametrize(
    ("offers", "before", "names", "expected"),
    [
        pytest.param([], None, keys(), None, id="nothing"),
        pytest.param([offered(YES)], None, keys(), (YES, 0), id="accepted"),
        pytest.param([refused()], None, keys(), (NO, 1), id="refused"),
        pytest.param([refused(), refused()], None, keys(), (NO, 2), id="refused twice"),
        pytest.param([refused(), offered(YES)], None, keys(), (YES, 0), id="accepted at the second try"),
        pytest.param([offered(YES), refused()], None, keys(), (YES, 0), id="accepted at the first try"),
        pytest.param([refused()], OLD_NO, keys(), (NO, 3), id="refused again"),
        pytest.param([refused()], OLD_YES, keys(), (NO, 1), id="refused of a sudden"),
        pytest.param([offered(YES)], OLD_NO, keys(), (YES, 0), id="mended"),
        pytest.param([offered(LOST)], OLD_NO, keys(), (NO, 2), id="lost, so it stands"),
        pytest.param([offered(LOST)], None, keys(), None, id="lost, so nothing is known"),
        pytest.param([refused(Cause.EXPIRED)], None, keys(), None, id="expired says nothing"),
        pytest.param([refused(Cause.SINGLE_USE)], OLD_YES, keys(), (YES, 0), id="used up says nothing"),
        pytest.param([refused(origin=Origin.AGED)], None, keys(), None, id="aged says nothing of the pair"),
        pytest.param([refused()], None, keys(one=B), None, id="of a key that its issuer has left"),
        pytest.param([], OLD_NO, keys(one=A, two=A), None, id="stood refused, and the keys are equal now"),
        pytest.param([], OLD_NO, keys(one=A, two=B), (NO, 2), id="stands refused, and the keys differ"),
        pytest.param([], OLD_YES, keys(one=B), None, id="stood accepted, and the key is another now"),
        pytest.param([], OLD_YES, keys(one=A), (YES, 0), id="stands accepted"),
        pytest.param([], Standing(NO, 1, refusals=2), keys(), None, id="too long ago"),
        pytest.param([], Standing(NO, 3, refusals=2), keys(), (NO, 2), id="three rounds ago"),
    ],
)
def test_stand(
    offers: list[JudgedOffer], before: Standing | None, names: Keys, expected: tuple[OfferOutcome, int] | None
) -> None:
    """What a round shows of a pair stands until a later one shows otherwise, or it is too old."""
    standing = stand(offers, {} if before is None else {PAIR: before}, names, now=6, hold=3)

    found = standing.get(PAIR)
    assert expected == (None if found is None else (found.outcome, found.refusals))


@pytest.mark.parametrize(
    ("standing", "expected"),
    [
        pytest.param({PAIR: OLD_YES}, Crossed(accepted=frozenset({PAIR})), id="accepted"),
        pytest.param({PAIR: OLD_NO}, Crossed(refused=frozenset({PAIR})), id="refused twice"),
        pytest.param({PAIR: Standing(NO, 5, refusals=1)}, Crossed(doubted=frozenset({PAIR})), id="refused once"),
        pytest.param(
            {PAIR: Standing(NO, 5, refusals=1), PAIR[::-1]: Standing(NO, 5, refusals=1)},
            Crossed(refused=frozenset({PAIR, PAIR[::-1]})),
            id="once each way",
        ),
        pytest.param(
            {PAIR: Standing(NO, 5, refusals=1), PAIR[::-1]: OLD_YES},
            Crossed(accepted=frozenset({PAIR[::-1]}), doubted=frozenset({PAIR})),
            id="once, and the reverse accepted",
        ),
    ],
)
def test_crossed(standing: Mapping[Pair, Standing], expected: Crossed) -> None:
    """It takes two refusals between two backends to be sure."""
    assert crossed(standing) == expected


def history(standing: Mapping[Pair, Standing]) -> History:
    """Remember how pairs stand in TLS 1.3."""
    return History(5, {TLS13: VersionHistory(standing=standing)})


def test_standing_refusals() -> None:
    """Refused pairs of present backends are asked again, those first that were asked longest ago."""
    remembered = history(
        {
            (ONE, TWO): Standing(NO, 5),
            (TWO, ONE): Standing(NO, 4),
            (THREE, ONE): Standing(NO, 5),
            (ONE, THREE): Standing(YES, 3),
        }
    )

    assert standing_refusals(remembered, TLS13, [THREE, TWO, ONE]) == ((TWO, ONE), (ONE, TWO), (THREE, ONE))
    assert standing_refusals(remembered, TLS13, [ONE, TWO]) == ((TWO, ONE), (ONE, TWO))
    assert standing_refusals(remembered, TLS12, [ONE, TWO]) == ()
    assert standing_refusals(EMPTY, TLS13, [ONE, TWO]) == ()


def test_standing_refusals_are_bounded() -> None:
    """However many pairs stand refused, a round is asked for no more than four for each backend."""
    many: list[Address] = [address(number) for number in range(1, 33)]
    remembered = history({(one, other): Standing(NO, 5) for one in many for other in many if one != other})

    assert len(standing_refusals(remembered, TLS13, many)) == 4 * 32


def test_speaks_knows_nothing_of_strangers() -> None:
    """A backend that was never seen may speak anything."""
    assert speaks(EMPTY, ONE, TLS13) is None
