"""From plain values to the schema's classes, field by field, so that one mistake does not hide the next."""

import types
from collections.abc import Mapping
from difflib import get_close_matches
from enum import Enum
from functools import cache
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import msgspec
from msgspec.structs import FieldInfo

from exporter.config.kinds import Fields
from exporter.config.problem import Findings, Place, show

S = TypeVar("S", bound=Fields)

_GENERAL: Mapping[object, str] = {
    bool: "true or false",
    str: "a text",
    int: "a whole number",
    float: "a number",
}
_KINDS = ((bool, "true or false"), (str, "a text"), (int | float, "a number"), (list, "a list"))


def convert(kind: type[S], tree: object, place: Place, findings: Findings) -> S:
    """Return a section; what was refused or is missing has its default, an empty text where there is none."""
    known = _fields(kind)
    if tree is None:
        tree = {}
    if not isinstance(tree, dict):
        findings.add(place, f"found {show(tree)}", f"a mapping of {', '.join(known)}")
        return kind(**{info.name: "" for info in known.values() if info.required})
    for key in tree:
        if key in known:
            continue
        close = get_close_matches(key[:100], known, 1)
        hint = f", did you mean {close[0]}?" if close else ""
        findings.add((*place, key), f"unknown field{hint}", ", ".join(known))
    found = {info.name: _field(info, tree, place, findings) for info in known.values()}
    return kind(**{name: value for name, value in found.items() if value is not msgspec.UNSET})


@cache
def _fields(kind: type[Fields]) -> Mapping[str, FieldInfo]:
    return {info.encode_name: info for info in msgspec.structs.fields(kind)}


def _field(info: FieldInfo, tree: Mapping[str, object], place: Place, findings: Findings) -> object:
    """Return a field's value, or UNSET where the default is to hold."""
    value = tree.get(info.encode_name)
    here = (*place, info.encode_name)
    if value is not None:
        converted = _value(info.type, value, here, findings)
    else:
        converted = msgspec.UNSET
        if info.required:
            findings.add(here, "missing", _allowed(info.type))
    return "" if converted is msgspec.UNSET and info.required else converted


def _value(kind: Any, value: object, place: Place, findings: Findings) -> object:
    """Return the value in the given type, or UNSET if it was refused."""
    members = _members(kind)
    section = next((member for member in members if isinstance(member, type) and issubclass(member, Fields)), None)
    if section is not None and (isinstance(value, dict) or len(members) == 1):
        return convert(section, value, place, findings)
    origin = get_origin(members[0])
    if origin is list and isinstance(value, list):
        (inner,) = get_args(members[0])
        items = (_value(inner, item, (*place, at), findings) for at, item in enumerate(value))
        return ["" if item is msgspec.UNSET else item for item in items]  # so that the positions of the others hold
    if origin is dict and isinstance(value, dict):
        inner = get_args(members[0])[1]
        entries = {key: _value(inner, item, (*place, key), findings) for key, item in value.items()}
        return {key: item for key, item in entries.items() if item is not msgspec.UNSET}
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError:
        shown = _kind_of(value) if _extra(kind, "secret") else show(value)
        findings.add(place, f"found {shown}", _allowed(kind))
        return msgspec.UNSET


def _members(kind: Any) -> tuple[Any, ...]:
    """Return the types that a type allows, None and the metadata left out."""
    if get_origin(kind) is Annotated:
        return _members(get_args(kind)[0])
    if get_origin(kind) in {Union, types.UnionType}:
        return tuple(member for part in get_args(kind) if part is not type(None) for member in _members(part))
    return (kind,)


def _extra(kind: Any, key: str) -> object:
    """Return what the type's metadata says under a key, that of a union's first member that says anything."""
    if get_origin(kind) is Annotated:
        extras = [note.extra for note in get_args(kind)[1:] if isinstance(note, msgspec.Meta) and note.extra]
        found = next((extra[key] for extra in extras if key in extra), None)
        return _extra(get_args(kind)[0], key) if found is None else found
    if get_origin(kind) in {Union, types.UnionType}:
        return next((found for part in get_args(kind) if (found := _extra(part, key)) is not None), None)
    return None


def _allowed(kind: Any) -> str:
    said = _extra(kind, "allowed")
    if isinstance(said, str):
        return said
    member = _members(kind)[0]
    if get_origin(member) is Literal:
        return ", ".join(get_args(member))
    if isinstance(member, type) and issubclass(member, Enum):
        return ", ".join(option.value for option in member)
    return _GENERAL.get(member, "a list" if get_origin(member) is list else "a mapping")


def _kind_of(value: object) -> str:
    return next((name for kind, name in _KINDS if isinstance(value, kind)), "a mapping")
