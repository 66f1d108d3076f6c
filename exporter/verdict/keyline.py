"""The ticket keys with which one backend encrypts, as they follow each other.

A key that takes another's place shows as AAAABBBB, several keys behind one address as ABAB: a change is sure only when
chance would hardly bring it about.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

_SURE = 12  # connections: two keys in equal shares do this by chance once in 2 ** 12 times
_SUPPORT = 3
_ENOUGH = 64
_RUNS_KEPT = 8
_PAST_KEPT = 8
_WINDOW = 8  # rounds


@dataclass(frozen=True, slots=True)
class Run:
    """A stretch of tickets of one key.

    Attributes:
        last: the number of the round that showed it last.
    """

    name: bytes = field(repr=False)
    last: int


@dataclass(frozen=True, slots=True)
class KeyLine:
    """What is remembered of the names that a backend's tickets bore.

    Attributes:
        name: of the key that it is settled on; None where none was visible so far.
        streak: how many connections in a row spoke for that key, before another one showed.
        rival: another key, which takes its place or is just one of several.
        support: how many connections have spoken for the rival alone.
        runs: the last ones, the newest last.
        firm: chance alone would hardly have shown that key for so long, or the change to it.
        past: names of the keys that it was settled on before.
        returns: numbers of those of the last rounds in which a key came back that another one had followed.
    """

    name: bytes | None = field(default=None, repr=False)
    streak: int = 0
    rival: bytes | None = field(default=None, repr=False)
    support: int = 0
    runs: tuple[Run, ...] = ()
    returns: tuple[int, ...] = ()
    firm: bool = False
    past: tuple[bytes, ...] = field(default=(), repr=False)

    @property
    def several(self) -> bool:
        """Whether keys come back again and again, as of servers that take turns."""
        return len(self.returns) > 1


def follow(line: KeyLine, issued: Sequence[bytes], accepted: Iterable[bytes], number: int) -> KeyLine:
    """Follow the keys through one round.

    Args:
        line: what was remembered.
        issued: name of the key of each connection that brought a ticket, in order.
        accepted: names of the keys of the tickets that were accepted.
        number: the round's.
    """
    runs, returned = _run(line.runs, issued, number)
    returns = tuple(then for then in line.returns if number - then < _WINDOW) + ((number,) if returned else ())
    name, streak, rival, support, firm = line.name, line.streak, line.rival, line.support, line.firm
    for one in issued:
        if name is None or one == name:
            firm = firm and rival is None
            name, streak, rival, support = one, min(streak + 1, _ENOUGH) if rival is None else 1, None, 0
        else:
            rival, support = one, support + 1 if one == rival else 1
    backing = sum(one == (rival or name) for one in accepted)
    streak, support = (streak + backing, support) if rival is None else (streak, support + backing)
    if rival is not None and support >= _SUPPORT and streak + support >= _SURE:
        name, streak, rival, support, firm = rival, support, None, 0, True
    past = line.past if line.name in {None, name} else (*line.past, line.name or b"")[-_PAST_KEPT:]
    return KeyLine(name, streak, rival, support, runs, returns, firm or streak >= _SURE, past)


def settle(line: KeyLine) -> KeyLine:
    """Forget how often keys came back: the backend is known to have one key again."""
    return replace(line, returns=(), runs=line.runs[-1:])


def _run(runs: tuple[Run, ...], issued: Iterable[bytes], number: int) -> tuple[tuple[Run, ...], bool]:
    kept = [run for run in runs if number - run.last < _WINDOW] or list(runs[-1:])
    returned = False
    for name in issued:
        if kept and kept[-1].name == name:
            kept[-1] = Run(name, number)
        else:
            returned = returned or any(run.name == name for run in kept)
            kept.append(Run(name, number))
    return tuple(kept[-_RUNS_KEPT:]), returned
