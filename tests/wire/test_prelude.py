"""What goes ahead of TLS: each dialogue with a server on a piece of memory, and what is made of bad ones."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from exporter.model.failure import STAGE_REASONS, Failure, Reason, Stage
from exporter.model.target import Address, Endpoint, ProxyProtocol, StartTls, Target
from exporter.wire.prelude import Prelude, PreludeStep, prelude

OWN = Endpoint("192.0.2.7", 50000)
BACKEND = Address("192.0.2.1", 993)
PROXY = Address("192.0.2.3", 3128)
TARGET = Target(name="mail", endpoint=Endpoint("mail.test", 993), server_name="mail.test")

EHLO = b"EHLO [192.0.2.7]\r\n"
LDAP_REQUEST = bytes.fromhex("301d 020101 7718 8016") + b"1.3.6.1.4.1.1466.20037"
LDAP_YES = bytes.fromhex("300c 020101 7807 0a0100 0400 0400")
MYSQL_GREETING = b"\x0a8.0.36\0" + bytes(4) + b"12345678" + b"\0" + b"\xff\xff" + bytes(30)
MYSQL_REQUEST = bytes.fromhex("20000001 018a0800 00000001 21") + bytes(23)
SSL_REQUEST = bytes.fromhex("0000000804d2162f")


def packet(contents: bytes, number: int = 0) -> bytes:
    """Wrap contents as MySQL does."""
    return len(contents).to_bytes(3, "little") + bytes((number,)) + contents


def ldap_answer(code: int, *, number: int = 1) -> bytes:
    """Give an extended response with a result code."""
    return bytes((0x30, 12, 2, 1, number, 0x78, 7, 0x0A, 1, code, 4, 0, 4, 0))


def speak(course: Prelude, answers: Sequence[bytes], cut: int = 1 << 20) -> tuple[list[bytes], PreludeStep]:
    """Let a server say its answers, each when everything before it was said, in pieces; then it hangs up.

    Returns:
        What it was told, and the step that ended it.
    """
    step = course.start()
    told = [step.send]
    for answer in answers:
        for start in range(0, len(answer), cut):
            step = course.receive(answer[start : start + cut])
            told.append(step.send)
            if step.done or step.failure:
                return [words for words in told if words], step
    step = course.receive_eof()
    return [words for words in told if words], step


def begin(starttls: StartTls) -> Prelude:
    """Give a dialogue that has yet to begin."""
    return Prelude(replace(TARGET, starttls=starttls), BACKEND, OWN, BACKEND)


def failed(reason: Reason, detail: str = "") -> Failure:
    """Give a failure of a dialogue."""
    return Failure(Stage.STARTTLS, reason, detail)


GOOD = [
    pytest.param(
        StartTls.SMTP,
        [b"220 mail.test ESMTP\r\n", b"250-mail.test\r\n250-SIZE 1000\r\n250-starttls\r\n250 HELP\r\n", b"220 go\r\n"],
        [EHLO, b"STARTTLS\r\n"],
        id="smtp",
    ),
    pytest.param(
        StartTls.SMTP,
        [b"220-mail.test ESMTP\n220-no spam\n220\n", b"250-mail.test\n250 STARTTLS\n", b"220 2.0.0 go\n"],
        [EHLO, b"STARTTLS\r\n"],
        id="smtp, many lines in the greeting, bare line feeds",
    ),
    pytest.param(
        StartTls.IMAP,
        [
            b"* OK [CAPABILITY IMAP4rev1] hello\r\n",
            b"* CAPABILITY IMAP4rev1 StartTLS LOGINDISABLED\r\na1 OK done\r\n",
            b"* 1 EXISTS\r\nA2 ok begin\r\n",
        ],
        [b"a1 CAPABILITY\r\n", b"a2 STARTTLS\r\n"],
        id="imap",
    ),
    pytest.param(
        StartTls.POP3,
        [b"+OK hello\r\n", b"+OK\r\nUIDL\r\nstls\r\n.\r\n", b"+OK begin\r\n"],
        [b"CAPA\r\n", b"STLS\r\n"],
        id="pop3",
    ),
    pytest.param(
        StartTls.POP3,
        [b"+OK hello\r\n", b"-ERR what?\r\n", b"+OK begin\r\n"],
        [b"CAPA\r\n", b"STLS\r\n"],
        id="pop3, CAPA not known",
    ),
    pytest.param(StartTls.FTP, [b"220 hello\r\n", b"234 go\r\n"], [b"AUTH TLS\r\n"], id="ftp"),
    pytest.param(
        StartTls.FTP,
        [b"120 soon\r\n220-hello\r\n 221 of us\r\n500 users\r\n220 now\r\n", b"234 go\r\n"],
        [b"AUTH TLS\r\n"],
        id="ftp, wild lines in the greeting",
    ),
    pytest.param(StartTls.LDAP, [LDAP_YES], [LDAP_REQUEST], id="ldap"),
    pytest.param(
        StartTls.LDAP,
        [
            bytes.fromhex("3084 0000002a 020101 7884 00000021 0a0100 0400 0400 8a16")
            + b"1.3.6.1.4.1.1466.20037"
            + bytes.fromhex("8b00")
        ],
        [LDAP_REQUEST],
        id="ldap, long lengths and a name",
    ),
    pytest.param(StartTls.POSTGRESQL, [b"S"], [SSL_REQUEST], id="postgresql"),
    pytest.param(StartTls.MYSQL, [packet(MYSQL_GREETING)], [MYSQL_REQUEST], id="mysql"),
]
BAD = [
    pytest.param(
        StartTls.SMTP, [b"554 no\r\n"], failed(Reason.REJECTED, "reply 554 instead of 220"), id="smtp greets no"
    ),
    pytest.param(
        StartTls.SMTP,
        [b"220 x\r\n", b"250-STARTTLS.test\r\n250 STARTTLSX\r\n"],
        failed(Reason.NOT_OFFERED),
        id="smtp without the offer",
    ),
    pytest.param(
        StartTls.SMTP,
        [b"220 x\r\n", b"250-x\r\n250 STARTTLS\r\n", b"454 not now\r\n"],
        failed(Reason.REJECTED, "reply 454 instead of 220"),
        id="smtp not now",
    ),
    pytest.param(
        StartTls.SMTP,
        [b"220 x\r\n", b"250-x\r\n251 STARTTLS\r\n"],
        failed(Reason.MALFORMED, "a reply whose lines bear different codes"),
        id="smtp mixes codes",
    ),
    pytest.param(StartTls.SMTP, [b"hello\r\n"], failed(Reason.MALFORMED), id="smtp without a code"),
    pytest.param(
        StartTls.SMTP,
        [b"354 x\r\n"],
        failed(Reason.MALFORMED, "reply 354 instead of 220"),
        id="smtp, a code out of place",
    ),
    pytest.param(
        StartTls.SMTP, [b"220-x\r\n"] * 600, failed(Reason.TOO_LARGE, "over 512 lines in clear"), id="smtp, lines"
    ),
    pytest.param(
        StartTls.SMTP, [b"x" * 70000], failed(Reason.TOO_LARGE, "over 64 KiB in clear"), id="smtp, one long line"
    ),
    pytest.param(
        StartTls.SMTP,
        [b"220 x\r\n", b"250-x\r\n250 STARTTLS\r\n", b"220 go\r\n250 injected\r\n"],
        failed(Reason.MALFORMED, "bytes in clear behind the server's yes: injected, maybe"),
        id="smtp with something behind its yes",
    ),
    pytest.param(StartTls.IMAP, [b"* BYE busy\r\n"], failed(Reason.REJECTED, "reply BYE"), id="imap says goodbye"),
    pytest.param(
        StartTls.IMAP,
        [b"* PREAUTH hello\r\n"],
        failed(Reason.NOT_OFFERED, "PREAUTH: it takes us for logged in already"),
        id="imap knows us",
    ),
    pytest.param(
        StartTls.IMAP,
        [b"* OK x\r\n", b"* CAPABILITY IMAP4rev1\r\na1 OK\r\n"],
        failed(Reason.NOT_OFFERED),
        id="imap without the offer",
    ),
    pytest.param(
        StartTls.IMAP,
        [b"* OK x\r\n", b"* CAPABILITY STARTTLS\r\na1 OK\r\n", b"a2 NO\r\n"],
        failed(Reason.REJECTED, "reply NO"),
        id="imap says no",
    ),
    pytest.param(StartTls.IMAP, [b"* OK x\r\n", b"a9 OK\r\n"], failed(Reason.MALFORMED), id="imap, a foreign tag"),
    pytest.param(StartTls.POP3, [b"-ERR\r\n"], failed(Reason.REJECTED, "reply -ERR"), id="pop3 greets no"),
    pytest.param(
        StartTls.POP3, [b"+OK\r\n", b"+OK\r\nUIDL\r\n.\r\n"], failed(Reason.NOT_OFFERED), id="pop3 without the offer"
    ),
    pytest.param(StartTls.POP3, [b"HTTP/1.1 200 OK\r\n"], failed(Reason.MALFORMED), id="pop3, another protocol"),
    pytest.param(
        StartTls.FTP, [b"220 x\r\n", b"502 no\r\n"], failed(Reason.NOT_OFFERED, "reply 502"), id="ftp does not know it"
    ),
    pytest.param(
        StartTls.FTP,
        [b"220 x\r\n", b"534 no\r\n"],
        failed(Reason.REJECTED, "reply 534 instead of 234"),
        id="ftp says no",
    ),
    pytest.param(StartTls.LDAP, [ldap_answer(2)], failed(Reason.NOT_OFFERED, "result 2"), id="ldap does not know it"),
    pytest.param(StartTls.LDAP, [ldap_answer(52)], failed(Reason.REJECTED, "result 52"), id="ldap says no"),
    pytest.param(
        StartTls.LDAP, [ldap_answer(52, number=0)], failed(Reason.REJECTED, "result 52"), id="ldap disconnects"
    ),
    pytest.param(
        StartTls.LDAP, [ldap_answer(0, number=0)], failed(Reason.MALFORMED), id="ldap, success without a number"
    ),
    pytest.param(StartTls.LDAP, [ldap_answer(0, number=7)], failed(Reason.MALFORMED), id="ldap, another number"),
    pytest.param(StartTls.LDAP, [LDAP_YES[:-1] + b"\x01"], failed(Reason.MALFORMED), id="ldap, a length too long"),
    pytest.param(StartTls.LDAP, [b"\x30\x80"], failed(Reason.MALFORMED), id="ldap, an indefinite length"),
    pytest.param(
        StartTls.LDAP,
        [b"\x30\x84\x7f\xff\xff\xff"],
        failed(Reason.TOO_LARGE, "over 64 KiB in clear"),
        id="ldap, an absurd length",
    ),
    pytest.param(
        StartTls.LDAP,
        [b"\x15\x03\x01\x00\x02\x02\x46"],
        failed(Reason.MALFORMED, "it speaks TLS at once, without a dialogue"),
        id="ldap over TLS",
    ),
    pytest.param(StartTls.POSTGRESQL, [b"N"], failed(Reason.NOT_OFFERED), id="postgresql says no"),
    pytest.param(
        StartTls.POSTGRESQL,
        [b"E\0\0\0\x16SFATAL\0C53300\0Mx\0\0"],
        failed(Reason.REJECTED, "error 53300"),
        id="postgresql is full",
    ),
    pytest.param(
        StartTls.POSTGRESQL,
        [b"E\0\0\0\x08C\x1b[m"],
        failed(Reason.REJECTED, "an error"),
        id="postgresql, an error without a code",
    ),
    pytest.param(
        StartTls.POSTGRESQL, [b"Eno fork\n\0"], failed(Reason.REJECTED, "an error"), id="postgresql, an old error"
    ),
    pytest.param(
        StartTls.POSTGRESQL,
        [b"S\x16\x03\x01"],
        failed(Reason.MALFORMED, "bytes in clear behind the server's yes: injected, maybe"),
        id="postgresql with something behind its yes",
    ),
    pytest.param(
        StartTls.MYSQL,
        [packet(MYSQL_GREETING.replace(b"\xff\xff", b"\xff\xf7"))],
        failed(Reason.NOT_OFFERED),
        id="mysql without the offer",
    ),
    pytest.param(
        StartTls.MYSQL,
        [packet(b"\xff\x69\x04Host is blocked")],
        failed(Reason.REJECTED, "error 1129"),
        id="mysql locks us out",
    ),
    pytest.param(
        StartTls.MYSQL, [packet(b"\x09x")], failed(Reason.MALFORMED, "protocol version 9"), id="mysql, an ancient one"
    ),
    pytest.param(StartTls.MYSQL, [packet(b"\x0ax")], failed(Reason.MALFORMED), id="mysql, a greeting without end"),
    pytest.param(StartTls.MYSQL, [packet(b"\x0ax\0")], failed(Reason.MALFORMED), id="mysql, a short greeting"),
    pytest.param(
        StartTls.MYSQL,
        [b"\xff\xff\xff\0"],
        failed(Reason.TOO_LARGE, "over 64 KiB in clear"),
        id="mysql, an absurd length",
    ),
]


@pytest.mark.parametrize("cut", [pytest.param(1 << 20, id="whole"), pytest.param(1, id="byte by byte")])
@pytest.mark.parametrize(("starttls", "answers", "words"), GOOD)
def test_way_to_tls(starttls: StartTls, answers: list[bytes], words: list[bytes], cut: int) -> None:
    """Each protocol's dialogue leads to TLS by the words of its specification."""
    told, step = speak(begin(starttls), answers, cut)

    assert (words, None, True, b"") == (told, step.failure, step.done, step.pending)


