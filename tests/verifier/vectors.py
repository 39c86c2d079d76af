"""Checks every file of docs/vectors with this reader.

    python3 tests/verifier/vectors.py [FOLDER]
"""

import hashlib
import json
import pathlib
import sys

import canonical
import checkpoint
import ed25519
import events
import merkle
import projection
import schema
from canonical import Refused

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "docs" / "vectors"
COUNTS = ("input", "output", "cached_input", "cache_write", "reasoning", "total")


class Vectors:
    """Counts what was compared and says what differs."""

    def __init__(self, folder):
        self.folder = folder
        self.checked = 0
        self.wrong = []

    def load(self, name):
        """Reads a file of vectors."""
        return json.loads((self.folder / name).read_text(encoding="utf-8"))

    def same(self, what, found, expected):
        """Compares."""
        self.checked += 1
        if found != expected:
            self.wrong.append(f"{what}: found {found!r}, expected {expected!r}")

    def refused(self, what, run):
        """Asserts that something is refused."""
        self.checked += 1
        try:
            run()
        except Refused:
            return
        self.wrong.append(f"{what}: accepted, but must be refused")

    def canonical(self):
        """JSON inputs and their form."""
        vectors = self.load("canonical.json")
        for case in vectors["accepted"]:
            written = canonical.write(canonical.parse(case["input"].encode()))
            self.same(case["input"], written.decode(), case["canonical"])
            self.same(case["input"], canonical.digest(written), case["sha256"])
        for text in vectors["refused"]:
            self.refused(text, lambda text=text: canonical.parse(text.encode()))
        criteria = vectors["criteria"]
        digest = canonical.digest(canonical.write(criteria["criteria"]))
        self.same("criteria", digest, criteria["criteria_sha256"])

    def event(self):
        """One event, and changed bytes."""
        vectors = self.load("event.json")
        data = vectors["bytes"].encode()
        self.same("event.length", len(data), vectors["length"])
        leaf = merkle.leaf(bytes.fromhex(vectors["salt"]), data).hex()
        self.same("event.leaf", leaf, vectors["leaf"])
        signed = events.signed_bytes(events.read(data)).decode()
        self.same("event.signed_bytes", signed, vectors["signed_bytes"])
        for case in vectors["refused"]:
            changed = case["bytes"].encode()
            self.refused(case["why"], lambda changed=changed: events.read(changed))

    def kinds(self):
        """An event of every kind."""
        found = set()
        for name, case in self.load("kinds.json").items():
            event = events.read(case["bytes"].encode())
            found.add(event["kind"])
            self.same(name, in_hex(events.columns(event)), case["columns"])
        self.same("kinds", sorted(found), sorted(events.kinds.BODIES))

    def tree(self):
        """Leaves, edges and roots."""
        vectors = self.load("tree.json")
        leaves = []
        for case in vectors["leaves"]:
            leaves.append(merkle.leaf(b"", bytes.fromhex(case["entry"])))
            self.same("leaf", leaves[-1].hex(), case["leaf"])
        for case in vectors["sizes"]:
            edge = merkle.over(leaves[: case["size"]])
            found = (edge.bytes().hex(), edge.root().hex())
            self.same(f"tree {case['size']}", found, (case["edge"], case["root"]))

    def unique_key(self):
        """The preimages, taken apart and put together, and their hashes."""
        for name, case in self.load("unique_key.json").items():
            data = bytes.fromhex(case["preimage"])
            self.same(name, hashlib.sha256(data).hexdigest(), case["unique_key"])
            parts = []
            while data:
                length = int.from_bytes(data[1:5], "big")
                parts.append((data[:1].decode(), data[5 : 5 + length]))
                data = data[5 + length :]
            preimage = events.key_preimage(event_of(parts))
            self.same(name, preimage.hex(), case["preimage"])

    def reading(self):
        """Full readings, their digests and what an event records of them."""
        for name, case in self.load("reading.json").items():
            written = canonical.write(case["full"])
            self.same(name, written.decode(), case["canonical"])
            self.same(name, canonical.digest(written), case["result_sha256"])
            self.same(name, recorded(case["full"]), case["recorded"])
            schema.reading(case["recorded"], name)

    def states(self):
        """Work states."""
        kinds = self.load("kinds.json")
        vectors = self.load("states.json")
        for place, case in enumerate(vectors["calls"]):
            own = [json.loads(kinds[name]["bytes"]) for name in case["events"]]
            state = projection.call_state(
                own[0]["call"], own, case["completed_twin"], case["unavailable"]
            )
            self.same(f"call {place}", state, case["state"])
        for place, case in enumerate(vectors["tasks"]):
            own = [json.loads(kinds[name]["bytes"]) for name in case["events"]]
            state = projection.task_state(own[0]["task"], own)
            self.same(f"task {place}", state, case["state"])

    def log(self):
        """The example log and its checkpoint."""
        vectors = self.load("log.json")
        edge = merkle.Edge()
        for seq, case in enumerate(vectors["events"], 1):
            salt, data = bytes.fromhex(case["salt"]), case["bytes"].encode()
            self.same("salt", (case["seq"], salt), (seq, bytes([seq]) * 32))
            leaf = merkle.leaf(salt, data)
            self.same(f"leaf {seq}", leaf.hex(), case["leaf"])
            event = events.read(data)
            self.same(f"columns {seq}", in_hex(events.columns(event)), case["columns"])
            edge.append(leaf)
            if event["kind"] == "call.imported":
                source = vectors["source"].encode()
                body = event["body"]
                self.same("source", canonical.digest(source), body["source_sha256"])
                line = source.removesuffix(b"\n")
                self.same("line", canonical.digest(line), body["line_sha256"])
        tree = {"edge": edge.bytes().hex(), "root": edge.root().hex(), "size": edge.size}
        self.same("tree", tree, vectors["tree"])
        for case in vectors["artifacts"]:
            name = canonical.digest(case["utf8"].encode()).removeprefix("sha256:")
            path = f"artifacts/sha256/{name[:2]}/{name[2:]}"
            self.same("artifact", path, case["path"])
        note = self.load("checkpoint.json")
        key = checkpoint.Key(note["verifier_key"])
        self.same("public key", key.public.hex(), note["public_key"])
        self.same("key id", key.id.hex(), note["key_id"])
        _, size, root = checkpoint.verify(note["note"], key)
        self.same("checkpoint", (size, root), (edge.size, edge.root()))
        signature = bytes.fromhex(note["signature"])
        signed = note["signed"].encode()
        self.same("signature", ed25519.verify(key.public, signed, signature), True)
        altered = signed.replace(b"\n7\n", b"\n8\n")
        self.same("altered", ed25519.verify(key.public, altered, signature), False)
        changed = note["note"].replace("\n7\n", "\n8\n")
        self.refused("altered note", lambda: checkpoint.verify(changed, key))


