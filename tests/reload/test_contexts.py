"""TLS contexts over reloads: others for files that hold something else, and none of those that are out of use."""

from dataclasses import replace

from exporter.model.target import TlsSettings, TlsVersion
from exporter.wire.context import Contexts

_USED = TlsSettings(content="a")
_RENEWED = replace(_USED, content="b")


def test_other_contents() -> None:
    """The same files with another content make another context."""
    contexts = Contexts()
    first = contexts.get(_USED, TlsVersion.TLS13, verify=False)

    assert contexts.get(_RENEWED, TlsVersion.TLS13, verify=False) is not first
    assert contexts.get(_USED, TlsVersion.TLS13, verify=False) is first


def test_keep() -> None:
    """Contexts of settings that are in use stay, and the others are made anew when they are asked for again."""
    contexts = Contexts()
    used, renewed = (contexts.get(settings, TlsVersion.TLS12, verify=False) for settings in (_USED, _RENEWED))
    contexts.keep({_RENEWED})

    assert contexts.get(_RENEWED, TlsVersion.TLS12, verify=False) is renewed
    assert contexts.get(_USED, TlsVersion.TLS12, verify=False) is not used
