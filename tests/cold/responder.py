"""OCSP responses made by `openssl ocsp`, as an authority's responder would make them."""

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from cryptography import x509

from tests.cold.chain import Chain
from tests.servers.process import find_program

_SECONDS = 20.0


class Entry(StrEnum):
    """What an authority's index says of a certificate, in openssl's letters."""

    VALID = "V"
    REVOKED = "R"


@dataclass(frozen=True, slots=True)
class Listed:
    """A certificate in the index; one that is asked for and not in it is unknown."""

    serial: int
    entry: Entry


def answer(
    folder: Path, chain: Chain, index: Sequence[Listed], *, minutes: int = 60, asked: Sequence[int] = ()
) -> Path:
    """Write a response of the leaf's issuer in DER form, which is valid from now on.

    Args:
        minutes: until the next update.
        asked: serial numbers to be answered for; the leaf's alone where there are none.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index.txt").write_text("".join(map(_line, index)))
    (folder / "index.txt.attr").write_text("unique_subject = no\n")
    serials = asked or (serial_of(chain),)
    file = folder / "staple.der"
    command = [find_program("openssl"), "ocsp", "-index", "index.txt", "-CA", str(chain.issuer_file)]
    command += ["-rsigner", str(chain.issuer_file), "-rkey", str(chain.issuer_key_file), "-noverify"]
    command += ["-issuer", str(chain.issuer_file), "-nmin", str(minutes), "-respout", str(file)]
    for serial in serials:
        command += ["-serial", f"0x{serial:x}"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=_SECONDS)
    return file


def serial_of(chain: Chain) -> int:
    """Return the serial number of the leaf."""
    return x509.load_der_x509_certificate(chain.ders[0]).serial_number


def _line(listed: Listed) -> str:
    revoked = "200101000000Z" if listed.entry is Entry.REVOKED else ""
    serial = f"{listed.serial:X}"
    return (
        f"{listed.entry}\t491231235959Z\t{revoked}\t{serial.zfill(len(serial) + len(serial) % 2)}\tunknown\t/CN=any\n"
    )
