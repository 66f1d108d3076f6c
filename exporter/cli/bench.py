"""`tlsprobe bench`: what TLS costs on this machine."""

import errno
import json
import ssl
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from tqdm import tqdm

from exporter.cli.bench_table import render_report
from exporter.cli.own import Own, OwnCertificateError, read_own
from exporter.model.bench import Report, Role
from exporter.model.target import TlsVersion
from exporter.model.yardstick import Kind
from exporter.reference.certificates import make_credentials
from exporter.reference.lease import Lease, lend
from exporter.reference.lines import Question, ask
from exporter.reference.listeners import SERVER_NAME, STANDARD, Listener
from exporter.yardstick.bench import Bulk, Field, measure
from exporter.yardstick.contexts import accept, trust
from exporter.yardstick.passes import Subject
from exporter.yardstick.place import MeterError, Place
from exporter.yardstick.speed import ask_openssl

MEASURED, NOT_MEASURED = 0, 2
_CHACHA13 = "TLS_CHACHA20_POLY1305_SHA256"
_AES13 = "TLS_AES_256_GCM_SHA384"
_CIPHERS12 = ("ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305")
_SPEED_SECONDS = 1
_FILES = frozenset({errno.EMFILE, errno.ENFILE})


def bench(seconds: float, certificate: Path | None, key: Path | None, *, as_json: bool) -> int:
    """Measure, print what was found, and return the exit code."""
    try:
        own = read_own(certificate, key) if certificate is not None and key is not None else None
        with _field(own) as field, _progress(seconds) as tick:
            report = measure(field, seconds, lambda: ask_openssl(_SPEED_SECONDS), tick)
    except OwnCertificateError as error:
        print(f"tlsprobe bench: {error}", file=sys.stderr)
        return NOT_MEASURED
    except (OSError, MeterError) as error:
        print(f"tlsprobe bench: cannot measure: {_explain(error)}", file=sys.stderr)
        return NOT_MEASURED
    print(json.dumps(to_document(report), indent=2) if as_json else "\n".join(render_report(report)))
    return MEASURED


def _explain(error: OSError | MeterError) -> str:
    """Return what happened, and what may help."""
    if isinstance(error, OSError) and error.errno in _FILES:
        return f"{error.strerror}; raise `ulimit -n`"
    return f"{error}; try again when this machine has less to do"


def to_document(report: Report) -> dict[str, object]:
    """Return the report for a program."""
    return {**asdict(report), "machine_busy": report.machine_busy}


@contextmanager
def _progress(seconds: float) -> Iterator[Callable[[float], object]]:
    """Show a bar where a person watches a terminal."""
    form = "{l_bar}{bar}| {n:.0f}/{total:.0f} s"
    watched = sys.stderr.isatty()
    with tqdm(total=seconds, desc="measuring", bar_format=form, leave=False, disable=not watched) as bar:
        yield bar.update


@contextmanager
def _field(own: Own | None) -> Iterator[Field]:
    """Start the servers, those of TLS 1.3 with ChaCha20 in a process of their own, and say what is there for what."""
    credentials = make_credentials()
    listeners = (*STANDARD, Listener.OWN) if own else STANDARD
    with (
        lend(credentials, listeners, own.pem if own else "") as lease,
        lend(credentials, (Listener.ECDSA,), cipher_suites=_CHACHA13) as bound,
    ):
        tls13, tls12 = (trust(credentials.ca, version) for version in (TlsVersion.TLS13, TlsVersion.TLS12))
        ecdsa, stranger = (_place(lease, listener, tls13) for listener in (Listener.ECDSA, Listener.C))
        subjects = {
            Role.ECDSA: Subject(Kind("ecdsa-p256", TlsVersion.TLS13), ecdsa, stranger),
            Role.RSA: Subject(Kind("rsa-2048", TlsVersion.TLS13), _place(lease, Listener.RSA, tls13), stranger),
            Role.TLS12: Subject(
                Kind("ecdsa-p256", TlsVersion.TLS12),
                _place(lease, Listener.TLS12, tls12),
                _place(lease, Listener.C, tls12),
            ),
            Role.CONTROL: Subject(
                Kind("ecdsa-p256", TlsVersion.TLS13), _place(lease, Listener.NO_TICKETS, tls13), None
            ),
        }
        if own:
            anyone = accept(TlsVersion.TLS13)
            subjects[Role.OWN] = Subject(
                Kind(own.key_type, TlsVersion.TLS13),
                _place(lease, Listener.OWN, anyone),
                _place(lease, Listener.C, anyone),
            )
        plain = _place(lease, Listener.PLAIN, None)
        bulk = [
            Bulk(plain, None, ""),
            Bulk(ecdsa, TlsVersion.TLS13, _AES13),
            Bulk(_place(bound, Listener.ECDSA, tls13), TlsVersion.TLS13, _CHACHA13),
        ] + [
            Bulk(
                _place(lease, Listener.TLS12, trust(credentials.ca, TlsVersion.TLS12, cipher)), TlsVersion.TLS12, cipher
            )
            for cipher in _CIPHERS12
        ]
        signer = (own.key_type, own.key) if own else None
        yield Field(tuple(subjects), tuple(subjects.values()), plain, ecdsa, bulk, lambda: _used(lease, bound), signer)


def _used(*leases: Lease) -> float:
    """Return our own processor seconds and those of the servers' processes so far."""
    return time.process_time() + sum(float(lease.tell(ask(Question.METERS))["process"]) for lease in leases)


def _place(lease: Lease, listener: Listener, context: ssl.SSLContext | None) -> Place:
    return Place(lease.addresses[listener], context, SERVER_NAME, lambda: lease.read_meter(listener))
