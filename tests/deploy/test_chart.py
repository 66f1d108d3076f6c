"""What the chart makes of values, and which it refuses."""

import json
from pathlib import Path
from typing import Any

import helm_python
import pytest
import yaml

from exporter import __version__
from exporter.cli.shard import INDEX_VARIABLE, find_shard
from exporter.config.check import check as check_config
from tests.deploy import validity
from tests.deploy.cases import CASES, EVERYTHING, TARGETS, WATCHED
from tests.deploy.chart import CHART, Object, container, find, notes, pod, render

LATEST = validity.VERSIONS[-1]


def test_lint_has_nothing_to_say() -> None:
    """Strictly, too, and with all values given; an icon is a matter of taste."""
    reports = [helm_python.lint(CHART, dict(values), strict=True) for values in CASES.values()]
    told = {message["error"] for report in reports for message in report["messages"]}

    assert {"icon is recommended"} == told
    assert not [error for report in reports for error in report["errors"]]


@pytest.mark.parametrize("values", [pytest.param(values, id=name) for name, values in CASES.items()])
def test_kubernetes_takes_it(values: Object) -> None:
    """Whatever is asked for, the objects are valid in old and new versions of Kubernetes."""
    objects = render(values)

    assert objects
    for version in validity.VERSIONS:
        validity.check(objects, version)


def test_everything_can_be_asked_for() -> None:
    """The case with everything leads to each kind of object that the chart knows."""
    kinds = {one["kind"] for values in CASES.values() for one in render(values)}
    schemas = {file.stem for file in (Path(__file__).parent / "crds").glob("*.json")}

    assert schemas < kinds
    assert {"Deployment", "DaemonSet", "StatefulSet", "Secret", "NetworkPolicy", "PodDisruptionBudget"} < kinds


def test_the_versions_are_the_exporters_own() -> None:
    """Chart, application and package go together."""
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())

    assert [__version__] * 2 == [chart["version"], chart["appVersion"]]
    assert f":{__version__}" in container(render())["image"]


def test_the_schema_knows_the_values() -> None:
    """Each value that has a default is in the schema, and the other way round."""
    schema = json.loads((CHART / "values.schema.json").read_text())

    _compare(yaml.safe_load((CHART / "values.yaml").read_text()), schema, "values")


def _compare(values: dict[str, Any], schema: dict[str, Any], place: str) -> None:
    properties = schema["properties"]
    assert set(properties) == set(values), place
    for name, value in values.items():
        if isinstance(value, dict) and properties[name].get("additionalProperties") is False:
            _compare(value, properties[name], f"{place}.{name}")


def test_it_is_locked_up() -> None:
    """Nobody's user, nothing to write to, no capability, no token, and no CPU limit to stop it while it measures."""
    objects = render()
    own = container(objects)

    assert {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    } == own["securityContext"]
    assert (True, 65532) == tuple(pod(objects)["securityContext"][key] for key in ("runAsNonRoot", "runAsUser"))
    assert pod(objects)["automountServiceAccountToken"] is False
    assert "cpu" not in own["resources"]["limits"]


@pytest.mark.parametrize(
    ("name", "key"),
    [
        pytest.param("one with a volume", "data", id="ConfigMap"),
        pytest.param("replicas with a volume each", "data", id="StatefulSet"),
        pytest.param("a secret of its own", "stringData", id="Secret"),
        pytest.param("a text", "data", id="text"),
    ],
)
def test_the_configuration_can_be_used(name: str, key: str, tmp_path: Path) -> None:
    """What ends up in the cluster passes `tlsprobe check`, large numbers included."""
    values = CASES[name]
    objects = render(values)
    kind = {"data": "ConfigMap", "stringData": "Secret"}[key]
    text = find(objects, kind)[key]["config.yaml"]
    file = tmp_path / "config.yaml"
    file.write_text(text)

    assert (0, "OK: 1 target") == check_config(file)
    assert ("state_file" in text) is ("persistence" in values)
    assert "--config=/etc/tlsprobe/config.yaml" in container(objects)["args"]


