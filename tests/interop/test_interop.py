"""What the exporter says of real servers is what their documentation says of them, and what the page says."""

from pathlib import Path

import pytest

from exporter.model.target import TlsVersion
from tests.interop.case import Case
from tests.interop.cases import CASES
from tests.interop.document import PAGE, cells, key_of, read
from tests.interop.run import Site, run
from tests.servers.certificates import Authority, Leaf
from tests.servers.ports import Ports


@pytest.mark.parametrize(
    "case", [pytest.param(case, id=case.name, marks=pytest.mark.servers(*case.product.programs)) for case in CASES]
)
async def test_case(case: Case, tmp_path: Path, ports: Ports, leaf: Leaf, authority: Authority) -> None:
    """Two servers alike are seen as they are, in each of some rounds, without a failure or an event."""
    seen = await run(case, Site(authority, leaf, ports), tmp_path)

    assert case.expected == seen.last(case)
    told = seen.rounds[1:] if case.slow else seen.rounds
    if case.named:
        assert [case.states] * len(told) == [
            {version: (sight.backend, sight.pair) for version, sight in sights.items()} for sights in told
        ]
        assert () == seen.events
    assert ({case.product.http} if case.product.http else set()) == seen.http
    assert () == seen.failures


def test_the_page_is_current() -> None:
    """The page says of every case what is expected of it, and of nothing else; `python -m tests.interop` writes it."""
    expected = {
        key_of(case, version): cells(case.product, case.expected[version]) for case in CASES for version in TlsVersion
    }

    assert expected == read(PAGE.read_text())
