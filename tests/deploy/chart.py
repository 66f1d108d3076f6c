"""The chart, rendered by Helm's own engine."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import helm_python
import yaml

CHART = Path("deploy/helm/tls-resumption-exporter")
Object = Mapping[str, Any]


def render(values: Object | None = None, *, name: str = "tlsprobe", namespace: str = "monitoring") -> list[Object]:
    """Return the objects that these values lead to.

    Raises:
        helm_python.HelmError: the values or the templates are refused.
    """
    return [one for text in render_files(values, name, namespace) for one in yaml.safe_load_all(text) if one]


def notes(values: Object | None = None) -> str:
    """Return what is told after installing."""
    with helm_python.Chart.load(CHART) as chart:
        return chart.render(dict(values or {}), name="tlsprobe", namespace="monitoring")[
            f"{CHART.name}/templates/NOTES.txt"
        ]


def render_files(values: Object | None, name: str, namespace: str) -> Iterator[str]:
    """Yield the templates' texts, in order; unlike `render`, Helm checks no values there by itself."""
    with helm_python.Chart.load(CHART) as chart:
        chart.validate_schema(dict(values or {}))
        files = chart.render(dict(values or {}), name=name, namespace=namespace)
    yield from (text for path, text in sorted(files.items()) if path.endswith(".yaml"))


def find(objects: list[Object], kind: str) -> Object:
    """Return the only object of a kind."""
    (found,) = [one for one in objects if one["kind"] == kind]
    return found


def pod(objects: list[Object]) -> Object:
    """Return the pod's spec."""
    (workload,) = [one for one in objects if one["kind"] in {"Deployment", "DaemonSet", "StatefulSet"}]
    spec: Object = workload["spec"]["template"]["spec"]
    return spec


def container(objects: list[Object]) -> Object:
    """Return the exporter's container."""
    (found,) = [one for one in pod(objects)["containers"] if one["name"] == "tlsprobe"]
    own: Object = found
    return own
