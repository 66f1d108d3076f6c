"""Dialogues in lines of text: SMTP, FTP, POP3 and IMAP."""

from exporter.model.failure import Reason
from exporter.model.target import Endpoint
from exporter.wire.prelude.conversation import Conversation, RefusalError, Waiting

_NO_SUCH_COMMAND = frozenset({500, 502, 504})
"""Syntax error, not implemented, and that for its parameter (RFC 959 section 4.2.2)."""


def smtp(conversation: Conversation, own: Endpoint) -> Waiting[None]:
    """Turn SMTP to TLS (RFC 3207): greeting, EHLO with our address, STARTTLS."""
    _expect(220, (yield from _smtp_reply(conversation))[0])
    conversation.say(f"EHLO {_literal(own)}\r\n".encode("ascii"))
    code, offers = yield from _smtp_reply(conversation)
    _expect(250, code)
    if not any(offer.split(maxsplit=1)[:1] == [b"STARTTLS"] for offer in offers[1:]):
        raise RefusalError(Reason.NOT_OFFERED)
    conversation.say(b"STARTTLS\r\n")
    _expect(220, (yield from _smtp_reply(conversation))[0])


def ftp(conversation: Conversation, _own: Endpoint) -> Waiting[None]:
    """Turn FTP's control connection to TLS (RFC 4217 section 4): greeting, AUTH TLS."""
    code = yield from _ftp_reply(conversation)
    while 100 <= code < 200:  # it will be ready in some minutes, and says so when it is
        code = yield from _ftp_reply(conversation)
    _expect(220, code)
    conversation.say(b"AUTH TLS\r\n")
    code = yield from _ftp_reply(conversation)
    if code in _NO_SUCH_COMMAND:
        raise RefusalError(Reason.NOT_OFFERED, f"reply {code}")
    _expect(234, code)


def pop3(conversation: Conversation, _own: Endpoint) -> Waiting[None]:
    """Turn POP3 to TLS (RFC 2595 section 4): greeting, CAPA, STLS."""
    yield from _pop3_ok(conversation)
    conversation.say(b"CAPA\r\n")
    if (yield from _pop3_says_ok(conversation)):
        offered = False
        while (line := (yield from conversation.line())) != b".":
            offered = offered or line.strip().upper() == b"STLS"
        if not offered:
            raise RefusalError(Reason.NOT_OFFERED)
    conversation.say(b"STLS\r\n")
    yield from _pop3_ok(conversation)


def imap(conversation: Conversation, _own: Endpoint) -> Waiting[None]:
    """Turn IMAP to TLS (RFC 9051 section 6.2.1): greeting, CAPABILITY, STARTTLS."""
    greeting = (yield from conversation.line()).upper().split()
    if greeting[:2] == [b"*", b"PREAUTH"]:
        raise RefusalError(Reason.NOT_OFFERED, "PREAUTH: it takes us for logged in already")
    if greeting[:2] != [b"*", b"OK"]:
        raise _imap_refusal(greeting, b"*")
    conversation.say(b"a1 CAPABILITY\r\n")
    if b"STARTTLS" not in (yield from _imap_answer(conversation, b"A1")):
        raise RefusalError(Reason.NOT_OFFERED)
    conversation.say(b"a2 STARTTLS\r\n")
    yield from _imap_answer(conversation, b"A2")


def _expect(wanted: int, code: int) -> None:
    if code == wanted:
        return
    reason = Reason.REJECTED if 400 <= code < 600 else Reason.MALFORMED
    raise RefusalError(reason, f"reply {code} instead of {wanted}")


def _smtp_reply(conversation: Conversation) -> Waiting[tuple[int, list[bytes]]]:
    """Return a reply's code and its lines' upper-case text; all lines bear the code (RFC 5321 section 4.2.1)."""
    line = yield from conversation.line()
    code, texts = _code(line), [line[4:].upper()]
    while line[3:4] == b"-":
        line = yield from conversation.line()
        if _code(line) != code:
            raise RefusalError(Reason.MALFORMED, "a reply whose lines bear different codes")
        texts.append(line[4:].upper())
    return code, texts


def _ftp_reply(conversation: Conversation) -> Waiting[int]:
    """Return a reply's code; its lines between the first and the last may be anything (RFC 959 section 4.2)."""
    line = yield from conversation.line()
    code = _code(line)
    if line[3:4] == b"-":
        last = line[:3] + b" "
        while not line.startswith(last):
            line = yield from conversation.line()
    return code


def _code(line: bytes) -> int:
    """Return the three digits that a line begins with, the first of them 1 to 5."""
    if not (line[:3].isdigit() and len(line) >= 3 and b"1" <= line[:1] <= b"5" and line[3:4] in {b"", b" ", b"-"}):
        raise nonsense(line)
    return int(line[:3])


def _pop3_says_ok(conversation: Conversation) -> Waiting[bool]:
    line = yield from conversation.line()
    status = line.upper().split(maxsplit=1)[:1]
    if status not in ([b"+OK"], [b"-ERR"]):
        raise nonsense(line)
    return status == [b"+OK"]


def _pop3_ok(conversation: Conversation) -> Waiting[None]:
    if not (yield from _pop3_says_ok(conversation)):
        raise RefusalError(Reason.REJECTED, "reply -ERR")


def _imap_answer(conversation: Conversation, tag: bytes) -> Waiting[frozenset[bytes]]:
    """Return the capabilities that were told before a command's OK; other untagged lines are passed over."""
    capabilities: frozenset[bytes] = frozenset()
    while True:
        words = (yield from conversation.line()).upper().split()
        if words[:2] == [tag, b"OK"]:
            return capabilities
        if words[:1] != [b"*"] or words[1:2] == [b"BYE"]:
            raise _imap_refusal(words, tag)
        if words[1:2] == [b"CAPABILITY"]:
            capabilities = frozenset(words[2:])


def _imap_refusal(words: list[bytes], tag: bytes) -> RefusalError:
    said_no = words[:2] in ([tag, b"NO"], [tag, b"BAD"], [b"*", b"BYE"])
    return RefusalError(Reason.REJECTED, f"reply {words[1].decode('ascii')}") if said_no else nonsense(b" ".join(words))


def nonsense(start: bytes) -> RefusalError:
    """Return what is to be raised for bytes that are not of the protocol, with a word where they are TLS."""
    tls = start[:1] in {b"\x15", b"\x16"} and start[1:2] in {b"", b"\x03"}
    return RefusalError(Reason.MALFORMED, "it speaks TLS at once, without a dialogue" if tls else "")


def _literal(own: Endpoint) -> str:
    """Return our address as EHLO takes it (RFC 5321 section 4.1.3): one that has no name is welcome with that."""
    host = own.host.partition("%")[0]
    return f"[IPv6:{host}]" if ":" in host else f"[{host}]"
