"""The process that makes load: told what to do on standard input, and it lives until that closes."""

import gc
import os
import resource
import time
from dataclasses import replace

from exporter.load.entrance import Entrance
from exporter.load.loop import Driver, StopError
from exporter.load.orders import Order, Scouted, Site, Tally, encode, read
from exporter.load.scout import scout
from exporter.model.observation import Mode

_STDIN, _STDOUT = 0, 1
_SPARE_FILES = 64
_MOST_LIVE = 20_000
_SESSION_SECONDS = 60.0


def main() -> None:
    """Learn of the site, then carry out orders until there are no more."""
    most = _most_live()
    # Nothing here goes in circles, and a pause of the collector's would be taken for the server's.
    gc.disable()
    try:
        entrance = Entrance(read(Site, _receive))
        scouted = time.monotonic()
        _tell(replace(scout(entrance), most=most))
        while True:
            order = read(Order, _receive)
            # The library offers no ticket that has outlived the server's hint.
            if order.mode is Mode.RESUMED and time.monotonic() > scouted + _SESSION_SECONDS:
                scouted = time.monotonic()
                scout(entrance)
            _tell(Driver(entrance, order, time.monotonic, most=most, stop=_STDIN).run())
            gc.collect()
    except (EOFError, StopError, BrokenPipeError):
        return


def _most_live() -> int:
    """Return how many connections can be under way, as many as this process may ask for."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MOST_LIVE + _SPARE_FILES
    limit = wanted if hard == resource.RLIM_INFINITY else min(hard, wanted)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
    return limit - _SPARE_FILES


def _receive(size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = os.read(_STDIN, size - len(data))
        if not more:
            break
        data += more
    return data


def _tell(message: Scouted | Tally) -> None:
    data = encode(message)
    while data:
        data = data[os.write(_STDOUT, data) :]


if __name__ == "__main__":
    main()