def test_a_changed_configuration_replaces_the_pods() -> None:
    """The pod carries the configuration's hash."""

    def annotations(config: Object) -> Object:
        found: Object = find(render({"config": config}), "Deployment")["spec"]["template"]["metadata"]["annotations"]
        return found

    assert annotations(TARGETS) == annotations(TARGETS)
    assert annotations(TARGETS) != annotations({**TARGETS, "defaults": {"interval": "60s"}})


def test_pods_that_reload_are_left_alone() -> None:
    """Without the hash, a changed configuration changes nothing about the pods."""
    template = find(render({"config": TARGETS, "configReload": True}), "Deployment")["spec"]["template"]

    assert "checksum/config" not in template["metadata"]["annotations"]


def test_shards_are_numbered() -> None:
    """Each pod is told how many there are, and has its own name to find its number in."""
    own = container(render(CASES["shards"]))

    assert 2 == find_shard(own["args"][2].removeprefix("--shard="), {}, "a-2").index
    assert {"name": INDEX_VARIABLE, "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}} in own["env"]


@pytest.mark.parametrize(
    ("web", "path", "port"),
    [
        pytest.param({}, "/-/ready", "metrics", id="open"),
        pytest.param({"routePrefix": "probe/"}, "/probe/-/ready", "metrics", id="prefix"),
        pytest.param({"externalUrl": "https://a/b/"}, "/b/-/ready", "metrics", id="external URL"),
        pytest.param({"externalUrl": "https://a/b/", "routePrefix": "/"}, "/-/ready", "metrics", id="proxy strips"),
        pytest.param({"configSecret": "web", "routePrefix": "/probe"}, "/-/ready", "health", id="locked"),
    ],
)
def test_health_is_asked_where_it_is_told(web: Object, path: str, port: str) -> None:
    """The kubelet has no password, and a prefix is in front of the main address's pages alone."""
    asked = container(render({"web": web}))["readinessProbe"]["httpGet"]

    assert {"path": path, "port": port} == asked


@pytest.mark.parametrize(
    ("values", "words"),
    [
        pytest.param({"serviceMonitors": {}}, "serviceMonitors", id="misspelt"),
        pytest.param({"livenessProbe": {"periodSecond": 5}}, "periodSecond", id="misspelt in a probe of health"),
        pytest.param({"kind": "Job"}, "kind", id="kind"),
        pytest.param({"image": {"digest": "latest"}}, "digest", id="digest"),
        pytest.param({"prometheusRule": {"enabled": True, "alerts": {"Nope": {}}}}, "Nope", id="no such alert"),
        pytest.param({"prometheusRule": {"enabled": True, "thresholds": {"nope": 1}}}, "nope", id="no such threshold"),
        pytest.param({"kind": "DaemonSet", "persistence": {"enabled": True}}, "hostPath", id="DaemonSet with a claim"),
        pytest.param({"sharded": True}, "StatefulSet", id="shards without numbers"),
        pytest.param({"replicas": 2, "persistence": {"enabled": True}}, "StatefulSet", id="replicas share a claim"),
        pytest.param({"existingSecret": "a", "config": TARGETS}, "without effect", id="two configurations"),
        pytest.param({"existingSecret": "a", "existingConfigMap": "b"}, "one of them", id="two of somebody's"),
        pytest.param({"route": {"enabled": True}}, "parentRefs", id="route to nowhere"),
        pytest.param({"ingress": {"enabled": True}}, "hosts", id="ingress of nobody"),
        pytest.param(
            {"persistence": {"enabled": True}, "strategy": {"type": "RollingUpdate"}}, "Recreate", id="one for two"
        ),
        pytest.param({"web": {"port": 10508}}, "healthPort are both 10508", id="one port for two"),
        pytest.param({"config": {"listen": [":9000"]}}, "web.port, which is 10507", id="a port that leads nowhere"),
        pytest.param({"podLabels": {"app.kubernetes.io/name": "x"}}, "nameOverride", id="pods that nothing selects"),
        pytest.param({"commonLabels": {"app.kubernetes.io/version": "1"}}, "commonLabels", id="a label twice"),
        pytest.param({"probe": {"enabled": True}}, "probe.targets", id="nobody to probe"),
        pytest.param({"probe": {"enabled": True, "target": ["shop"]}}, "target", id="misspelt inside"),
        pytest.param({"kubernetesDiscovery": {"namespaces": ["a b"]}}, "namespaces", id="no namespace"),
        pytest.param(
            {"config": WATCHED, "serviceAccount": {"create": False}}, "every pod", id="rights for everybody's account"
        ),
        pytest.param(
            {"kind": "StatefulSet", "sharded": True, "config": TARGETS, "probe": {"enabled": True}},
            "only one knows",
            id="probe of shards",
        ),
        pytest.param({"podMonitor": {"enabled": True, "basicAuth": {"username": {}}}}, "https", id="password in clear"),
        pytest.param(
            {"service": {"enabled": False}, "serviceMonitor": {"enabled": True}}, "podMonitor", id="no service"
        ),
    ],
)
def test_what_cannot_work_is_refused(values: Object, words: str) -> None:
    """The message names the value."""
    with pytest.raises(helm_python.HelmError, match=words):
        render(values)


def test_a_port_that_is_told_twice() -> None:
    """A configuration may say where to listen, if it says what is so."""
    assert render({"config": {"listen": ["0.0.0.0:10507"]}})


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        pytest.param({}, "Nothing scrapes it yet", id="no monitor"),
        pytest.param({}, "its built-in reference alone", id="no configuration"),
        pytest.param({"serviceMonitor": {"enabled": True}}, "release: NAME-OF-ITS-HELM-RELEASE", id="the label trap"),
        pytest.param({"resources": {"limits": {"cpu": "1"}}}, "A CPU limit is set", id="CPU limit"),
        pytest.param(EVERYTHING, "https://localhost:10507/probe/metrics", id="where it is"),
        pytest.param({"config": WATCHED}, "EndpointSlices in namespace monitoring, shop.", id="what it watches"),
        pytest.param({"existingSecret": "a"}, "set kubernetesDiscovery.enabled", id="what cannot be seen"),
    ],
)
def test_notes(values: Object, expected: str) -> None:
    """What people should know after installing is told."""
    assert expected in notes(values)


