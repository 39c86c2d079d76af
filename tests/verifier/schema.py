"""The kinds of events and the types of their members (docs/format.md sections 4 to 6).

A type is a function that takes a value and the path to it, and refuses what
does not fit. Objects are closed: a member that is not listed is refused.
"""

import datetime
import re
import unicodedata

from canonical import Refused

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", re.ASCII)
_TOKEN = r"[a-z0-9!#$%&'*+.^_`|~-]+"


def refuse(path, why):
    """Refuses the value at this path."""
    raise Refused(f"{path}: {why}")


def text(value, path):
    """Any string."""
    if not isinstance(value, str):
        refuse(path, "not a text")


def boolean(value, path):
    """true or false."""
    if not isinstance(value, bool):
        refuse(path, "neither true nor false")


def signed(value, path):
    """A whole number."""
    if not isinstance(value, int) or isinstance(value, bool):
        refuse(path, "not an integer")


def integer(value, path):
    """A whole number that is not negative."""
    signed(value, path)
    if value < 0:
        refuse(path, "negative")


def integer_between(low, high):
    """Integers within bounds."""

    def check(value, path):
        integer(value, path)
        if not low <= value <= high:
            refuse(path, f"not within {low} and {high}")

    return check


def pattern(expression, what):
    """Texts that match an expression as a whole."""
    expression = re.compile(expression)

    def check(value, path):
        text(value, path)
        if not expression.fullmatch(value):
            refuse(path, f"not a {what}")

    return check


identifier = pattern(_ID, "UUID of version 7 in lower case")
digest = pattern(r"sha256:[0-9a-f]{64}", "digest")
label = pattern(r"[a-z0-9][a-z0-9_.-]{0,63}", "label")
media_type = pattern(f"{_TOKEN}/{_TOKEN}", "media type in lower case")
target = pattern(r"artifact:sha256:[0-9a-f]{64}", "target")


def time(value, path):
    """UTC with three decimals."""
    text(value, path)
    if not _TIME.fullmatch(value):
        refuse(path, "not a time with three decimals and Z")
    try:
        datetime.datetime.strptime(value, "%Y-%m-%dT%H:%M:%S.%fZ")
    except ValueError:
        refuse(path, "no such time")


def name(value, path):
    """1 to 512 bytes without control characters."""
    text(value, path)
    if not 1 <= len(value.encode("utf-8")) <= 512:
        refuse(path, "not 1 to 512 bytes")
    if any(unicodedata.category(c) == "Cc" for c in value):
        refuse(path, "a control character")


def short_text(limit):
    """Texts of at most so many bytes of UTF-8."""

    def check(value, path):
        text(value, path)
        if len(value.encode("utf-8")) > limit:
            refuse(path, f"over {limit} bytes")

    return check


def word(*words):
    """One of these words."""

    def check(value, path):
        if not isinstance(value, str) or value not in words:
            refuse(path, f"not one of {', '.join(words)}")

    return check


def only(constant):
    """Exactly this value."""

    def check(value, path):
        if type(value) is not type(constant) or value != constant:
            refuse(path, f"not {constant!r}")

    return check


def maybe(inner):
    """The type or null."""

    def check(value, path):
        if value is not None:
            inner(value, path)

    return check


def array(inner, most=None):
    """An array of one type."""

    def check(value, path):
        if not isinstance(value, list):
            refuse(path, "not an array")
        if most is not None and len(value) > most:
            refuse(path, f"more than {most}")
        for place, item in enumerate(value):
            inner(item, f"{path}/{place}")

    return check


def pair(first, second):
    """An array of two."""

    def check(value, path):
        if not isinstance(value, list) or len(value) != 2:
            refuse(path, "not an array of two")
        first(value[0], f"{path}/0")
        second(value[1], f"{path}/1")

    return check


