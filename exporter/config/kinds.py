"""What single values of a configuration file may be, and what all of its sections have in common.

A type's `allowed` is what a refused value is told.
"""

from typing import Annotated

from msgspec import Meta, Struct

from exporter.config.values import DURATION_PATTERN

_END = r"$(?!\n)"  # `$` alone would let a line feed pass at the end

Duration = Annotated[
    Annotated[float, Meta(ge=0)] | Annotated[str, Meta(pattern=DURATION_PATTERN)],
    Meta(extra={"allowed": "a duration such as 250ms, 30s, 2m, 1h30m, 7d, or a number of seconds"}),
]
Address = Annotated[
    str,
    Meta(
        extra={"allowed": "HOST:PORT, such as name:443, 10.0.0.1:443 or [::1]:443"},
        extra_json_schema={"examples": ["name:443", "10.0.0.1:443", "[::1]:443"]},
    ),
]
ListenAddress = Annotated[str, Meta(extra={"allowed": "HOST:PORT or :PORT, such as :10507"})]
Name = Annotated[
    str, Meta(min_length=1, max_length=128, extra={"allowed": "1 to 128 printable characters, not `reference`"})
]
LabelValue = Annotated[str, Meta(max_length=256, extra={"allowed": "a text of up to 256 characters, in quotes"})]
FilePath = Annotated[
    str,
    Meta(
        pattern=rf"^[^\u0000]+{_END}",
        max_length=4096,
        extra={"allowed": "a path, from the configuration's folder where it is relative"},
    ),
]
Version = Annotated[
    str | float,
    Meta(extra={"allowed": '"1.2" or "1.3"'}, extra_json_schema={"enum": ["1.2", "1.3", 1.2, 1.3]}),
]
Protocol = Annotated[
    str, Meta(pattern=rf"^[\u0021-\u007e]{{1,255}}{_END}", extra={"allowed": "1 to 255 visible ASCII characters"})
]
Method = Annotated[
    str,
    Meta(
        pattern=rf"^(?!CONNECT{_END})[A-Z][A-Z-]{{0,31}}{_END}",
        extra={"allowed": "a method in upper case such as GET or HEAD, not CONNECT"},
    ),
]
RequestPath = Annotated[
    str,
    Meta(
        pattern=rf"^/[\u0021-\u0022\u0024-\u007e]{{0,4095}}{_END}",
        extra={"allowed": "/ and up to 4095 visible ASCII characters without spaces or #, others percent-encoded"},
    ),
]
HostHeader = Annotated[
    str,
    Meta(
        pattern=rf"^[A-Za-z0-9._~\[\]:-]{{1,260}}{_END}",
        extra={"allowed": "a host name or address, with :PORT where it is needed"},
    ),
]
Status = Annotated[int, Meta(ge=100, le=599, extra={"allowed": "a status from 100 to 599"})]
Count = Annotated[int, Meta(ge=1, le=100_000, extra={"allowed": "a whole number from 1 to 100000"})]
CountOrNone = Annotated[int, Meta(ge=0, le=100_000, extra={"allowed": "a whole number from 0 to 100000"})]
Requests = Annotated[int, Meta(ge=1, le=100, extra={"allowed": "a whole number from 1 to 100"})]
Bytes = Annotated[int, Meta(ge=1, le=64 << 20, extra={"allowed": "a whole number of bytes from 1 to 67108864"})]
Crowd = Annotated[int, Meta(ge=1, le=1_000_000_000, extra={"allowed": "a whole number from 1 to 1000000000"})]
Rate = Annotated[float, Meta(gt=0, le=1_000_000, extra={"allowed": "a number over 0, up to 1000000"})]
Share = Annotated[float, Meta(ge=0, le=1, extra={"allowed": "a number from 0 to 1"})]


class Fields(Struct, forbid_unknown_fields=True, frozen=True):
    """A mapping of known fields, in whichever file."""


class Section(Fields, frozen=True):
    """A part of the configuration file, or all of it."""


class SecretSection(Section, frozen=True):
    """A text that stands in a file of its own.

    Attributes:
        file: the file to read; one line feed at its end is left out.
    """

    file: FilePath


HeaderValue = Annotated[
    str | SecretSection,
    # A refused value may be a password, so it is never shown.
    Meta(extra={"allowed": "a text in quotes, or {file: PATH}", "secret": True}),
]

Salt = Annotated[
    Annotated[str, Meta(min_length=1, max_length=1024)] | SecretSection,
    Meta(extra={"allowed": "a text of 1 to 1024 characters in quotes, or {file: PATH}", "secret": True}),
]
SrvNameText = Annotated[str, Meta(extra={"allowed": "a DNS name in full, such as _https._tcp.shop.example.com"})]
KubernetesName = Annotated[
    str,
    Meta(
        pattern=rf"^[a-z0-9](?:[a-z0-9-]{{0,61}}[a-z0-9])?{_END}",
        extra={"allowed": "up to 63 small letters, digits and hyphens, no hyphen at an end"},
    ),
]
KubernetesPort = Annotated[
    Annotated[int, Meta(ge=1, le=65535)] | Annotated[str, Meta(pattern=rf"^[a-z0-9-]{{1,63}}{_END}")],
    Meta(extra={"allowed": "the name of a port of the Service, such as https, or the number that pods listen on"}),
]
Url = Annotated[
    str,
    Meta(
        pattern=rf"^https?://[\u0021-\u007e]{{1,2000}}{_END}",
        extra={"allowed": "a URL such as http://inventory.example.com/targets"},
    ),
]
TargetName = Annotated[str, Meta(extra={"allowed": "the name of another target"})]
