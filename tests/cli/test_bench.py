"""`tlsprobe bench`: what it measures, what it says, and what it refuses."""

import datetime as dt
import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.asymmetric.types import CertificateIssuerPrivateKeyTypes
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)

from exporter.cli.bench import to_document
from exporter.cli.bench_table import render_report, say_bulk, say_handshake, say_requests
from exporter.cli.own import OwnCertificateError, read_own
from exporter.model.bench import BulkRow, HandshakeRow, RateRow, Report, Role, SignatureRow, Spread
from exporter.model.observation import Mode
from exporter.model.target import TlsVersion
from exporter.yardstick.signatures import Signatures
from tests.daemon import TLSPROBE
from tests.servers.certificates import Leaf


def spread(median: float) -> Spread:
    """Return figures that lie a tenth on both sides."""
    return Spread(median, median * 0.9, median * 1.1, 10)


FULL = HandshakeRow(
    role=Role.RSA,
    key_type="rsa-2048",
    tls=TlsVersion.TLS13,
    mode=Mode.FULL,
    asked=300,
    resumed=0,
    client_seconds=spread(0.003),
    server_cpu_seconds=spread(0.002),
    cpu_to_full=None,
    time_to_full=None,
    cpu_to_ecdsa=spread(2.5),
)
RESUMED = replace(
    FULL, mode=Mode.RESUMED, resumed=300, cpu_to_full=spread(0.4), time_to_full=spread(0.5), cpu_to_ecdsa=None
)
REFUSED = replace(RESUMED, mode=Mode.REFUSED, resumed=0, cpu_to_full=spread(1.1), time_to_full=spread(1.25))
CONTROL = replace(RESUMED, role=Role.CONTROL, resumed=0, cpu_to_full=None, time_to_full=None)
CLEAR = BulkRow(None, "", spread(2e9), spread(0.25), None)
SECRET = BulkRow(TlsVersion.TLS13, "TLS_AES_256_GCM_SHA384", spread(1e9), spread(1.0), spread(0.5))
REPORT = Report(
    seconds=20.0,
    library="OpenSSL 3",
    handshakes=(FULL, RESUMED, REFUSED, CONTROL),
    requests=RateRow(spread(20_000.0), spread(15_000.0), spread(0.75)),
    reuse=RateRow(spread(500.0), spread(10_000.0), spread(20.0)),
    bulk=(CLEAR, SECRET),
    signatures=(SignatureRow("rsa-2048", 0.001, 0.0001),),
    missing=("X over TLS 1.3: the library agreed on Y",),
    speed=0.5,
    others_busy_processors=0.1,
)


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        pytest.param(FULL, "Costs the server 2.50 (2.25 to 2.75) times what ECDSA over TLS 1.3 costs.", id="RSA"),
        pytest.param(
            replace(FULL, role=Role.ECDSA, cpu_to_ecdsa=None),
            "The handshake that the others are compared with.",
            id="ECDSA",
        ),
        pytest.param(
            RESUMED,
            "Resuming costs the server 0.40 (0.36 to 0.44) of a full one, and the client waits 0.50 (0.45 to 0.55) "
            "times as long.",
            id="resumed",
        ),
        pytest.param(
            REFUSED,
            "A refused ticket costs the server 1.10 (0.99 to 1.21) of a full one and the client 1.25 (1.12 to 1.38) of "
            "its time: worse than offering none.",
            id="refused",
        ),
        pytest.param(
            replace(REFUSED, time_to_full=spread(1.02)),
            "A refused ticket costs the server 1.10 (0.99 to 1.21) of a full one and the client 1.02 (0.92 to 1.12) of "
            "its time: about the same as offering none.",
            id="refused, within what is seen by chance",
        ),
        pytest.param(
            replace(RESUMED, resumed=299),
            "NOT AS MEANT: 299 resumed and 300 should have; the figures are of those that were.",
            id="one did not resume",
        ),
        pytest.param(CONTROL, "None resumed where none can, so what resumed above did.", id="control"),
        pytest.param(
            replace(CONTROL, resumed=1),
            "NOT AS MEANT: resumption was seen where it cannot be, so trust none of it.",
            id="control that resumed",
        ),
    ],
)
def test_handshake_sentences(row: HandshakeRow, expected: str) -> None:
    """Each row about handshakes says what it means, and says so first where it cannot be trusted."""
    assert expected == say_handshake(row)


@pytest.mark.parametrize(
    ("row", "speed", "expected"),
    [
        pytest.param(
            SECRET,
            0.5,
            "A gigabit link takes 11.6% of a core. `openssl speed` needs 0.500 s to encrypt a GiB: 2.00 times that "
            "goes into encrypting and sending, 1.50 times beyond sending in clear.",
            id="beside openssl speed",
        ),
        pytest.param(SECRET, None, "A gigabit link takes 11.6% of a core.", id="without openssl"),
        pytest.param(CLEAR, 0.5, "A gigabit link takes 2.9% of a core, for copying and sending alone.", id="in clear"),
    ],
)
def test_bulk_sentences(row: BulkRow, speed: float | None, expected: str) -> None:
    """Bytes are told as a share of a core, and held against what the cipher alone costs."""
    assert expected == say_bulk(row, replace(REPORT, speed=speed))