def mapping(key, inner):
    """An object whose names are not fixed."""

    def check(value, path):
        if not isinstance(value, dict):
            refuse(path, "not an object")
        for member, item in value.items():
            key(member, f"{path}/{member}")
            inner(item, f"{path}/{member}")

    return check


def record(members):
    """A closed object. A name that ends in ? may be left out; then it is never null."""
    types = {member.rstrip("?"): kind for member, kind in members.items()}
    required = [member for member in members if not member.endswith("?")]

    def check(value, path):
        if not isinstance(value, dict):
            refuse(path, "not an object")
        for member in required:
            if member not in value:
                refuse(f"{path}/{member}", "missing")
        for member, item in value.items():
            if member not in types:
                refuse(f"{path}/{member}", "unknown member")
            types[member](item, f"{path}/{member}")

    return check


def one_of(chosen_by, records):
    """A closed object whose member `chosen_by` picks the record."""

    def check(value, path):
        if not isinstance(value, dict):
            refuse(path, "not an object")
        word(*records)(value.get(chosen_by), f"{path}/{chosen_by}")
        records[value[chosen_by]](value, path)

    return check


mod = record({"label": label, "sha256": digest})
PRESERVATION = word("keep", "sealed", "withhold")
ref = record(
    {
        "sha256": digest,
        "length": integer,
        "media_type": media_type,
        "preservation": PRESERVATION,
    }
)
text_ref = record({"sha256": digest, "length": integer})

STATUS = word("succeeded", "failed", "unresolved")
DECISION = word("accept", "retry", "terminal")
VERDICT = word("PASS", "FAIL", "INCONCLUSIVE", "ERROR")
EXCEPTION = word(
    "ConnectError",
    "TlsError",
    "DnsError",
    "ConnectTimeout",
    "ReadTimeout",
    "Timeout",
    "ConnectionReset",
    "ConnectionClosed",
    "ProtocolError",
    "ClientGone",
)
OVERSIZED = ["provider_reason", "model", "response_id"]
PAIR = {"interpreter": mod, "policy": mod}
PAIR |= {"interpreter_config_sha256?": digest, "policy_config_sha256?": digest}


def fact(value, path):
    """What a fact may hold."""
    if isinstance(value, str):
        short_text(128)(value, path)
    elif not isinstance(value, bool):
        integer(value, path)


def facts(value, path):
    """The facts of a recorded reading; `oversized` is an array in a fixed order."""
    if not isinstance(value, dict):
        refuse(path, "not an object")
    for member, item in value.items():
        if member != "oversized":
            fact(item, f"{path}/{member}")
            continue
        array(text)(item, f"{path}/{member}")
        if not item or item != [one for one in OVERSIZED if one in item]:
            refuse(f"{path}/oversized", "not the names in their order")


_reading = record(
    {
        "vocabulary": integer_between(1, 2**53 - 1),
        "generation_state": word(
            "complete",
            "tool_call",
            "truncated",
            "refused",
            "filtered",
            "empty",
            "paused",
            "pending",
            "error",
            "unknown",
        ),
        "provider_reason": maybe(short_text(256)),
        "provider_reason_source": maybe(text),
        "basis": record({"kind": text, "detail": text}),
        "output_text": maybe(text_ref),
        "refusal": maybe(text_ref),
        "tool_calls": integer,
        "structured_output": word("not_requested", "valid", "invalid"),
        "usage": record(
            {
                count: maybe(integer)
                for count in (
                    "input",
                    "output",
                    "cached_input",
                    "cache_write",
                    "reasoning",
                    "total",
                )
            }
        ),
        "model": maybe(short_text(256)),
        "response_id": maybe(short_text(256)),
        "error_class": maybe(text),
        "error_message": maybe(text_ref),
        "choices": integer,
        "facts": facts,
    }
)


def reading(value, path):
    """A recorded reading. What the fact `oversized` names is null."""
    _reading(value, path)
    for member in value["facts"].get("oversized", []):
        if value[member] is not None:
            refuse(f"{path}/{member}", "stands, but is named as oversized")
