"""How many queries a name costs where the system has a search list, and that the answer stays the system's own."""

import socket

import pytest

from exporter.discovery.whole import Answer, SearchList, WholeNames, ask_system, read_search_list

DOMAINS = ("shop.svc.cluster.local", "svc.cluster.local", "cluster.local")


class System:
    """A resolver with a search list as in a pod.

    Attributes:
        records: addresses by whole name.
        hosts: a host file, which comes before all names.
        aliases: whole names that lead to others.
        queries: the whole names that were asked for.
    """

    def __init__(self, records: dict[str, str]) -> None:
        self.records = records
        self.hosts: dict[str, str] = {}
        self.aliases: dict[str, str] = {}
        self.queries: list[str] = []

    def ask(self, name: str) -> Answer:
        """Answer as the C library would."""
        if name in self.hosts:
            return Answer(frozenset({self.hosts[name]}), name)
        whole = [name[:-1]] if name.endswith(".") else [*(f"{name}.{domain}" for domain in DOMAINS), name]
        for each in whole:
            self.queries.append(each)
            canonical = self.aliases.get(each, each)
            if canonical in self.records:
                return Answer(frozenset({self.records[canonical]}), canonical)
        raise socket.gaierror(socket.EAI_NONAME, "unknown")


def whole_names(system: System, now: list[float], search_list: SearchList | None = None) -> WholeNames:
    """Return a lookup with the system's search list."""
    return WholeNames(ask=system.ask, search_list=lambda: search_list or SearchList(True, 5), clock=lambda: now[0])


@pytest.mark.parametrize(
    ("name", "whole"),
    [
        pytest.param("shop.example.com", "shop.example.com", id="a public name"),
        pytest.param("web", "web.shop.svc.cluster.local", id="a Service of the same namespace"),
        pytest.param("web.shop", "web.shop.svc.cluster.local", id="a Service of a named one"),
        pytest.param("www.example.com", "www.example.com", id="an alias"),
    ],
)
def test_one_query(name: str, whole: str) -> None:
    """Once it is known which whole name answers, a lookup is one query."""
    system = System(dict.fromkeys(("shop.example.com", "web.shop.svc.cluster.local", "cdn.example.net"), "10.0.0.1"))
    system.aliases["www.example.com"] = "cdn.example.net"
    lookup = whole_names(system, [0.0])
    lookup(name)
    system.queries.clear()
    answers = [lookup(name) for _ in range(5)]

    assert [frozenset({"10.0.0.1"})] * 5 == answers
    assert [whole] * 5 == system.queries


def test_a_service_before_a_public_name() -> None:
    """What a search domain answers for is never taken from a public name that is spelt alike."""
    system = System({"web.dev.svc.cluster.local": "10.0.0.1", "web.dev": "192.0.2.1"})
    lookup = whole_names(system, [0.0])

    assert {frozenset({"10.0.0.1"})} == {lookup("web.dev") for _ in range(3)}
    assert "web.dev" not in system.queries


def test_a_host_file() -> None:
    """A host file's entry holds, though the name service knows another address for the name."""
    system = System({"shop.example.com": "192.0.2.1"})
    system.hosts["shop.example.com"] = "10.0.0.1"
    lookup = whole_names(system, [0.0])

    assert {frozenset({"10.0.0.1"})} == {lookup("shop.example.com") for _ in range(3)}


def test_what_is_learned_is_learned_anew() -> None:
    """A search domain that comes to have the name is seen after ten minutes, and at once if the whole name is gone."""
    system, now = System({"shop.example.com": "10.0.0.1"}), [0.0]
    lookup = whole_names(system, now)
    lookup("shop.example.com")
    system.records["shop.example.com.cluster.local"] = "10.0.0.2"
    kept = lookup("shop.example.com")
    now[0] = 600.0
    renewed = lookup("shop.example.com")
    del system.records["shop.example.com.cluster.local"]
    gone = lookup("shop.example.com")

    assert [{"10.0.0.1"}, {"10.0.0.2"}, {"10.0.0.1"}] == [set(each) for each in (kept, renewed, gone)]


def test_a_name_that_fails() -> None:
    """What the system raises is passed on, at any time."""
    system = System({"shop.example.com": "10.0.0.1"})
    lookup = whole_names(system, [0.0])
    lookup("shop.example.com")
    system.records.clear()

    for name in ("shop.example.com", "other"):
        with pytest.raises(socket.gaierror):
            lookup(name)


@pytest.mark.parametrize(
    ("name", "search_list"),
    [
        pytest.param("shop.example.com.", SearchList(True, 5), id="a dot at the end"),
        pytest.param("a.b.shop.example.com", SearchList(True, 4), id="enough dots"),
        pytest.param("shop.example.com", SearchList(False, 5), id="no search domains"),
    ],
)
def test_nothing_to_learn(name: str, search_list: SearchList) -> None:
    """Where names are not multiplied they are asked for once, and as they are."""
    asked: list[str] = []

    def ask(name: str) -> Answer:
        asked.append(name)
        return Answer(frozenset({"10.0.0.1"}), name)

    lookup = WholeNames(ask=ask, search_list=lambda: search_list)
    for _ in range(3):
        lookup(name)

    assert [name] * 3 == asked


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", SearchList(), id="nothing"),
        pytest.param("nameserver 10.0.0.1\nsearch a.local b.local\noptions ndots:5", SearchList(True, 5), id="a pod"),
        pytest.param("domain example.com\n", SearchList(True, 1), id="a domain"),
        pytest.param("search example.com\nsearch .\noptions edns0 ndots:99", SearchList(False, 15), id="none at last"),
        pytest.param("# search a\n;search b\noptions ndots:x\n", SearchList(), id="comments"),
    ],
)
def test_search_list(text: str, expected: SearchList) -> None:
    """A resolv.conf says whether there are domains, and how many dots make a name whole."""
    assert expected == read_search_list(text)


def test_the_system() -> None:
    """The system's resolver tells a host file's entry and a literal."""
    assert "127.0.0.1" in ask_system("localhost").hosts
    assert ask_system("127.0.0.1").hosts == frozenset({"127.0.0.1"})
