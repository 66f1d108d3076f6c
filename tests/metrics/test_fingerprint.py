"""The number that stands for a ticket key's name."""

import pytest

from exporter.metrics.collector import LedgerCollector
from exporter.metrics.faults import Faults
from exporter.metrics.ledger import Ledger
from exporter.model.fingerprint import fingerprint, salt_of
from exporter.model.verdicts import BackendState, BackendVerdict, Mechanism, TargetState, VersionVerdict
from tests.metrics.parsed import expose, families
from tests.metrics.rounds import TLS13, A, round_of, target
from tests.metrics.scenes import Unheard


@pytest.mark.parametrize(
    ("key_name", "expected"),
    [
        pytest.param(b"", 3865882504, id="no bytes"),
        pytest.param(bytes(16), 3434709375, id="zeros"),
        pytest.param(b"a key's own name", 4166372715, id="a name"),
    ],
)
def test_fingerprints_are_the_same_everywhere(key_name: bytes, expected: int) -> None:
    """The number is part of what dashboards keep, so no release may change it."""
    assert expected == fingerprint(key_name)


def test_another_salt_is_another_number() -> None:
    """The salt is part of the hash."""
    assert fingerprint(b"name") != fingerprint(b"name", b"another")


def test_a_salt_has_a_greatest_length() -> None:
    """Sixteen bytes are the most that the hash can use; more would be cut without a word."""
    with pytest.raises(ValueError, match="16"):
        fingerprint(b"name", bytes(17))


def test_the_owner_chooses_the_salt() -> None:
    """What is exposed is the number under the owner's salt."""
    ledger = Ledger()
    known = BackendVerdict(BackendState.RESUMES, Mechanism.RFC5077, b"name")
    ledger.fold(round_of(target(), (A,), verdicts={TLS13: VersionVerdict(TargetState.CONSISTENT, {A: known})}))
    unheard = Unheard()
    exposed = expose([LedgerCollector(ledger, Faults(unheard), salt_of("our own"))])

    assert float(fingerprint(b"name", salt_of("our own"))) in [
        sample.value for metric in families(exposed) for sample in metric.samples if "fingerprint" in sample.name
    ]
    assert [] == unheard.faults