@pytest.mark.parametrize(("starttls", "answers", "failure"), BAD)
def test_no_way(starttls: StartTls, answers: list[bytes], failure: Failure) -> None:
    """Why a server does not turn to TLS is told by reason, with its code and nothing else of its words."""
    _, step = speak(begin(starttls), answers)

    assert (failure, False) == (step.failure, step.done)
    assert failure.reason in STAGE_REASONS[failure.stage]


@pytest.mark.parametrize(("starttls", "answers", "words"), GOOD)
def test_hanging_up(starttls: StartTls, answers: list[bytes], words: list[bytes]) -> None:
    """A server that hangs up in the middle of its last answer is told as that."""
    _, step = speak(begin(starttls), [*answers[:-1], answers[-1][:-1]])

    assert failed(Reason.CLOSED) == step.failure


@examples(deadline=None)
@given(case=st.sampled_from([param.values for param in (*GOOD, *BAD)]), cut=st.integers(1, 40))
def test_cuts_do_not_matter(case: tuple[StartTls, list[bytes], object], cut: int) -> None:
    """However the network slices what a server says, the same comes of it, but for what lies behind its yes."""
    starttls, answers, _ = case
    told, step = speak(begin(starttls), answers, cut)
    told_whole, whole = speak(begin(starttls), answers)
    injected = whole.failure is not None and "behind" in whole.failure.detail

    assert told_whole == told
    assert (whole.failure, whole.done) == (step.failure, step.done) or injected


