"""Single values: durations, addresses and hosts."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.config.problem import RefusedError
from exporter.config.values import (
    DURATION_PATTERN,
    parse_duration,
    parse_endpoint,
    parse_host,
    parse_listen_address,
)
from exporter.model.target import Endpoint


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("250ms", 0.25),
        ("30s", 30.0),
        ("1.5s", 1.5),
        ("2m", 120.0),
        ("1h30m", 5400.0),
        ("24h", 86400.0),
        ("7d", 604800.0),
        ("1d2h3m4s5ms", 93784.005),
        ("30", 30.0),
        (30, 30.0),
        (0.5, 0.5),
        ("0s", 0.0),
    ],
)
def test_duration(written: float | str, expected: float) -> None:
    """A duration is a number of seconds, or units from the largest to the smallest."""
    assert isinstance(written, float | int) or re.search(DURATION_PATTERN, written)
    assert expected == pytest.approx(parse_duration(written))


@pytest.mark.parametrize(
    "written", ["", "s", "30 s", "-5s", "1m2h", "1s1s", "5sec", "1e3s", ".5s", "30s\n", "٣s", "5M", "1m30"]
)
def test_no_duration(written: str) -> None:
    """What could be read in two ways, or in none, is no duration."""
    assert not re.search(DURATION_PATTERN, written)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        pytest.param("name:443", Endpoint("name", 443), id="name"),
        pytest.param("name", Endpoint("name", 443), id="name without a port"),
        pytest.param("Shop.Example.COM:8443", Endpoint("shop.example.com", 8443), id="capitals"),
        pytest.param("shop.example.com.:443", Endpoint("shop.example.com.", 443), id="name that is searched nowhere"),
        pytest.param("my_service:443", Endpoint("my_service", 443), id="underscore"),
        pytest.param("bücher.example:443", Endpoint("xn--bcher-kva.example", 443), id="IDNA"),
        pytest.param("straße.example", Endpoint("xn--strae-oqa.example", 443), id="IDNA 2008 keeps the sharp s"),
        pytest.param("10.0.0.1:443", Endpoint("10.0.0.1", 443), id="IPv4"),
        pytest.param("[::1]:443", Endpoint("::1", 443), id="IPv6"),
        pytest.param("[2001:DB8:0::1]", Endpoint("2001:db8::1", 443), id="IPv6 in another spelling"),
        pytest.param("[fe80::1%eth0]:443", Endpoint("fe80::1%eth0", 443), id="IPv6 with a zone"),
    ],
)
def test_endpoint(written: str, expected: Endpoint) -> None:
    """An endpoint is a name in its A-label form or an IP literal, and a port that may be left out."""
    assert expected == parse_endpoint(written)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (":10507", ":10507"),
        ("127.0.0.1:0", "127.0.0.1:0"),
        ("[::1]:1", "[::1]:1"),
        ("[0::0]:09", "[::]:9"),
        ("LocalHost:80", "localhost:80"),
    ],
)
def test_listen_address(written: str, expected: str) -> None:
    """A listen address has one spelling, whatever it was written like."""
    assert expected == parse_listen_address(written)


@pytest.mark.parametrize("length", [63, 64])
def test_label_length(length: int) -> None:
    """A DNS label has 63 characters at most (RFC 1035 section 2.3.4)."""
    name = f"{'a' * length}.example"

    if length <= 63:
        assert name == parse_host(name)
    else:
        with pytest.raises(RefusedError):
            parse_host(name)


def endpoint_or_refusal(text: str) -> Endpoint | RefusedError:
    """Return what comes of an address."""
    try:
        return parse_endpoint(text)
    except RefusedError as refusal:
        return refusal


@given(text=st.text(max_size=80))
def test_any_text_is_an_address_or_refused(text: str) -> None:
    """Whatever stands there is either an endpoint that reads back as itself, or refused in words."""
    answer = endpoint_or_refusal(text)

    if isinstance(answer, Endpoint):
        assert answer == parse_endpoint(str(answer))
        assert answer.host.isascii()
    else:
        assert answer.found
        assert answer.allowed


@given(number=st.floats() | st.integers())
def test_any_number_is_a_duration_or_refused(number: float) -> None:
    """A number of seconds is taken from nothing to 366 days, and refused outside of that."""
    try:
        assert number == parse_duration(number)
    except RefusedError:
        assert not 0 <= number <= 366 * 86400
