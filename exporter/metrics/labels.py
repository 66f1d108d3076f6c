"""Label values: the closed lists that only the metrics know, and the border at which any text becomes a safe one."""

from enum import StrEnum
from hashlib import blake2b

LONGEST = 256
"""Characters of the longest label value; names and owner's labels are far shorter."""


class LeftOut(StrEnum):
    """Why a handshake's time stayed out of a histogram."""

    DISTURBED = "disturbed"
    UPPER_BOUND = "upper_bound"


class Connection(StrEnum):
    """What an HTTP request rode on."""

    NEW = "new"
    REUSED = "reused"


def legible(value: str) -> str:
    r"""Return the text as valid Unicode of bounded length, such that texts that differ hardly ever become the same.

    Surrogates, which no encoder can write, become escapes such as `\udc80`, and a text that is too long ends in a hash
    of the whole.
    """
    if value.isascii() and len(value) <= LONGEST:
        return value
    encoded = value.encode("utf-8", "backslashreplace")
    text = encoded.decode()
    if len(text) <= LONGEST:
        return text
    return f"{text[: LONGEST - 9]}~{blake2b(encoded, digest_size=4).hexdigest()}"