@examples(deadline=None)
@given(starttls=st.sampled_from(StartTls), answers=st.lists(st.binary(max_size=80), max_size=6))
def test_garbage(starttls: StartTls, answers: list[bytes]) -> None:
    """Whatever a peer says ends in TLS or in a failure of the closed list, and never in an exception."""
    _, step = speak(begin(starttls), answers)
    reasons = STAGE_REASONS[Stage.STARTTLS]

    assert step.done or (step.failure is not None and step.failure.reason in reasons)


@pytest.mark.parametrize("starttls", StartTls)
def test_the_end_is_the_end(starttls: StartTls) -> None:
    """After a failure nothing more is said, whatever comes."""
    course = begin(starttls)
    course.start()
    first = course.receive_eof()

    assert failed(Reason.CLOSED) == first.failure
    assert first == course.receive(b"220 x\r\n") == course.receive_eof()


def test_our_ipv6_address_as_a_name() -> None:
    """EHLO bears our own address, without a zone, as a literal."""
    course = Prelude(
        replace(TARGET, starttls=StartTls.SMTP), BACKEND, Endpoint("fe80::7%eth0", 50000), Address("fe80::1%eth0", 25)
    )
    course.start()

    assert b"EHLO [IPv6:fe80::7]\r\n" == course.receive(b"220 x\r\n").send


