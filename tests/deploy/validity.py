"""Whether objects are what Kubernetes and its extensions take."""

import json
from collections.abc import Iterable
from pathlib import Path

import jsonschema
import kubernetes_validate  # type: ignore[import-untyped]

from tests.deploy.chart import Object

VERSIONS = ("1.31", "1.34", "1.37")
_CRDS = Path(__file__).parent / "crds"


def check(objects: Iterable[Object], version: str) -> None:
    """Check each against its schema, to which no unknown field is known.

    Raises:
        kubernetes_validate.ValidationError: Kubernetes would refuse one of its own.
        jsonschema.ValidationError: an extension would.
    """
    for one in objects:
        schema = _CRDS / f"{one['kind']}.json"
        if schema.exists():
            jsonschema.validate(one, json.loads(schema.read_text()))
        else:
            kubernetes_validate.validate(one, version, strict=True)
