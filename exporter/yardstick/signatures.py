"""What one signature and its verification cost, which is what a resumed handshake saves."""

import time
from collections.abc import Callable

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa

from exporter.model.yardstick import Operation, SignaturePrice

_MESSAGE = bytes(130)  # as long as what a server signs in TLS 1.3 with SHA-256 (RFC 8446 section 4.4.3)
_PSS = padding.PSS(padding.MGF1(hashes.SHA256()), hashes.SHA256().digest_size)  # RFC 8446 section 4.2.3
_ECDSA = ec.ECDSA(hashes.SHA256())


class Signatures:
    """Keys of both types, made once; that of RSA takes a tenth of a second."""

    def __init__(self) -> None:
        curve = ec.generate_private_key(ec.SECP256R1())
        number = rsa.generate_private_key(65537, 2048)
        curve_proof = curve.sign(_MESSAGE, _ECDSA)
        number_proof = number.sign(_MESSAGE, _PSS, hashes.SHA256())
        curve_public, number_public = curve.public_key(), number.public_key()
        self._operations: dict[tuple[str, Operation], Callable[[], object]] = {
            ("ecdsa-p256", Operation.SIGN): lambda: curve.sign(_MESSAGE, _ECDSA),
            ("ecdsa-p256", Operation.VERIFY): lambda: curve_public.verify(curve_proof, _MESSAGE, _ECDSA),
            ("rsa-2048", Operation.SIGN): lambda: number.sign(_MESSAGE, _PSS, hashes.SHA256()),
            ("rsa-2048", Operation.VERIFY): lambda: number_public.verify(number_proof, _MESSAGE, _PSS, hashes.SHA256()),
        }

    def price(self, times: int) -> tuple[SignaturePrice, ...]:
        """Do each so many times and once before, and return the processor time of one, by the thread's clock."""
        return tuple(
            SignaturePrice(key_type, operation, _price(work, times))
            for (key_type, operation), work in self._operations.items()
        )


def _price(work: Callable[[], object], times: int) -> float:
    work()
    began = time.thread_time()
    for _ in range(times):
        work()
    return (time.thread_time() - began) / times
