"""HTML that is escaped by the way it is made: only what `element` returns is taken as it is."""

import html
from collections.abc import Iterable

_VOID = frozenset({"meta", "link", "input", "br"})


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


Child = str | int | Html | None
Attribute = str | int | float | bool | None


def element(name: str, /, *children: Child | Iterable[Child], **attributes: Attribute) -> Html:
    """Return an element.

    Args:
        name: of the element.
        children: text is escaped, Html is not; None is left out.
        attributes: `class_` is `class`, `aria_label` is `aria-label`; None and False are left out, True stands alone.
    """
    spelled = "".join(map(_attribute, attributes.items()))
    if name in _VOID and not children:
        return Html(f"<{name}{spelled}>")
    return Html(f"<{name}{spelled}>{join(*children)}</{name}>")


def join(*children: Child | Iterable[Child]) -> Html:
    """Return pieces one after another, escaped where they are text."""
    return Html("".join(map(_child, children)))


def _child(child: Child | Iterable[Child]) -> str:
    if child is None:
        return ""
    if isinstance(child, Html):
        return child
    if isinstance(child, str | int):
        return html.escape(visible(str(child)))
    return "".join(map(_child, child))


def _attribute(given: tuple[str, Attribute]) -> str:
    name, value = given
    if value is None or value is False:
        return ""
    spelled = name.rstrip("_").replace("_", "-")
    return f" {spelled}" if value is True else f' {spelled}="{html.escape(visible(str(value)))}"'


def visible(text: str) -> str:
    """Make characters visible that would turn the writing round, hide or break a line."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode("ascii") for each in text)
