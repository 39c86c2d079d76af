"""Canonical JSON as docs/format.md section 4 defines it: RFC 8785 with whole numbers only.

An event is compared byte for byte with what this module writes, so nothing
here leans on the formatting of the standard library's writer.
"""

import hashlib
import json

LARGEST = 2**53 - 1
_SHORT = {
    '"': '\\"',
    "\\": "\\\\",
    "\b": "\\b",
    "\t": "\\t",
    "\n": "\\n",
    "\f": "\\f",
    "\r": "\\r",
}


class Refused(ValueError):
    """Something is not what the document allows."""


def _integer(text):
    if text == "-0":
        raise Refused("zero has a sign")
    number = int(text) if len(text) < 20 else LARGEST + 1
    if abs(number) > LARGEST:
        raise Refused(f"{text[:30]} is beyond 2^53-1")
    return number


def _not_whole(text):
    raise Refused(f"{text[:30]} is not a whole number")


def _members(pairs):
    members = dict(pairs)
    if len(members) != len(pairs):
        raise Refused("a member stands twice")
    return members


def parse(data):
    """Reads JSON from bytes. The result may still be in another form than the canonical one."""
    try:
        value = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_members,
            parse_int=_integer,
            parse_float=_not_whole,
            parse_constant=_not_whole,
        )
    except Refused:
        raise
    except (ValueError, RecursionError) as error:
        raise Refused(f"not JSON: {error}") from error
    write(value)  # a lone surrogate shows up when its text is written
    return value


def _text(text):
    written = "".join(
        _SHORT.get(c) or (f"\\u{ord(c):04x}" if c < " " else c) for c in text
    )
    try:
        return b'"' + written.encode("utf-8") + b'"'
    except UnicodeEncodeError as error:
        raise Refused("a lone surrogate") from error


def _utf16(name):
    return name.encode("utf-16-be", "surrogatepass")


def write(value):
    """Returns the canonical bytes of a value."""
    if value is None:
        return b"null"
    if value is True:
        return b"true"
    if value is False:
        return b"false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int):
        return str(_integer(str(value))).encode("ascii")
    if isinstance(value, list):
        return b"[" + b",".join(write(item) for item in value) + b"]"
    if isinstance(value, dict):
        names = sorted(value, key=_utf16)
        members = (_text(name) + b":" + write(value[name]) for name in names)
        return b"{" + b",".join(members) + b"}"
    raise Refused(f"{type(value).__name__} has no canonical form")


def parse_canonical(data):
    """Reads JSON and refuses bytes that are not the canonical form of what they say."""
    value = parse(data)
    if write(value) != data:
        raise Refused("the bytes are not canonical")
    return value


def digest(data):
    """Returns the digest of bytes in its written form."""
    return "sha256:" + hashlib.sha256(data).hexdigest()
