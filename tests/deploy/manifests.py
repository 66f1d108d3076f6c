"""Plain manifests and the Kustomize base, made from the chart, so that there is one place where a pod is described."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from tests.deploy.chart import Object, find, render

NAME = "tls-resumption-exporter"
PLAIN = Path("deploy/manifests")
BASE = Path("deploy/kustomize/base")
COMPONENTS = Path("deploy/kustomize/components")
_MADE = "# Made by `python -m tests.deploy` from the chart; do not change it by hand.\n"
_HELMS = ("helm.sh/chart", "app.kubernetes.io/managed-by")
_FILES = {
    "Deployment": BASE / "deployment.yaml",
    "Service": BASE / "service.yaml",
    "ServiceAccount": BASE / "serviceaccount.yaml",
    "ServiceMonitor": COMPONENTS / "servicemonitor/servicemonitor.yaml",
    "PrometheusRule": COMPONENTS / "rules/prometheusrule.yaml",
}
_OPERATORS = ("ServiceMonitor", "PrometheusRule")


def make_files() -> Iterator[tuple[Path, str]]:
    """Yield the path and text of each file; the ConfigMap is made by Kustomize, for which it has no file."""
    values = {
        "config": (BASE / "config.yaml").read_text(),
        "serviceMonitor": {"enabled": True},
        "prometheusRule": {"enabled": True},
    }
    objects = [_plain(one) for one in render(values, name=NAME, namespace="monitoring")]
    yield COMPONENTS / "kubernetes-discovery/rights.yaml", _text(_rights())
    claim = find(render({"persistence": {"enabled": True}}, name=NAME, namespace="monitoring"), "PersistentVolumeClaim")
    yield COMPONENTS / "state/claim.yaml", _text([_plain(claim)])
    yield PLAIN / f"{NAME}.yaml", _text([one for one in objects if one["kind"] not in _OPERATORS])
    yield from ((_FILES[one["kind"]], _text([one])) for one in objects if one["kind"] in _FILES)


def _rights() -> list[dict[str, Any]]:
    """Return the rights for discovery in all namespaces, since a kustomization puts all it has into one.

    The account has no namespace there, which has Kustomize fill in that of the kustomization.
    """
    values = {"kubernetesDiscovery": {"enabled": True}, "rbac": {"clusterWide": True}}
    objects = render(values, name=NAME, namespace="monitoring")
    role, binding = _plain(find(objects, "ClusterRole")), _plain(find(objects, "ClusterRoleBinding"))
    for one in (role["metadata"], binding["metadata"], binding["roleRef"]):
        one["name"] = NAME
    del binding["subjects"][0]["namespace"]
    return [role, binding]


def _plain(one: Object) -> dict[str, Any]:
    """Return the object without what only Helm needs, and without a namespace, which is up to who applies it."""
    labels = {name: value for name, value in one["metadata"]["labels"].items() if name not in _HELMS}
    found = {**one, "metadata": {"name": one["metadata"]["name"], "labels": labels}}
    if one["kind"] == "ServiceMonitor":
        found["spec"] = {name: value for name, value in one["spec"].items() if name != "namespaceSelector"}
    if one["kind"] == "Deployment":
        del found["spec"]["template"]["metadata"]["annotations"]["checksum/config"]
    return found


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as such."""


def _represent(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _represent)


def _text(objects: list[dict[str, Any]]) -> str:
    return _MADE + yaml.dump_all(objects, Dumper=_Dumper, sort_keys=False, width=1000)
