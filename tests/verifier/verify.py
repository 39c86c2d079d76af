"""Verifies a home with nothing but docs/format.md and the standard library.

    python3 tests/verifier/verify.py HOME [--checkpoint FILE --log-key KEY] [--json]

The last line printed is one JSON object. Exit code 0 means no findings, 3
means findings, 2 that this is no home of this format.
"""

import argparse
import json
import sys

import artifacts
import checkpoint
import events
import merkle
import projection
import reader
import rules
from canonical import Refused

# What is printed of a task.
TASK_MEMBERS = (
    "checks_without_verdict",
    "outputs",
    "outputs_missing",
    "task_next_operation",
    "task_standing",
    "task_status",
)


class Verifier:
    """Everything that a home's files show."""

    def __init__(self, path):
        self.home = reader.Home(path)
        self.folder = artifacts.Folder(path)
        self.findings = []
        self.rows = self.home.rows
        self.events = [(row.seq, self._parse(row)) for row in self.rows]
        self.readable = [event for _, event in self.events if event is not None]
        erasures = [e for e in self.readable if e["kind"] == "home.erased"]
        targets = [t for e in erasures for t in e["body"]["targets"]]
        self.erased_rows = {t["seq"] for t in targets if "seq" in t}
        self.erased_files = {t["sha256"] for t in targets if "sha256" in t}
        self.edge = merkle.over(row.leaf for row in self.rows)
        self._check_rows()
        self._check_tree()
        between = rules.Rules(self.events, self.rows, self.erased_rows)
        for seq, code, detail in between.check():
            self.find(f"event {seq}", code, detail)
        self._check_artifacts()
        self.state = projection.Ledger(
            self.readable,
            lambda observed: self.folder.unavailable(observed, self.erased_files),
        )

    def find(self, target, code, detail):
        """Notes a finding."""
        self.findings.append({"object": target, "code": code, "detail": detail})

    def _parse(self, row):
        if row.bytes is None:
            return None
        try:
            return events.read(row.bytes)
        except Refused as refused:
            self.find(f"event {row.seq}", "bytes", str(refused))
            return None

    def _check_rows(self):
        for name in self.home.missing_triggers:
            self.find("ledger", "guard_missing", f"the trigger {name} is gone")
        expected = 1
        for row, (_, event) in zip(self.rows, self.events, strict=True):
            if row.seq != expected:
                detail = f"expected place {expected}, found {row.seq}"
                self.find(f"event {row.seq}", "sequence", detail)
            expected = row.seq + 1
            for code, detail in self._check_row(row, event):
                self.find(f"event {row.seq}", code, detail)

    def _check_row(self, row, event):
        if len(row.leaf) != 32:
            yield "leaf", "the leaf is not 32 bytes"
        if row.bytes is None and row.salt is None:
            if row.seq not in self.erased_rows:
                yield "erased", "it is erased, but no home.erased names it"
            for column, value in row.columns.items():
                if value is not None:
                    yield "index", f"{column} stands in an erased row"
            return
        if row.bytes is None or row.salt is None:
            yield "erased", "only one of salt and bytes stands"
            return
        if len(row.salt) != 32:
            yield "leaf", "the salt is not 32 bytes"
        if merkle.leaf(row.salt, row.bytes) != row.leaf:
            yield "leaf", "salt and bytes do not hash to the leaf"
        if event is None:
            return
        for column, value in events.columns(event).items():
            if row.columns[column] != value:
                yield "index", f"the index column {column} differs from the bytes"

    def _check_tree(self):
        if len(self.home.tree) != 1:
            self.find("tree", "tree_edge", f"{len(self.home.tree)} rows")
            return
        size, edge = self.home.tree[0]
        if size != self.edge.size:
            detail = f"{size} leaves are recorded, {self.edge.size} are there"
            self.find("tree", "tree_edge", detail)
        elif edge != self.edge.bytes():
            self.find("tree", "tree_edge", "the recorded edge is not that of the leaves")

    def _check_artifacts(self):
        for path in self.folder.stray:
            self.find(f"file {path}", "stray", "no artifact, but it lies among them")
        for digest, why in self.folder.corrupt.items():
            self.find(f"artifact {digest}", "corrupt", why)
        missing = set()
        for seq, event in self.events:
            for digest, length in artifacts.needed(event) if event else ():
                word = self.folder.word(digest, self.erased_files)
                if word == "missing" and digest not in missing:
                    missing.add(digest)
                    self.find(f"artifact {digest}", word, f"event {seq} names it")
                elif word is None and length not in (None, self.folder.readable[digest]):
                    detail = f"{digest} has not the length that is said of it"
                    self.find(f"event {seq}", "length", detail)

    def check_checkpoint(self, note, key):
        """Compares the home with a signed checkpoint."""
        try:
            ledger, size, root = checkpoint.verify(note, checkpoint.Key(key))
        except Refused as refused:
            self.find("checkpoint", "checkpoint", str(refused))
            return
        first = self.events[0][1] if self.events else None
        if first and first["ledger"] != ledger:
            self.find("checkpoint", "checkpoint", "it is of another ledger")
        elif size > len(self.rows):
            self.find("checkpoint", "checkpoint", f"{size} events were there, history was cut")
        elif merkle.over(row.leaf for row in self.rows[:size]).root() != root:
            self.find("checkpoint", "checkpoint", "another root: history was rewritten")

    def report(self):
        """Returns the whole result."""
        members = ("stage", "next_operation", "status", "status_basis")
        calls = {}
        for call, state in self.state.calls.items():
            state = state | {"status": state["call_status"]}
            calls[call] = {member: state[member] for member in members}
        tasks = {}
        for task, state in self.state.tasks.items():
            tasks[task] = {m: state[m] for m in TASK_MEMBERS}
        return {
            "events": len(self.rows),
            "root": "sha256:" + self.edge.root().hex(),
            "findings": self.findings,
            "calls": calls,
            "tasks": tasks,
        }


def main():
    """Runs the verification of one home."""
    parser = argparse.ArgumentParser(description="Verify a home by its documented format.")
    parser.add_argument("home")
    parser.add_argument("--checkpoint", metavar="FILE")
    parser.add_argument("--log-key", metavar="KEY")
    parser.add_argument("--json", action="store_true", help="print nothing but the object")
    arguments = parser.parse_args()
    if (arguments.checkpoint is None) != (arguments.log_key is None):
        parser.error("--checkpoint and --log-key go together")
    try:
        verifier = Verifier(arguments.home)
    except Refused as refused:
        print(f"refused: {refused}", file=sys.stderr)
        return 2
    if arguments.checkpoint:
        with open(arguments.checkpoint, encoding="utf-8", newline="") as file:
            verifier.check_checkpoint(file.read(), arguments.log_key)
    if not arguments.json:
        for found in verifier.findings:
            print(f"{found['object']}: {found['code']}: {found['detail']}")
    print(json.dumps(verifier.report(), ensure_ascii=False, separators=(",", ":")))
    return 3 if verifier.findings else 0


if __name__ == "__main__":
    sys.exit(main())
