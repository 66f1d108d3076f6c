"""The plain manifests, the Kustomize base and its components."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from exporter.config.check import check as check_config
from tests.deploy import validity
from tests.deploy.chart import Object, find
from tests.deploy.manifests import NAME, PLAIN, make_files
from tests.servers.process import MissingProgramError, find_program

KUSTOMIZE = Path("deploy/kustomize")
EXAMPLES = KUSTOMIZE / "examples"
_NEEDED = 5


def kubectl() -> str:
    """Return the path of a kubectl whose Kustomize knows components, or skip the test: Debian has none."""
    try:
        program = find_program("kubectl")
    except MissingProgramError as error:
        pytest.skip(str(error))
    words = [program, "version", "--client", "--output=yaml"]
    told = subprocess.run(words, capture_output=True, text=True, check=False).stdout
    version = yaml.safe_load(told).get("kustomizeVersion", "v0")
    if int(version[1:].split(".")[0]) < _NEEDED:
        pytest.skip(f"kubectl has Kustomize {version}, and components need v{_NEEDED}")
    return program


def build(folder: Path) -> list[Object]:
    """Return the objects of a kustomization."""
    words = [kubectl(), "kustomize", str(folder)]
    found = subprocess.run(words, capture_output=True, text=True, timeout=30, check=False)
    assert 0 == found.returncode, found.stderr
    return [one for one in yaml.safe_load_all(found.stdout) if one]


def configuration(objects: list[Object], name: str) -> tuple[str, Object]:
    """Return the full name and the data of the ConfigMap whose name begins so."""
    (found,) = [one for one in objects if one["kind"] == "ConfigMap" and one["metadata"]["name"].startswith(name)]
    return found["metadata"]["name"], found["data"]


def test_state_outlives_the_pod() -> None:
    """The central example keeps its file of ticket keys on a volume that only one pod at a time has."""
    objects = build(EXAMPLES / "central")
    _, data = configuration(objects, NAME)
    deployment, claim = find(objects, "Deployment")["spec"], find(objects, "PersistentVolumeClaim")
    pod = deployment["template"]["spec"]
    places = {mount["name"]: mount["mountPath"] for mount in pod["containers"][0]["volumeMounts"]}
    volumes = {volume["name"]: volume for volume in pod["volumes"]}

    assert "Recreate" == deployment["strategy"]["type"]
    assert claim["metadata"]["name"] == volumes["state"]["persistentVolumeClaim"]["claimName"]
    assert str(Path(yaml.safe_load(data["config.yaml"])["ticket_keys"]["state_file"]).parent) == places["state"]


@pytest.mark.parametrize(("path", "text"), [pytest.param(*each, id=str(each[0])) for each in make_files()])
def test_what_is_made_from_the_chart_is_current(path: Path, text: str) -> None:
    """`python -m tests.deploy` would change nothing."""
    assert text == path.read_text()


@pytest.mark.parametrize("version", validity.VERSIONS)
def test_the_plain_manifests_are_valid(version: str) -> None:
    """They hold all that is needed, and Kubernetes takes it."""
    objects = list(yaml.safe_load_all((PLAIN / f"{NAME}.yaml").read_text()))

    assert {"ConfigMap", "Deployment", "Service", "ServiceAccount"} == {one["kind"] for one in objects}
    validity.check(objects, version)


@pytest.mark.parametrize("name", ["central", "sidecar"])
def test_examples_can_be_built(name: str, tmp_path: Path) -> None:
    """They are valid, their configuration can be used, and a change of it replaces the pods."""
    objects = build(EXAMPLES / name)
    full, data = configuration(objects, {"central": NAME, "sidecar": "tlsprobe-sidecar"}[name])
    (tmp_path / "config.yaml").write_text(data["config.yaml"])
    volumes = find(objects, "Deployment")["spec"]["template"]["spec"]["volumes"]

    for version in validity.VERSIONS:
        validity.check(objects, version)
    assert (0, "OK: 2 targets") == check_config(tmp_path / "config.yaml")
    assert re.search(r"-[a-z0-9]{10}$", full)
    assert full in {volume.get("configMap", {}).get("name") for volume in volumes}


def test_the_base_is_the_plain_manifests() -> None:
    """Only the ConfigMap's name differs, which ends in a hash there."""
    plain = {one["kind"]: one for one in yaml.safe_load_all((PLAIN / f"{NAME}.yaml").read_text())}
    built = {one["kind"]: one for one in build(KUSTOMIZE / "base")}

    assert plain["Service"] == built["Service"]
    assert plain["ConfigMap"]["data"] == built["ConfigMap"]["data"]
    assert _pod(plain["Deployment"])["containers"] == _pod(built["Deployment"])["containers"]


