"""A server that admits so many connections a second, in arithmetic alone: it takes an order and gives tallies."""

from array import array
from collections.abc import Callable, Sequence

from exporter.load.orders import Order, Tally

SERVICE = 0.001
"""Seconds that an admitted handshake takes."""


def refusing(admitted: float) -> Callable[[Order], Sequence[Tally]]:
    """Return a server that refuses at once what comes above its rate, with a tenth of a second's worth of patience."""

    def carry_out(order: Order) -> Sequence[Tally]:
        burst = tokens = max(admitted / 10, 1.0)
        before, refused, handshakes = 0.0, 0, array("d")
        for due in _dues(order):
            tokens = min(burst, tokens + (due - before) * admitted)
            before = due
            if due < order.warm_up:
                tokens -= tokens >= 1
            elif tokens >= 1:
                tokens -= 1
                handshakes.append(SERVICE)
            else:
                refused += 1
        return [_tally(order, handshakes, len(handshakes), {"handshake: reset": refused} if refused else {})]

    return carry_out


def delaying(admitted: float) -> Callable[[Order], Sequence[Tally]]:
    """Return a server that lets wait what comes above its rate."""

    def carry_out(order: Order) -> Sequence[Tally]:
        free, done, handshakes = 0.0, 0, array("d")
        for due in _dues(order):
            free = max(free + 1 / admitted, due + SERVICE)
            done += order.warm_up <= free < order.warm_up + order.seconds
            if due >= order.warm_up:
                handshakes.append(free - due)
        return [_tally(order, handshakes, done, {})]

    return carry_out


def _dues(order: Order) -> Sequence[float]:
    return [number / order.rate for number in range(int((order.warm_up + order.seconds) * order.rate))]


def _tally(order: Order, handshakes: "array[float]", done: int, failures: dict[str, int]) -> Tally:
    return Tally(
        due=len(handshakes) + sum(failures.values()),
        done=done,
        handshakes=handshakes.tobytes(),
        first_bytes=handshakes.tobytes(),
        lateness=array("d", [0.0] * len(handshakes)).tobytes(),
        failures=failures,
        processor=0.1 * order.seconds,
        wall=order.seconds,
    )
