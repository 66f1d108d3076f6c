"""What the chart lets the exporter do in the cluster, and whom a Probe has it ask."""

import pytest
import yaml

from tests.deploy.cases import TARGETS, WATCHED
from tests.deploy.chart import Object, find, pod, render

LISTING = [{"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": ["list", "watch"]}]
ACCOUNT = {"kind": "ServiceAccount", "name": "tlsprobe-tls-resumption-exporter", "namespace": "monitoring"}
RIGHTS = {"Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"}


def rights(values: Object) -> dict[str, list[Object]]:
    """Return the objects that give rights, by kind."""
    found = [one for one in render(values) if one["kind"] in RIGHTS]
    return {kind: [one for one in found if one["kind"] == kind] for kind in sorted({one["kind"] for one in found})}


@pytest.mark.parametrize(
    "values",
    [
        pytest.param({}, id="no configuration"),
        pytest.param({"config": TARGETS}, id="names alone"),
        pytest.param({"config": yaml.safe_dump(TARGETS)}, id="a text"),
        pytest.param({"config": "targets: [a, {backends_from: 1}, {backends_from: {kubernetes: 1}}]"}, id="nonsense"),
        pytest.param({"config": WATCHED, "kubernetesDiscovery": {"enabled": False}}, id="switched off"),
        pytest.param({"existingSecret": "mine"}, id="somebody's"),
    ],
)
def test_who_asks_no_api_server_has_no_rights(values: Object) -> None:
    """There is neither a role nor a token."""
    objects = render(values)

    assert not rights(values)
    assert pod(objects)["automountServiceAccountToken"] is False
    assert find(objects, "ServiceAccount")["automountServiceAccountToken"] is False


@pytest.mark.parametrize(
    ("values", "namespaces"),
    [
        pytest.param({"config": WATCHED}, {"shop", "monitoring"}, id="as configured"),
        pytest.param({"config": yaml.safe_dump(WATCHED)}, {"shop", "monitoring"}, id="a text"),
        pytest.param(
            {"config": WATCHED, "kubernetesDiscovery": {"namespaces": ["mail", "shop"]}},
            {"shop", "monitoring", "mail"},
            id="more of them",
        ),
        pytest.param(
            {"existingSecret": "mine", "kubernetesDiscovery": {"enabled": True, "namespaces": ["mail"]}},
            {"mail"},
            id="somebody's configuration",
        ),
        pytest.param({"kubernetesDiscovery": {"enabled": True}}, {"monitoring"}, id="asked for"),
    ],
)
def test_rights_are_where_the_services_are(values: Object, namespaces: set[str]) -> None:
    """Each namespace has one role, to list and watch EndpointSlices and no more, for our own account alone."""
    found = rights(values)

    assert {"Role", "RoleBinding"} == set(found)
    for kind in found.values():
        assert sorted(namespaces) == [one["metadata"]["namespace"] for one in kind]
    assert all(LISTING == one["rules"] for one in found["Role"])
    assert all([ACCOUNT] == one["subjects"] for one in found["RoleBinding"])
    assert {one["metadata"]["name"] for one in found["Role"]} == {
        one["roleRef"]["name"] for one in found["RoleBinding"]
    }


def test_one_role_may_do_for_all() -> None:
    """It belongs to no namespace, and its name to no other release's."""
    values = {"config": WATCHED, "rbac": {"clusterWide": True}}
    found = rights(values)
    (role,), (binding,) = found["ClusterRole"], found["ClusterRoleBinding"]

    assert {"ClusterRole", "ClusterRoleBinding"} == set(found)
    assert "namespace" not in role["metadata"]
    assert "monitoring-tlsprobe-tls-resumption-exporter" == role["metadata"]["name"]
    assert {
        "apiGroup": "rbac.authorization.k8s.io",
        "kind": "ClusterRole",
        "name": role["metadata"]["name"],
    } == binding["roleRef"]
    assert LISTING == role["rules"]
    assert [ACCOUNT] == binding["subjects"]


def test_the_token_is_mounted_with_rights_from_elsewhere_too() -> None:
    """Only our own pod has it: the account itself still gives it to nobody."""
    objects = render({"config": WATCHED, "rbac": {"create": False}})

    assert not [one for one in objects if one["kind"] in RIGHTS]
    assert pod(objects)["automountServiceAccountToken"] is True
    assert find(objects, "ServiceAccount")["automountServiceAccountToken"] is False


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        pytest.param({"config": WATCHED}, ["shop", "shop-too", "own"], id="all"),
        pytest.param({"config": yaml.safe_dump(TARGETS)}, ["shop"], id="of a text"),
        pytest.param({"config": WATCHED, "probe": {"targets": ["own"]}}, ["own"], id="one"),
        pytest.param({"existingSecret": "mine", "probe": {"targets": ["mail"]}}, ["mail"], id="somebody's"),
    ],
)
def test_a_probe_asks_for_configured_targets(values: Object, expected: list[str]) -> None:
    """Names, for /probe knows no others, behind the service and its prefix."""
    web = {"routePrefix": "/tls", "configSecret": "web"}
    probe = {**values.get("probe", {}), "enabled": True}
    spec = find(render({**values, "web": web, "probe": probe}), "Probe")["spec"]

    assert expected == spec["targets"]["staticConfig"]["static"]
    assert {
        "url": "tlsprobe-tls-resumption-exporter.monitoring.svc:10507",
        "path": "/tls/probe",
        "scheme": "https",
    } == spec["prober"]
