"""What one signature and its verification cost, which is what a resumed handshake saves."""

import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, padding, rsa

from exporter.model.yardstick import Operation, SignaturePrice

PrivateKey: TypeAlias = (
    ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey | ed25519.Ed25519PrivateKey | ed448.Ed448PrivateKey
)
"""What TLS 1.3 signs with."""

_MESSAGE = bytes(130)  # as long as what a server signs in TLS 1.3 with SHA-256 (RFC 8446 section 4.4.3)
_PSS = padding.PSS(padding.MGF1(hashes.SHA256()), hashes.SHA256().digest_size)  # RFC 8446 section 4.2.3
_HASHES: Mapping[int, type[hashes.HashAlgorithm]] = MappingProxyType(
    {256: hashes.SHA256, 384: hashes.SHA384, 521: hashes.SHA512}  # likewise: by the curve's size in bits
)


class Signatures:
    """Keys of both types, made once; that of RSA takes a tenth of a second.

    Args:
        own: a key besides, and what its type is called; of a type that is there already it stands for that.
    """

    def __init__(self, own: tuple[str, PrivateKey] | None = None) -> None:
        keys: dict[str, PrivateKey] = {
            "ecdsa-p256": ec.generate_private_key(ec.SECP256R1()),
            "rsa-2048": rsa.generate_private_key(65537, 2048),
        }
        if own is not None:
            keys[own[0]] = own[1]
        self._operations: dict[tuple[str, Operation], Callable[[], object]] = {}
        for key_type, key in keys.items():
            sign, verify = _operations(key)
            self._operations |= {(key_type, Operation.SIGN): sign, (key_type, Operation.VERIFY): verify}

    def price(self, times: int) -> tuple[SignaturePrice, ...]:
        """Do each so many times and once before, and return the processor time of one, by the thread's clock."""
        return tuple(
            SignaturePrice(key_type, operation, _price(work, times))
            for (key_type, operation), work in self._operations.items()
        )


def _operations(key: PrivateKey) -> tuple[Callable[[], object], Callable[[], object]]:
    """Return what signs with a key, and what verifies that."""
    if isinstance(key, rsa.RSAPrivateKey):
        number, number_public = key, key.public_key()
        number_proof = number.sign(_MESSAGE, _PSS, hashes.SHA256())
        return (
            lambda: number.sign(_MESSAGE, _PSS, hashes.SHA256()),
            lambda: number_public.verify(number_proof, _MESSAGE, _PSS, hashes.SHA256()),
        )
    if isinstance(key, ec.EllipticCurvePrivateKey):
        curve, curve_public = key, key.public_key()
        scheme = ec.ECDSA(_HASHES[key.curve.key_size]())
        curve_proof = curve.sign(_MESSAGE, scheme)
        return (
            lambda: curve.sign(_MESSAGE, scheme),
            lambda: curve_public.verify(curve_proof, _MESSAGE, scheme),
        )
    edwards, edwards_public = key, key.public_key()
    edwards_proof = edwards.sign(_MESSAGE)
    return lambda: edwards.sign(_MESSAGE), lambda: edwards_public.verify(edwards_proof, _MESSAGE)


def _price(work: Callable[[], object], times: int) -> float:
    work()
    began = time.thread_time()
    for _ in range(times):
        work()
    return (time.thread_time() - began) / times