def test_it_can_be_packaged_from_anywhere(tmp_path: Path) -> None:
    """The archive holds the rules themselves, where the source has links to them."""
    archive = helm_python.package(CHART, destination=tmp_path)
    with helm_python.Chart.load(archive) as packed, helm_python.Chart.load(CHART) as source:
        values = {"prometheusRule": {"enabled": True}, "dashboards": {"enabled": True}}
        assert source.render(values, name="a", namespace="b") == packed.render(values, name="a", namespace="b")


def test_dashboards_are_where_grafanas_sidecar_looks() -> None:
    """Each file is a ConfigMap of its own, unchanged, with the label and the folder that are asked for."""
    settings = {"enabled": True, "namespace": "grafana", "label": "dash", "labelValue": "yes", "folder": "TLS"}
    objects = [one for one in render({"dashboards": settings}) if "dash" in one["metadata"].get("labels", {})]
    texts = {name: text for one in objects for name, text in one["data"].items()}

    assert {file.name: file.read_text().rstrip("\n") for file in Path("grafana/dashboards").glob("*.json")} == {
        name: text.rstrip("\n") for name, text in texts.items()
    }
    assert {("grafana", "yes", "TLS")} == {
        (
            one["metadata"]["namespace"],
            one["metadata"]["labels"]["dash"],
            one["metadata"]["annotations"]["grafana_folder"],
        )
        for one in objects
    }
