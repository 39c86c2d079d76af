"""Checkpoints: signed notes over the size and root of a ledger (docs/format.md section 11)."""

import base64
import binascii
import hashlib
import re

import ed25519
from canonical import Refused


class Key:
    """A verifier key: the name, the key's id and the public key."""

    def __init__(self, written):
        parts = written.strip().split("+", 2)
        if len(parts) != 3:
            raise Refused("a verifier key has three parts")
        self.name, identifier, encoded = parts
        material = _decode(encoded)
        if len(material) != 33 or material[0] != 1:
            raise Refused("not the key of an Ed25519 signature")
        self.public = material[1:]
        self.id = hashlib.sha256(self.name.encode() + b"\n" + material).digest()[:4]
        if identifier != self.id.hex():
            raise Refused("the key's id is not that of its name and bytes")


def _decode(text):
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise Refused("not base64") from error


def verify(note, key):
    """Verifies a note with a key. Returns ledger id, size and root."""
    signed, empty, signatures = note.partition("\n\n")
    if not empty or not signatures.endswith("\n"):
        raise Refused("a note is a text, an empty line and signatures")
    signed += "\n"
    lines = signed.split("\n")
    if len(lines) != 4:
        raise Refused("a checkpoint has three lines")
    if lines[0] != key.name or not lines[0].startswith("reread/"):
        raise Refused("the checkpoint has another name than the key")
    if not re.fullmatch(r"0|[1-9][0-9]*", lines[1]):
        raise Refused("the size is not a number")
    root = _decode(lines[2])
    if len(root) != 32 or base64.b64encode(root).decode() != lines[2]:
        raise Refused("the root is not a hash")
    if not any(_signed_by(key, signed, line) for line in signatures[:-1].split("\n")):
        raise Refused("no line is a signature of this key over this text")
    return lines[0].removeprefix("reread/"), int(lines[1]), root


def _signed_by(key, signed, line):
    found = re.fullmatch(r"\u2014 (\S+) (\S+)", line)
    if not found:
        raise Refused("a line that is no signature")
    value = _decode(found[2])
    if found[1] != key.name or value[:4] != key.id:
        return False
    return ed25519.verify(key.public, signed.encode(), value[4:])
