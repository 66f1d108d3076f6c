"""Lists of targets in Prometheus's form: what becomes of them, and what is told of a mistake."""

from pathlib import Path

import pytest

from exporter.config.discovered import Listing, read_listing
from exporter.config.kinds import SecretSection
from exporter.config.problem import ConfigError, Findings
from exporter.config.schema import DefaultsSection, HttpSection, TemplateSection, TlsSection
from exporter.config.template import Template
from exporter.model.target import Endpoint, StartTls, Target, TlsVersion

TEMPLATE = Template(
    TemplateSection(
        labels={"team": "a", "tier": "1"}, http=HttpSection(path="/healthz"), tls=TlsSection(versions=["1.3"])
    ),
    DefaultsSection("1m", "2s"),
)


def read(text: str, *, is_json: bool = False, most: int = 100) -> tuple[Target, ...]:
    """Return the targets of a text."""
    return read_listing(Listing(text, "list", is_json), TEMPLATE, most)


@pytest.mark.parametrize(
    ("text", "is_json"),
    [
        pytest.param("- targets: [a.example:8443, b.example]\n  labels: {team: b}\n", False, id="YAML"),
        pytest.param('[{"targets": ["a.example:8443", "b.example"], "labels": {"team": "b"}}]', True, id="JSON"),
        pytest.param(
            '[{"targets": ["a.example:8443"], "labels": {"team": "b", "__meta_zone": "x"}},'
            '\n\t{"targets": ["b.example"], "labels": {"team": "b"}}]',
            True,
            id="several groups",
        ),
    ],
)
def test_targets(text: str, is_json: bool) -> None:
    """Each address is a target with what the template says; labels win over it, and hidden ones are left out."""
    first, second = read(text, is_json=is_json)

    assert ("a.example:8443", "b.example") == (first.name, second.name)
    assert (Endpoint("a.example", 8443), Endpoint("b.example", 443)) == (first.endpoint, second.endpoint)
    assert ("a.example", "/healthz", (TlsVersion.TLS13,)) == (first.server_name, first.http.path, first.versions)
    assert (("team", "b"), ("tier", "1")) == first.labels
    assert (60.0, 2.0) == (first.interval, first.timeout)


def test_settings_in_labels() -> None:
    """Labels that begin with __tlsprobe_ are settings of the group's targets."""
    (found,) = read(
        """
- targets: [10.0.0.1]
  labels:
    __tlsprobe_name: shop
    __tlsprobe_server_name: shop.example.com
    __tlsprobe_path: /deep
    __tlsprobe_versions: 1.2, 1.3
    __tlsprobe_interval: 30s
    __tlsprobe_timeout: 500ms
    __tlsprobe_backends: 10.0.0.2,10.0.0.3:8443
"""
    )

    assert ("shop", "shop.example.com", "/deep") == (found.name, found.server_name, found.http.path)
    assert ((TlsVersion.TLS12, TlsVersion.TLS13), 30.0, 0.5) == (found.versions, found.interval, found.timeout)
    assert (Endpoint("10.0.0.2", 443), Endpoint("10.0.0.3", 8443)) == found.backends
    assert (("team", "a"), ("tier", "1")) == found.labels


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        pytest.param("{job: x}", {"exported_job": "x"}, id="one that Prometheus sets"),
        pytest.param(
            "{cluster: x, namespace: y, pod: z}",
            {"exported_cluster": "x", "exported_namespace": "y", "exported_pod": "z"},
            id="those that it attaches",
        ),
        pytest.param("{target: x, backend: y}", {"exported_target": "x", "exported_backend": "y"}, id="ours"),
        pytest.param(
            "{job: x, exported_job: y}", {"exported_exported_job": "x", "exported_job": "y"}, id="both names taken"
        ),
        pytest.param("{__meta_job: x, jobs: y}", {"jobs": "y"}, id="others"),
    ],
)
def test_names_that_are_taken(labels: str, expected: dict[str, str]) -> None:
    """A label whose name is taken is kept under another one, as Prometheus does; none is replaced or lost."""
    (found,) = read(f"- {{targets: [a.example], labels: {labels}}}")

    assert expected | {"team": "a", "tier": "1"} == dict(found.labels)


