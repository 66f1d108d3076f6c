"""Cipher suites and curves by the names that Go gives them, and what OpenSSL calls them."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from exporter.config.problem import RefusedError, show

TLS13_SUITES = ("TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256")
"""Accepted in a list and without effect on TLS 1.3, whose suites cannot be chosen, in Go neither."""

TLS12_SUITES: Mapping[str, str] = MappingProxyType(
    {
        "TLS_RSA_WITH_AES_128_CBC_SHA": "AES128-SHA",
        "TLS_RSA_WITH_AES_256_CBC_SHA": "AES256-SHA",
        "TLS_RSA_WITH_AES_128_GCM_SHA256": "AES128-GCM-SHA256",
        "TLS_RSA_WITH_AES_256_GCM_SHA384": "AES256-GCM-SHA384",
        "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA": "ECDHE-ECDSA-AES128-SHA",
        "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA": "ECDHE-ECDSA-AES256-SHA",
        "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA": "ECDHE-RSA-AES128-SHA",
        "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA": "ECDHE-RSA-AES256-SHA",
        "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256": "ECDHE-ECDSA-AES128-GCM-SHA256",
        "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384": "ECDHE-ECDSA-AES256-GCM-SHA384",
        "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256": "ECDHE-RSA-AES128-GCM-SHA256",
        "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384": "ECDHE-RSA-AES256-GCM-SHA384",
        "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256": "ECDHE-RSA-CHACHA20-POLY1305",
        "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256": "ECDHE-ECDSA-CHACHA20-POLY1305",
    }
)
"""Those that Go calls secure, and those with RSA key exchange that it did until 1.22."""

CURVES: Mapping[str, str] = MappingProxyType(
    {"CurveP256": "prime256v1", "CurveP384": "secp384r1", "CurveP521": "secp521r1", "X25519": "X25519"}
)


def parse_suite(name: str) -> str:
    """Return OpenSSL's name of a suite, an empty text for one of TLS 1.3."""
    if name in TLS13_SUITES:
        return ""
    if name not in TLS12_SUITES:
        raise RefusedError(
            f"{show(name)} is no cipher suite that Go calls secure", "such as TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"
        )
    return TLS12_SUITES[name]


def parse_curves(names: Sequence[str]) -> str | None:
    """Return OpenSSL's name of the one curve that is allowed, None where the library may choose."""
    for name in names:
        if name not in CURVES:
            raise RefusedError(f"{show(name)} is no known curve", ", ".join(CURVES))
    if len(names) > 1:
        raise RefusedError(f"{len(names)} curves", "one, or leave it out: Python's ssl module takes no list of them")
    return CURVES[names[0]] if names else None