def test_tls_that_costs_nothing() -> None:
    """A cost that drowns in the noise is not told as a negative one."""
    same = replace(REPORT.requests, ratio=spread(1.02))

    assert say_requests(REPORT.requests).endswith("TLS costs 25% of the requests a second.")
    assert "no requests that could be seen" in say_requests(same)


def test_table() -> None:
    """Every row stands in the table with its sentence, and what could not be measured is named."""
    lines = list(render_report(REPORT))

    assert max(map(len, lines)) < 200
    assert "Not measured: X over TLS 1.3: the library agreed on Y." in lines
    for row in REPORT.handshakes:
        assert f"      {say_handshake(row)}" in lines
    assert any(line.endswith("300 of 300") for line in lines)


def test_document_is_json() -> None:
    """The report for programs holds all figures, in seconds."""
    read = json.loads(json.dumps(to_document(REPORT)))

    assert [0, 300, 0, 0] == [row["resumed"] for row in read["handshakes"]]
    assert read["bulk"][1]["server_cpu_seconds_per_gib"]["median"] == 1.0
    assert read["speed"] == 0.5
    assert (0.1, False) == (read["others_busy_processors"], read["machine_busy"])


@pytest.mark.parametrize(
    ("others", "busy", "told"),
    [
        pytest.param(None, None, False, id="not known"),
        pytest.param(0.2, False, False, id="next to nobody"),
        pytest.param(1.25, True, True, id="others"),
    ],
)
def test_busy_machine(others: float | None, busy: bool | None, told: bool) -> None:
    """Figures of a busy machine say so ahead of all, in words and for programs."""
    report = replace(REPORT, others_busy_processors=others)

    assert busy is to_document(report)["machine_busy"]
    assert told is list(render_report(report))[2].startswith("NOT ALONE: others kept 1.2 processors busy meanwhile")


def run_bench(*words: str) -> "subprocess.CompletedProcess[str]":
    """Run the command."""
    return subprocess.run([*TLSPROBE, "bench", *words], capture_output=True, text=True, check=False, timeout=60)


def test_all_is_as_it_was_meant(rsa_leaf: Leaf) -> None:
    """A short run with a certificate of the user's: what was to resume did each time, and nothing else ever."""
    own = ("--cert", str(rsa_leaf.certificate_file), "--key", str(rsa_leaf.key_file))
    done = run_bench("--seconds", "1", "--json", *own)
    assert (0, "") == (done.returncode, done.stderr)

    report = json.loads(done.stdout)
    rows = report["handshakes"]
    assert set(Role) == {row["role"] for row in rows}
    for row in rows:
        resuming = row["mode"] == "resumed" and row["role"] != "control"
        assert row["asked"] >= 20
        assert (row["asked"] if resuming else 0) == row["resumed"]
        assert row["server_cpu_seconds"]["median"] > 0
    assert {row["key_type"] for row in rows if row["role"] == "own"} == {"rsa-2048"}
    assert report["missing"] == []
    assert report["others_busy_processors"] >= 0
    assert [None, "1.3", "1.3", "1.2", "1.2"] == [row["tls"] for row in report["bulk"]]
    assert {"ecdsa-p256", "rsa-2048"} == {row["key_type"] for row in report["signatures"]}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        pytest.param(["--cert", "a.pem"], "--cert and --key need each other", id="no key"),
        pytest.param(["--seconds", "nan"], "allowed: 1 to 3600 seconds", id="no length"),
        pytest.param(["--seconds", "0.5"], "allowed: 1 to 3600 seconds", id="too short"),
        pytest.param(["--cert", "no.pem", "--key", "no.pem"], "--cert no.pem: No such file", id="no such file"),
        pytest.param(["--cert", ".", "--key", "no.pem"], "--cert .: Is a directory; a file in PEM", id="a directory"),
    ],
)
def test_refused_words(words: list[str], told: str) -> None:
    """Words that make no sense end the command with code 2, and with what is allowed."""
    done = run_bench(*words)

    assert done.returncode == 2
    assert told in done.stderr
    assert done.stdout == ""


def test_too_few_files() -> None:
    """Where too few files may be open it is told what to raise."""
    command = ["prlimit", "--nofile=12:12", *TLSPROBE, "bench", "--seconds", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)

    assert done.returncode == 2
    assert done.stderr == "tlsprobe bench: cannot measure: Too many open files; raise `ulimit -n`\n"


def test_certificate_of_another_key(leaf: Leaf, rsa_leaf: Leaf) -> None:
    """A certificate and a key that do not belong together are told before anything is measured."""
    with pytest.raises(OwnCertificateError, match="is of another key than --key"):
        read_own(leaf.certificate_file, rsa_leaf.key_file)
    assert read_own(leaf.certificate_file, leaf.key_file).key_type == "ecdsa-p256"