def test_starttls_in_labels() -> None:
    """A target that begins in clear makes no request, though the template has one for the others."""
    (found,) = read("- {targets: [mail.example:25], labels: {__tlsprobe_starttls: smtp}}")

    assert (StartTls.SMTP, False) == (found.starttls, found.http.enabled)


def test_none() -> None:
    """A list may be empty."""
    assert () == read("[]") == read("[]", is_json=True) == read("- {targets: []}")


LINES = [
    pytest.param("", ["list: found nothing; allowed: FORM"], id="empty"),
    pytest.param("a: 1", ["list: found a mapping; allowed: FORM"], id="a mapping"),
    pytest.param(
        "- targets: [a.example]\n- targets: [b.example, a.example:70000]\n",
        ["list:2: [1].targets[1].address: port 70000 is out of range; allowed: 1 to 65535"],
        id="a port",
    ),
    pytest.param(
        "- targets: [a.example]\n  label: {}\n",
        ["list:2: [0].label: unknown field, did you mean labels?; allowed: targets, labels"],
        id="a field",
    ),
    pytest.param(
        "- targets: [a.example]\n  labels:\n    __tlsprobe_paht: /\n",
        [
            (
                "list:3: [0].labels.__tlsprobe_paht: unknown field, did you mean __tlsprobe_path?; allowed: "
                "__tlsprobe_name, __tlsprobe_server_name, __tlsprobe_path, __tlsprobe_versions, __tlsprobe_interval, "
                "__tlsprobe_timeout, __tlsprobe_backends, __tlsprobe_starttls"
            )
        ],
        id="a setting",
    ),
    pytest.param(
        "- targets: [a.example]\n  labels: {__tlsprobe_interval: 1s}\n",
        ["list:1: [0].targets[0].interval: 1s is shorter than timeout 2s; allowed: 2s or more"],
        id="a setting that does not go with another",
    ),
    pytest.param(
        "- targets: [a.example]\n- targets: [a.example]\n  labels: {team: shop}\n",
        ['list:2: [1].targets[0]: "a.example" is the name of [0].targets[0] too; allowed: a name of its own'],
        id="a name twice",
    ),
    pytest.param(
        "- targets: [a.example]\n  labels:\n    1st: x\n",
        [
            (
                "list:3: [0].targets[0].labels.1st: no label name; allowed: letters, digits and _, no digit first, "
                "no __ first"
            )
        ],
        id="a label",
    ),
    pytest.param(
        "- targets: [a, b, c, d]\n",
        ["list:1: [0].targets: more than 3 targets; allowed: max_targets of the source"],
        id="too many",
    ),
]


@pytest.mark.parametrize(("text", "expected"), LINES)
def test_mistakes(text: str, expected: list[str]) -> None:
    """A mistake refuses the whole list, and is told with its line, its place, what was found and what is allowed."""
    with pytest.raises(ConfigError) as caught:
        read(text, most=3)

    form = "a list of {targets: [ADDRESS, ...], labels: {NAME: TEXT}}"
    assert [line.replace("FORM", form) for line in expected] == [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param('[\n {"targets": ["a:99999"]}\n]', "list:2: [0].targets[0].address: port 99999", id="a value"),
        pytest.param('[\n {"targets": }', "list:2: this is not JSON from column 14 on", id="no JSON"),
        pytest.param("- targets: [a]", "list:1: this is not JSON from column 1 on", id="YAML"),
        pytest.param("[" * 100_000, "list", id="too deep"),
        pytest.param('["\\ud800"]', "list", id="half a character"),
        pytest.param("9" * 5000, "list", id="a long number"),
    ],
)
def test_mistakes_in_json(text: str, expected: str) -> None:
    """JSON's mistakes have lines, too."""
    with pytest.raises(ConfigError) as caught:
        read(text, is_json=True)

    assert str(caught.value).startswith(expected)


def test_a_specimen_knows_its_files(tmp_path: Path) -> None:
    """A file that the template names is read for each specimen, so that another content makes another one."""
    template = Template(
        TemplateSection(http=HttpSection(headers={"X-Token": SecretSection(file="secret")})), folder=tmp_path
    )
    specimens = []
    for secret in ("one", "one", "two"):
        (tmp_path / "secret").write_text(secret)
        specimens.append(template.specimen((), Findings("text")))

    assert specimens[0] == specimens[1] != specimens[2]
