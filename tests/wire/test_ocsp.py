"""OCSP responses, as openssl makes them and as nobody should."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509 import ocsp
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from exporter.model.connections import Staple, StapleStatus
from exporter.wire.ocsp import read_staple
from tests.cold.chain import Chain, issue_chain
from tests.cold.responder import Entry, Listed, answer, serial_of

OTHER = 5
_NOW = datetime.now(UTC)


@pytest.fixture(scope="session")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Chain:
    """A leaf and the key of its issuer."""
    return issue_chain(tmp_path_factory.mktemp("ocsp"), _NOW, ["site.test"])


@pytest.mark.servers("openssl")
@pytest.mark.parametrize(
    ("entries", "others", "expected"),
    [
        pytest.param([Entry.VALID], [], StapleStatus.GOOD, id="good"),
        pytest.param([Entry.REVOKED], [], StapleStatus.REVOKED, id="revoked"),
        pytest.param([], [], StapleStatus.UNKNOWN, id="unknown"),
        pytest.param([Entry.VALID], [Entry.REVOKED], StapleStatus.GOOD, id="good, another revoked"),
        pytest.param([Entry.REVOKED], [Entry.VALID], StapleStatus.REVOKED, id="revoked, another good"),
    ],
)
def test_status(
    tmp_path: Path, chain: Chain, entries: Sequence[Entry], others: Sequence[Entry], expected: StapleStatus
) -> None:
    """Of several answers in a response the leaf's own counts."""
    own = serial_of(chain)
    index = [Listed(own, entry) for entry in entries] + [Listed(OTHER, entry) for entry in others]
    file = answer(tmp_path, chain, index, asked=(*(OTHER for _ in others), own))

    assert read_staple(file.read_bytes(), _NOW.timestamp(), chain.ders[0]).status is expected


@pytest.mark.servers("openssl")
def test_response_for_another(tmp_path: Path, chain: Chain) -> None:
    """A response that tells nothing of the leaf is as good as none, but is not taken for one of another state."""
    der = answer(tmp_path, chain, [Listed(OTHER, Entry.REVOKED)], asked=[OTHER]).read_bytes()
    staple = read_staple(der, _NOW.timestamp(), chain.ders[0])

    assert (staple.status, staple.this_update, staple.next_update) == (StapleStatus.UNREADABLE, None, None)
    assert read_staple(der, _NOW.timestamp()).status is StapleStatus.REVOKED


@pytest.mark.servers("openssl")
@pytest.mark.parametrize(
    ("entry", "seconds", "expected"),
    [
        pytest.param(Entry.VALID, 0, StapleStatus.GOOD, id="at its last second"),
        pytest.param(Entry.VALID, 1, StapleStatus.EXPIRED, id="a second later"),
        pytest.param(Entry.REVOKED, 1, StapleStatus.REVOKED, id="a revocation does not grow old"),
        pytest.param(None, 1, StapleStatus.EXPIRED, id="unknown, a second later"),
    ],
)
def test_expiry(tmp_path: Path, chain: Chain, entry: Entry | None, seconds: int, expected: StapleStatus) -> None:
    """An answer is out of date when its next update should have been there."""
    der = answer(tmp_path, chain, [Listed(serial_of(chain), entry)] if entry else []).read_bytes()
    end = read_staple(der, 0.0).next_update
    assert end is not None

    assert read_staple(der, end + seconds, chain.ders[0]).status is expected


@pytest.mark.parametrize(
    ("der", "expected"),
    [
        pytest.param(None, StapleStatus.NONE, id="none"),
        pytest.param(b"", StapleStatus.UNREADABLE, id="no bytes"),
        pytest.param(b"OCSP", StapleStatus.UNREADABLE, id="no response"),
        pytest.param(
            ocsp.OCSPResponseBuilder.build_unsuccessful(ocsp.OCSPResponseStatus.TRY_LATER).public_bytes(Encoding.DER),
            StapleStatus.UNREADABLE,
            id="the responder's error",
        ),
    ],
)
def test_no_answer(der: bytes | None, expected: StapleStatus) -> None:
    """Nothing stapled is told from something that says nothing."""
    assert read_staple(der, 0.0) == Staple(expected)


@pytest.mark.servers("openssl")
def test_leaf_that_cannot_be_read(tmp_path: Path, chain: Chain) -> None:
    """Of a leaf without a serial number no response can be the right one."""
    der = answer(tmp_path, chain, [Listed(serial_of(chain), Entry.VALID)]).read_bytes()

    assert read_staple(der, _NOW.timestamp(), b"no certificate").status is StapleStatus.UNREADABLE


@pytest.fixture(scope="session")
def good(tmp_path_factory: pytest.TempPathFactory, chain: Chain) -> bytes:
    """A response that says `good`."""
    return answer(tmp_path_factory.mktemp("good"), chain, [Listed(serial_of(chain), Entry.VALID)]).read_bytes()


@pytest.mark.servers("openssl")
@examples(max_examples=500, deadline=None)
@given(place=st.integers(0, 800), byte=st.integers(0, 255), length=st.integers(1, 900))
def test_no_response_raises(good: bytes, chain: Chain, place: int, byte: int, length: int) -> None:
    """A response bent or cut off anywhere has a status all the same."""
    bent = (good[:place] + bytes((byte,)) + good[place + 1 :])[:length]

    assert read_staple(bent, _NOW.timestamp(), chain.ders[0]).status in StapleStatus
