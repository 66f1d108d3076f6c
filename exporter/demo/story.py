"""What happens to the fleet, when, and what should be seen of it."""

from dataclasses import dataclass

from exporter.demo.fleet import HOSTS, Order
from exporter.model.target import TlsVersion
from exporter.model.verdicts import TargetState

_INTERVAL, _SHORTEST_INTERVAL = 2.0, 1.0  # seconds
_GRACE = 4  # rounds
_SETTLING = 4  # rounds, beyond the grace
LENGTH = 120.0
FIRST_KEY = "key 1"
_EVERYBODY = range(len(HOSTS))
_FORGOTTEN = len(HOSTS) - 1
_OTHERS = range(_FORGOTTEN)


@dataclass(frozen=True, slots=True)
class Pace:
    """How long things take, in seconds.

    Attributes:
        speed: how many times as fast as it is written the story is told.
        interval: from one round of the exporter to the next.
        grace: after a change of key, in which backends may differ.
        settling: after which a rotation is over, so that the exporter takes a further change for a new one.
    """

    speed: float
    interval: float
    grace: float
    settling: float


def pace_of(speed: float) -> Pace:
    """Return the pace of a story that is told so many times as fast; rounds cannot follow each other at any pace."""
    interval = max(_SHORTEST_INTERVAL, _INTERVAL / speed)
    return Pace(speed, interval, _GRACE * interval, (_GRACE + _SETTLING) * interval)


@dataclass(frozen=True, slots=True)
class Step:
    """One turn of the story.

    Attributes:
        at: seconds from the beginning, at speed 1.
        happens: what is done, for people.
        look: where to look, and at what.
        orders: given one after another.
        pause: seconds between them, at speed 1.
        state: that must be seen then, of each TLS version.
        odd: numbers of the backends that must stand out then.
        whole: whether tickets must have lived through all of it so far.
        settled: whether it waits until the change before it is over.
        deaths: how often its orders must have killed tickets within their life, once for each backend, key and version.
    """

    at: float
    happens: str
    look: str
    state: TargetState
    orders: tuple[Order, ...] = ()
    pause: float = 0.0
    odd: tuple[int, ...] = ()
    whole: bool = False
    settled: bool = False
    deaths: int = 0


STORY = (
    Step(
        0,
        "Three backends encrypt their session tickets with one key.",
        "The matrix is green: everybody accepts everybody's tickets.",
        TargetState.CONSISTENT,
    ),
    Step(
        12,
        "The key is rotated as it should be: all learn to accept key 2, and then one after another begins to use it.",
        "The lanes change colour one by one, and no ticket dies.",
        TargetState.ROTATING,
        orders=(
            *(Order(backend, FIRST_KEY, ("key 2",)) for backend in _EVERYBODY),
            Order(0, "key 2", (FIRST_KEY,)),
        ),
        whole=True,
    ),
    Step(
        18,
        "The other two follow.",
        "All lanes have the new colour. Old tickets are still accepted: that is what an overlap is for.",
        TargetState.CONSISTENT,
        orders=tuple(Order(backend, "key 2", (FIRST_KEY,)) for backend in (1, 2)),
        pause=5.0,
        whole=True,
    ),
    Step(
        40,
        "The next rotation reaches two backends. The third is forgotten.",
        "For as long as a rotation may take, the state is rotating: two lanes have a new colour, one has not.",
        TargetState.ROTATING,
        orders=tuple(Order(backend, "key 3", ("key 2", FIRST_KEY)) for backend in _OTHERS),
        settled=True,
    ),
    Step(
        54,
        "Nobody notices, and the time that a rotation may take is over.",
        "The forgotten backend stands out: it refuses the others' new tickets, while they still accept its own.",
        TargetState.ONE_WAY,
        odd=(_FORGOTTEN,),
    ),
    Step(
        66,
        "The two backends drop the old keys, as planned.",
        "Now neither side accepts the other's tickets: the fleet is split. Returning clients pay for full handshakes.",
        TargetState.SPLIT,
        orders=tuple(Order(backend, "key 3") for backend in _OTHERS),
        odd=(_FORGOTTEN,),
    ),
    Step(
        84,
        "The forgotten backend gets the new key, and all accept the old ones for a while.",
        "The matrix is green again, and so is every lane's end.",
        TargetState.CONSISTENT,
        orders=tuple(Order(backend, "key 3", ("key 2", FIRST_KEY)) for backend in (_FORGOTTEN, *_OTHERS)),
    ),
    Step(
        101,
        "All are reloaded with key 4 at once, and none keeps the old one.",
        "The matrix is green, yet all older tickets are dead. The alert TlsprobeResumptionBrokenByRotation tells it.",
        TargetState.CONSISTENT,
        orders=tuple(Order(backend, "key 4") for backend in _EVERYBODY),
        settled=True,
        deaths=len(HOSTS) * len(TlsVersion),
    ),
)


@dataclass(frozen=True, slots=True)
class Sight:
    """What the exporter says of the fleet.

    Attributes:
        states: of each TLS version, empty before the first round.
        odd: backends against the others, in any version.
        breaks: how often tickets died within their life.
    """

    states: dict[TlsVersion, TargetState]
    odd: frozenset[str]
    breaks: int

    def shows(self, step: Step, addresses: tuple[str, ...], deaths: int = 0) -> bool:
        """Tell whether this is what a step wants to be seen; `deaths` is of before its orders."""
        stand_out = frozenset(addresses[number] for number in step.odd)
        as_told = bool(self.states) and set(self.states.values()) == {step.state} and self.odd == stand_out
        return as_told and self.breaks - deaths >= step.deaths
