"""nginx on one side of a link: `python -m tests.link.site FOLDER CERTIFICATE KEY CORE DIRECTIVES PORT HOST...`.

DIRECTIVES are more of them for the server block, or nothing. Prints an empty line as soon as it listens, and ends when
the standard input closes.
"""

import contextlib
import os
import sys
from pathlib import Path

from exporter.model.target import Address
from tests.servers import nginx
from tests.servers.certificates import Leaf

_BEFORE_OTHERS = os.sched_param(10)  # and behind the forwarder


def main() -> None:
    """Serve until nobody needs it any more."""
    folder, certificate, key, core, directives, port, host, *more = sys.argv[1:]
    os.sched_setaffinity(0, {int(core)})
    # What else runs on this machine would be part of the server's time, and that time is to be the same at each visit.
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, _BEFORE_OTHERS)
    leaf = Leaf(Path(certificate), Path(key), Path(certificate))
    listening = "".join(f"listen {Address(another, int(port))} ssl;\n" for another in more)
    with nginx.start(Path(folder), Address(host, int(port)), nginx.Settings(leaf=leaf, server=listening + directives)):
        print(flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
