"""Run all cases and write docs/interop.md: `python -m tests.interop`."""

import asyncio
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from tests.interop.cases import CASES
from tests.interop.document import PAGE, page
from tests.interop.run import Run, Site, run, version_of
from tests.servers.certificates import Authority
from tests.servers.ports import Ports


def main() -> None:
    """Write the page, whatever is seen: the tests say whether it is as expected."""
    ports = Ports()
    with tempfile.TemporaryDirectory(prefix="interop-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # some servers leave root's rights behind and still have to read there
        now = datetime.now(UTC)
        authority = Authority.create(folder, now)
        common = Site(authority, authority.issue("leaf", now=now), ports)
        runs = asyncio.run(_run_all(common, folder))
    ports.close()
    versions = {case.product.name: version_of(case.product) for case in CASES}
    PAGE.write_text(page(list(zip(CASES, runs, strict=True)), versions))


async def _run_all(common: Site, folder: Path) -> list[Run]:
    runs = []
    for number, case in enumerate(CASES):
        print(case.name, file=sys.stderr)
        place = folder / f"{number}"
        place.mkdir()
        runs.append(await run(case, common, place))
    return runs


if __name__ == "__main__":
    main()
