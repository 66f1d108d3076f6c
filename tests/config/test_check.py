"""What `tlsprobe check` and `tlsprobe schema` answer, and whether the example holds what they promise."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator

from exporter.config import schema
from exporter.config.check import check
from exporter.config.document import compose
from exporter.config.json_schema import json_schema
from exporter.config.kinds import SecretSection, Section
from exporter.config.load import load
from exporter.config.problem import Findings
from exporter.config.scalars import Tree
from exporter.model.fingerprint import salt_of
from tests.servers.certificates import Authority, Leaf

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "config.example.yaml"
GOOD = Path(__file__).parent / "good"
OPTION = re.compile(r"^( *)#(?=\w)", re.MULTILINE)


PLACES: dict[type[Section], tuple[str, ...]] = {
    schema.Document: (),
    schema.DefaultsSection: ("defaults",),
    schema.TicketKeysSection: ("ticket_keys",),
    schema.TargetSection: ("targets",),
    schema.TlsSection: ("targets", "tls"),
    schema.HttpSection: ("targets", "http"),
    SecretSection: ("targets", "http", "headers", "Authorization"),
    schema.ProbeSection: ("targets", "probe"),
    schema.BackendsFromSection: ("targets", "backends_from"),
    schema.KubernetesSection: ("targets", "backends_from", "kubernetes"),
    schema.DiscoverSection: ("discover",),
    schema.TemplateSection: ("discover", "target"),
    schema.ExpectSection: ("targets", "expect"),
    schema.ReferenceSection: ("reference",),
    schema.WaveSection: ("wave",),
    schema.LogSection: ("log",),
}


def fields_below(tree: Tree, place: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the place of each key in a document, positions in lists left out."""
    if isinstance(tree, list):
        for item in tree:
            yield from fields_below(item, place)
    elif isinstance(tree, dict):
        for key, value in tree.items():
            yield (*place, key)
            yield from fields_below(value, (*place, key))


def tree_of(path: Path) -> Tree:
    """Return a file's plain values."""
    return compose(path.read_text(encoding="utf-8"), Findings(path.name))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("targets: []", (0, "OK: 0 targets"), id="none"),
        pytest.param("targets: [{name: a, address: a.example}]", (0, "OK: 1 target"), id="one"),
        pytest.param("targets: [{name: a, address: a}, {name: b, address: b}]", (0, "OK: 2 targets"), id="two"),
        pytest.param("discover: [{name: a, file: a.json}]", (0, "OK: 0 targets, 1 source of more"), id="a source"),
        pytest.param("lgo: {}\nlisten: []", (1, "F:1: lgo: unknown field, did you mean log?", "F:2: listen"), id="bad"),
    ],
)
def test_check(text: str, expected: tuple[int, str], tmp_path: Path) -> None:
    """The answer is OK with the number of targets, or one line for each problem."""
    path = tmp_path / "config.yaml"
    path.write_text(text)
    code, answer = check(path)

    lines = answer.replace(str(path), "F").splitlines()
    assert expected[0] == code
    assert len(expected[1:]) == len(lines)
    assert all(line.startswith(start) for line, start in zip(lines, expected[1:], strict=True))


def test_example_is_valid() -> None:
    """The example is valid as it stands, without any file beside it."""
    assert (0, "OK: 4 targets, 2 sources of more") == check(EXAMPLE)


def test_example_with_its_options(authority: Authority, leaf: Leaf, tmp_path: Path) -> None:
    """The example is valid too with everything that is commented out in it, once the files are there."""
    for name, source in (("ca.pem", authority.file), ("me.pem", leaf.certificate_file), ("me.key", leaf.key_file)):
        (tmp_path / name).write_bytes(source.read_bytes())
    (tmp_path / "token").write_text("Bearer abc\n")
    (tmp_path / "salt").write_text("of our own\n")
    path = tmp_path / "config.yaml"
    path.write_text(OPTION.sub(r"\1", EXAMPLE.read_text(encoding="utf-8")))
    config = load(path)

    assert config.ticket_keys.state_file == "/var/lib/tlsprobe/keys.json"
    assert config.ticket_keys.salt == salt_of("of our own")
    assert config.targets[0].tls.key_file == str(tmp_path / "me.key")
    assert ("Authorization", "Bearer abc") in config.targets[0].http.headers


def test_example_is_complete() -> None:
    """Every field of every section stands in the example, in use or commented out."""
    tree = compose(OPTION.sub(r"\1", EXAMPLE.read_text(encoding="utf-8")), Findings("example"))
    written = set(fields_below(tree))

    assert [] == [
        f"{kind.__name__}.{info.encode_name}"
        for kind, place in PLACES.items()
        for info in msgspec.structs.fields(kind)
        if (*place, info.encode_name) not in written
    ]
    assert set(PLACES) == set(Section.__subclasses__())


def test_example_is_narrow() -> None:
    """The example fits on a screen."""
    assert [] == [line for line in EXAMPLE.read_text(encoding="utf-8").splitlines() if len(line) >= 110]


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    """A validator of the schema, which is itself a valid one."""
    document = json_schema()
    Draft202012Validator.check_schema(document)
    return Draft202012Validator(document)


@pytest.mark.parametrize("name", ["least", "full", "shared"])
def test_schema_accepts_good_files(validator: Draft202012Validator, name: str) -> None:
    """What is a good configuration is one for an editor too."""
    validator.validate(tree_of(GOOD / f"{name}.yaml"))


def test_schema_accepts_the_example(validator: Draft202012Validator) -> None:
    """The example is good for an editor."""
    validator.validate(tree_of(EXAMPLE))


@pytest.mark.parametrize(
    "tree",
    [
        pytest.param({"target": []}, id="unknown field"),
        pytest.param({"targets": [{"name": "shop"}]}, id="missing field"),
        pytest.param({"defaults": {"interval": "30 s"}}, id="duration"),
        pytest.param({"targets": [{"name": "a", "address": "a", "tls": {"versions": ["1.1"]}}]}, id="version"),
        pytest.param({"log": {"level": "trace"}}, id="level"),
    ],
)
def test_schema_refuses(validator: Draft202012Validator, tree: Tree) -> None:
    """What an editor can see to be wrong, the schema refuses."""
    assert not validator.is_valid(tree)


def test_schema_is_described() -> None:
    """Every section and every field has a description."""
    definitions: dict[str, Any] = json_schema()["$defs"]
    fields = {
        f"{section}.{name}": body.get("description")
        for section, definition in definitions.items()
        for name, body in definition.get("properties", {}).items()
    }

    assert len(fields) > 40
    assert [] == [name for name, description in fields.items() if not description]
    assert all(
        definition["description"] and "\n" not in definition["description"] for definition in definitions.values()
    )
