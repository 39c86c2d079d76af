"""One event: its envelope, its index columns and its unique key (sections 4, 5 and 7)."""

import base64
import binascii
import hashlib

import ed25519
import kinds
import schema
from canonical import Refused, parse_canonical, write

LONGEST = 65503
COLUMNS = (
    "id",
    "kind",
    "cause",
    "task",
    "call",
    "attempt",
    "unique_key",
    "name",
    "module",
    "response",
    "request",
)

_signature = schema.record(
    {"key": schema.pattern(r"ed25519:[0-9a-f]{64}", "key"), "value": schema.text}
)
_envelope = schema.record(
    {
        "v": schema.only(1),
        "ledger": schema.identifier,
        "id": schema.identifier,
        "kind": schema.word(*kinds.BODIES),
        "at": schema.time,
        "actor": schema.name,
        "cause": schema.maybe(schema.identifier),
        "task?": schema.identifier,
        "call?": schema.identifier,
        "attempt?": schema.identifier,
        "body": lambda value, path: None,
        "sig?": _signature,
    }
)


def read(data):
    """Reads the bytes of an event and refuses all that the document does not allow."""
    if len(data) > LONGEST:
        raise Refused(f"longer than {LONGEST} bytes")
    event = parse_canonical(data)
    _envelope(event, "")
    kinds.CHECKS[event["kind"]](event["body"], "/body")
    must, may = kinds.scope(event["kind"])
    for member in ("task", "call", "attempt"):
        if member in must and member not in event:
            schema.refuse(f"/{member}", "missing")
        if member in event and member not in must + may:
            schema.refuse(f"/{member}", "does not belong to this kind")
    if event["kind"] == "home.erased":
        for target in event["body"]["targets"]:
            if len(target) != 1:
                schema.refuse("/body/targets", "not one of seq and sha256")
    if "sig" in event and not signed(event):
        schema.refuse("/sig", "the signature does not fit")
    return event


def signed_bytes(event):
    """Returns what a signature of an event is over."""
    bare = {name: value for name, value in event.items() if name != "sig"}
    return b"reread-event-v1\n" + write(bare)


def signed(event):
    """Tells whether the event's signature is by the key that it names."""
    try:
        value = base64.b64decode(event["sig"]["value"], validate=True)
    except binascii.Error:
        return False
    public = bytes.fromhex(event["sig"]["key"].partition(":")[2])
    return ed25519.verify(public, signed_bytes(event), value)


def id_bytes(value):
    """Returns the 16 bytes of an id, or nothing for what is absent."""
    return bytes.fromhex(value.replace("-", "")) if value else b""


def digest_bytes(value):
    """Returns the 32 bytes of a digest, or nothing for what is absent."""
    return bytes.fromhex(value.partition(":")[2]) if value else b""


def _key_parts(event):
    body = event["body"]
    kind = event["kind"]
    if kind == "module.registered":
        return [("L", body["module"]["label"].encode())]
    if kind == "attempt.interpreted":
        return [
            ("R", id_bytes(event["attempt"])),
            ("m", digest_bytes(body["module"]["sha256"])),
            ("c", digest_bytes(body.get("config_sha256"))),
        ]
    if kind == "call.reinterpreted":
        return [
            ("C", id_bytes(event["call"])),
            ("m", digest_bytes(body["interpreter"]["sha256"])),
            ("c", digest_bytes(body.get("interpreter_config_sha256"))),
            ("m", digest_bytes(body["policy"]["sha256"])),
            ("c", digest_bytes(body.get("policy_config_sha256"))),
            ("p", id_bytes(body["prior_record"])),
        ]
    if kind == "call.imported":
        named = body["external_id"]
        return [
            ("i" if named is None else "I", digest_bytes(body["line_sha256"])),
            ("e", (named or "").encode()),
        ]
    if kind == "cost.computed":
        return [
            ("P", id_bytes(event["cause"])),
            ("m", digest_bytes(body["module"]["sha256"])),
            ("c", digest_bytes(body["config_sha256"])),
        ]
    if kind == "task.accepted":
        return [("A", id_bytes(event["task"])), ("o", body["output"].encode())]
    return None


def key_preimage(event):
    """Returns the bytes whose hash is the unique key, or None."""
    parts = _key_parts(event)
    if parts is None:
        return None
    return b"".join(
        tag.encode() + len(value).to_bytes(4, "big") + value for tag, value in parts
    )


def _ref_digest(ref):
    return digest_bytes(ref["sha256"]) if ref else None


def columns(event):
    """Returns the index columns that belong to an event."""
    kind, body = event["kind"], event["body"]
    found = dict.fromkeys(COLUMNS)
    found["kind"] = kind
    for member in ("id", "cause", "task", "call", "attempt"):
        found[member] = id_bytes(event.get(member)) or None
    preimage = key_preimage(event)
    if preimage is not None:
        found["unique_key"] = hashlib.sha256(preimage).digest()
    if kind == "module.registered":
        found["name"] = body["module"]["label"]
    elif kind == "task.created":
        found["name"] = body.get("run")
    elif kind == "call.requested":
        found["name"] = body.get("idempotency_key")
    elif kind == "call.imported":
        found["name"] = body["external_id"]
    if kind in ("module.registered", "attempt.interpreted", "cost.computed"):
        found["module"] = digest_bytes(body["module"]["sha256"])
    elif kind in ("attempt.retry_decided", "call.status_decided", "call.reinterpreted"):
        found["module"] = digest_bytes(body["policy"]["sha256"])
    elif kind == "attempt.observed":
        found["response"] = _ref_digest(body["response_body_artifact"])
        found["request"] = _ref_digest(body["request_body_artifact"])
    elif kind == "artifact.derived":
        found["response"] = digest_bytes(body["to_sha256"])
        found["request"] = digest_bytes(body["from_sha256"])
    return found