def _pod(deployment: Object) -> dict[str, Any]:
    spec: dict[str, Any] = deployment["spec"]["template"]["spec"]
    return spec


def test_discovery_has_its_rights_and_its_token(tmp_path: Path) -> None:
    """The account is that of the pod, wherever the kustomization puts it."""
    for name in ("base", "components/kubernetes-discovery"):
        shutil.copytree(KUSTOMIZE / name, tmp_path / name)
    (tmp_path / "kustomization.yaml").write_text(
        "namespace: probing\nresources: [base]\ncomponents: [components/kubernetes-discovery]\n"
    )
    objects = build(tmp_path)
    pod = _pod(find(objects, "Deployment"))
    account = {"kind": "ServiceAccount", "name": pod["serviceAccountName"], "namespace": "probing"}

    validity.check(objects, validity.VERSIONS[-1])
    assert pod["automountServiceAccountToken"] is True
    assert [account] == find(objects, "ClusterRoleBinding")["subjects"]
    assert find(objects, "ClusterRole")["metadata"]["name"] == find(objects, "ClusterRoleBinding")["roleRef"]["name"]


@pytest.mark.parametrize(
    ("component", "where"),
    [
        pytest.param("sidecar", "containers", id="sidecar"),
        pytest.param("native-sidecar", "initContainers", id="native sidecar"),
    ],
)
def test_the_sidecar_goes_beside_whatever_is_there(component: str, where: str, tmp_path: Path) -> None:
    """The neighbour stays as it was, and nothing of the prober's can take it out of service."""
    target = tmp_path / "overlay"
    target.mkdir()
    shop = (EXAMPLES / "sidecar/shop.yaml").read_text()
    (target / "shop.yaml").write_text(shop)
    source = KUSTOMIZE / "components" / component
    copied = tmp_path / component
    copied.mkdir()
    for file in source.iterdir():
        (copied / file.name).write_text(file.read_text())
    (target / "kustomization.yaml").write_text(f"resources: [shop.yaml]\ncomponents: [../{component}]\n")
    pod = _pod(find(build(target), "Deployment"))
    (neighbour,) = _pod(next(iter(yaml.safe_load_all(shop))))["containers"]
    (prober,) = [one for one in pod[where] if one["name"] == "tlsprobe"]

    assert neighbour in pod["containers"]
    assert "readinessProbe" not in prober
    assert "cpu" not in prober["resources"]["limits"]
    assert ("Always" if where == "initContainers" else None) == prober.get("restartPolicy")
    validity.check([find(build(target), "Deployment")], validity.VERSIONS[-1])


def test_both_sidecars_are_the_same_container() -> None:
    """They differ in where they stand, and in the word that makes a native one."""
    patches = [
        yaml.safe_load((KUSTOMIZE / "components" / name / "patch.yaml").read_text())
        for name in ("sidecar", "native-sidecar")
    ]
    (plain,), (native,) = _pod(patches[0])["containers"], _pod(patches[1])["initContainers"]

    assert {**plain, "restartPolicy": "Always"} == native
    assert _pod(patches[0])["volumes"] == _pod(patches[1])["volumes"]