def in_hex(columns):
    """Returns columns as the vectors write them."""
    return {
        name: value.hex() if isinstance(value, bytes) else value
        for name, value in columns.items()
    }


def event_of(parts):
    """Returns an event, as far as its unique key looks at it, from the parts of the key."""
    tags = "".join(tag for tag, _ in parts)
    values = [value for _, value in parts]
    hexes = [f"sha256:{value.hex()}" if value else None for value in values]
    if tags == "L":
        body = {"module": {"label": values[0].decode()}}
        return {"kind": "module.registered", "body": body}
    if tags == "Rmc":
        body = {"module": {"sha256": hexes[1]}, "config_sha256": hexes[2]}
        return {"kind": "attempt.interpreted", "attempt": values[0].hex(), "body": body}
    if tags == "Cmcmcp":
        body = {
            "interpreter": {"sha256": hexes[1]},
            "interpreter_config_sha256": hexes[2],
            "policy": {"sha256": hexes[3]},
            "policy_config_sha256": hexes[4],
            "prior_record": values[5].hex(),
        }
        return {"kind": "call.reinterpreted", "call": values[0].hex(), "body": body}
    if tags in ("Ie", "ie"):
        named = values[1].decode() if tags == "Ie" else None
        body = {"line_sha256": hexes[0], "external_id": named}
        return {"kind": "call.imported", "body": body}
    if tags == "Pmc":
        body = {"module": {"sha256": hexes[1]}, "config_sha256": hexes[2]}
        return {"kind": "cost.computed", "cause": values[0].hex(), "body": body}
    body = {"output": values[1].decode()}
    return {"kind": "task.accepted", "task": values[0].hex(), "body": body}


def recorded(full):
    """Returns the recorded reading of a full one."""

    def length(text):
        return len(text.encode("utf-8"))

    def hashed(text):
        if text is None:
            return None
        return {"length": length(text), "sha256": canonical.digest(text.encode("utf-8"))}

    short, oversized = {}, []
    for member in schema.OVERSIZED:
        value = full[member]
        if value is not None and length(value) > 256:
            oversized.append(member)
            value = None
        short[member] = value
    error = full["error"] or {"class": None, "message": None}
    structured = full["structured_output"]
    same = ("vocabulary", "generation_state", "provider_reason_source", "basis")
    return (
        {member: full[member] for member in same}
        | short
        | {
            "output_text": hashed(full["output_text"]),
            "refusal": hashed(full["refusal"]),
            "tool_calls": len(full["tool_calls"]),
            "structured_output": structured if isinstance(structured, str) else "invalid",
            "usage": {count: full["usage"][count] for count in COUNTS},
            "error_class": error["class"],
            "error_message": hashed(error["message"]),
            "choices": len(full["choices"]),
            "facts": full["facts"] | ({"oversized": oversized} if oversized else {}),
        }
    )


def main():
    """Checks all and prints what differs."""
    vectors = Vectors(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
    vectors.canonical()
    vectors.event()
    vectors.kinds()
    vectors.tree()
    vectors.unique_key()
    vectors.reading()
    vectors.states()
    vectors.log()
    for line in vectors.wrong:
        print(line)
    print(f"{vectors.checked} checked, {len(vectors.wrong)} wrong")
    return 3 if vectors.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