def write_own(folder: Path, key: CertificateIssuerPrivateKeyTypes, password: bytes | None = None) -> tuple[Path, Path]:
    """Write a key, and a certificate that it signed for itself."""
    name, digest = x509.Name([]), None if isinstance(key, ed25519.Ed25519PrivateKey) else hashes.SHA256()
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), 1)
        .not_valid_before(dt.datetime(2000, 1, 1))
        .not_valid_after(dt.datetime(2099, 1, 1))
        .sign(key, digest)
    )
    closed = NoEncryption() if password is None else BestAvailableEncryption(password)
    files = folder / "own.pem", folder / "own.key"
    files[0].write_bytes(certificate.public_bytes(Encoding.PEM))
    files[1].write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, closed))
    return files


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        pytest.param(rsa.generate_private_key(65537, 1024), "is rsa-1024, which no server", id="RSA-1024"),  # noqa: S505
        pytest.param(ec.generate_private_key(ec.SECP256K1()), "ecdsa-secp256k1, which no server", id="other curve"),
        pytest.param(ec.generate_private_key(ec.SECP224R1()), "224r1, which no server", id="small curve"),
    ],
)
def test_key_of_no_use(key: CertificateIssuerPrivateKeyTypes, expected: str, tmp_path: Path) -> None:
    """A key that TLS 1.3 cannot sign with is named, with those that it can."""
    with pytest.raises(OwnCertificateError, match=f"{expected}.*; allowed: RSA of 2048 bits or more"):
        read_own(*write_own(tmp_path, key))


@pytest.mark.parametrize(
    ("swap", "password", "expected"),
    [
        pytest.param(
            False, b"secret", r"own\.key is encrypted, .*; `openssl pkey -in .*own\.key` prints", id="encrypted"
        ),
        pytest.param(
            True,
            None,
            r"--key .*own\.pem holds no private key in PEM; `openssl",
            id="the wrong way round",
        ),
    ],
)
def test_files_of_no_use(swap: bool, password: bytes | None, expected: str, tmp_path: Path) -> None:
    """What the files hold is told, and how to come by what is needed."""
    files = write_own(tmp_path, ec.generate_private_key(ec.SECP256R1()), password)
    with pytest.raises(OwnCertificateError, match=expected):
        read_own(*(reversed(files) if swap else files))


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        pytest.param(ec.generate_private_key(ec.SECP384R1()), "ecdsa-p384", id="P-384"),
        pytest.param(ed25519.Ed25519PrivateKey.generate(), "ed25519", id="Ed25519"),
        pytest.param(rsa.generate_private_key(65537, 3072), "rsa-3072", id="RSA-3072"),
    ],
)
def test_signatures_of_the_own_key(key: CertificateIssuerPrivateKeyTypes, expected: str, tmp_path: Path) -> None:
    """A key of another type than ours has its signatures priced beside them."""
    own = read_own(*write_own(tmp_path, key))
    prices = Signatures((own.key_type, own.key)).price(1)

    assert ["ecdsa-p256", "rsa-2048", expected] == list(dict.fromkeys(price.key_type for price in prices))
    assert len(prices) == 6
    assert all(price.cpu > 0 for price in prices)


@pytest.mark.parametrize("key_type", ["rsa-2048", "ecdsa-p521"])
def test_figures_below_their_headings(key_type: str) -> None:
    """Figures end below their headings, also behind a certificate whose name is long."""
    own = replace(RESUMED, role=Role.OWN, key_type=key_type)
    report = replace(REPORT, handshakes=(FULL, own), signatures=(SignatureRow(key_type, 0.001, 0.0001),))
    lines = list(render_report(report))
    begin = next(at for at, line in enumerate(lines) if line.startswith("handshakes"))
    heading, rows = lines[begin], lines[begin + 1 : begin + 5 : 2]
    begin = next(at for at, line in enumerate(lines) if line.startswith("one signature"))
    signature_heading, signature = lines[begin : begin + 2]

    for word in ("client p50 ms", "server CPU ms"):
        end = heading.index(word) + len(word)
        assert ["0 ", "0 "] == [row[end - 1 : end + 1] for row in rows]
    for word in ("sign ms", "verify ms"):
        end = signature_heading.index(word) + len(word)
        assert "0 " == f"{signature} "[end - 1 : end + 1]


def test_words_around_a_key(leaf: Leaf, tmp_path: Path) -> None:
    """What stands around the blocks of a file need be no text that can be read."""
    key = tmp_path / "key.pem"
    key.write_bytes(b"B\xfccher\n" + leaf.key_file.read_bytes() + b"\xff\xfe\n")

    own = read_own(leaf.certificate_file, key)
    assert own.pem.startswith("Bcher\n-----BEGIN ")
    assert own.pem.count("-----BEGIN ") == 2