def test_everything_at_once() -> None:
    """A tunnel comes first, then the header that names the backend, then the dialogue, whose greeting may be early."""
    target = replace(TARGET, proxy=PROXY, proxy_protocol=ProxyProtocol.V1, starttls=StartTls.SMTP)
    course = Prelude(target, BACKEND, OWN, PROXY)
    told = [course.start().send, course.receive(b"HTTP/1.1 200 yes\r\nVia: x\r\n\r\n220 hello\r\n").send]

    assert told[0].startswith(b"CONNECT 192.0.2.1:993 HTTP/1.1\r\nHost: 192.0.2.1:993\r\n")
    assert b"PROXY TCP4 192.0.2.7 192.0.2.1 50000 993\r\n" + EHLO == told[1]
    assert (Stage.STARTTLS, True) == (course.stage, course.started)


def test_header_alone() -> None:
    """A header without anything else goes out at once, and TLS right behind it."""
    course = prelude(replace(TARGET, proxy_protocol=ProxyProtocol.V1), BACKEND, OWN, BACKEND)

    assert course is not None
    assert PreludeStep(b"PROXY TCP4 192.0.2.7 192.0.2.1 50000 993\r\n", done=True) == course.start()


def test_nothing_ahead() -> None:
    """A target that has nothing of all this has no prelude."""
    assert prelude(TARGET, BACKEND, OWN, BACKEND) is None
