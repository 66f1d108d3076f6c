"""Rows about handshakes, made of passes."""

from collections.abc import Callable, Sequence

from exporter.model.bench import HandshakeRow, Role, Spread
from exporter.model.observation import Mode
from exporter.model.yardstick import Pass, Shake
from exporter.yardstick.spread import summarise

_Figure = Callable[[Shake], float]


def tabulate(roles: Sequence[Role], passes: Sequence[Sequence[Pass]]) -> tuple[HandshakeRow, ...]:
    """Return a row for each role and mode.

    Args:
        roles: whose passes stand where in each of `passes`; ECDSA is the first.
    """
    rows = []
    for number, role in enumerate(roles):
        own = [each[number] for each in passes]
        ecdsa = [each[0] for each in passes]
        rows += [_row(role, mode, own, ecdsa) for mode in (shake.mode for shake in own[0].shakes)]
    return tuple(rows)


def _row(role: Role, mode: Mode, own: Sequence[Pass], ecdsa: Sequence[Pass]) -> HandshakeRow:
    made = [_of(each, mode) for each in own]
    other = role is not Role.ECDSA
    # Where none is as it was meant, as in the control, what there was instead is still worth telling.
    kept = [shake for shake in made if shake.as_meant] or made
    full = mode is Mode.FULL
    return HandshakeRow(
        role=role,
        key_type=own[0].kind.key_type,
        tls=own[0].kind.tls,
        mode=mode,
        asked=sum(shake.asked for shake in made),
        resumed=sum(shake.resumed for shake in made),
        client_seconds=summarise([shake.seconds for shake in kept]),
        server_cpu_seconds=summarise([shake.cpu for shake in kept]),
        cpu_to_full=None if full else _compare(_cpu, made, [_of(each, Mode.FULL) for each in own]),
        time_to_full=None if full else _compare(_seconds, made, [_of(each, Mode.FULL) for each in own]),
        cpu_to_ecdsa=_compare(_cpu, made, [_of(each, Mode.FULL) for each in ecdsa]) if full and other else None,
    )


def _of(one: Pass, mode: Mode) -> Shake:
    return next(shake for shake in one.shakes if shake.mode is mode)


def _compare(figure: _Figure, made: Sequence[Shake], base: Sequence[Shake]) -> Spread | None:
    pairs = zip(made, base, strict=True)
    ratios = [figure(one) / figure(other) for one, other in pairs if one.as_meant and other.as_meant]
    return summarise(ratios) if ratios else None


def _cpu(shake: Shake) -> float:
    return shake.cpu


def _seconds(shake: Shake) -> float:
    return shake.seconds
