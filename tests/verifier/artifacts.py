"""Exact bytes: which digests a ledger must answer for, and what lies in the folder (section 8)."""

import hashlib
import os
import re
import stat

LARGEST = 64 << 20


def refs(event):
    """Yields the Refs of an event, each with the member that holds it."""
    members = {
        "call.requested": ("request",),
        "call.manifest": ("request",),
        "attempt.started": ("request",),
        "attempt.observed": ("request_body_artifact", "response_body_artifact"),
        "check.completed": ("stdout", "stderr"),
    }
    for member in members.get(event["kind"], ()):
        if event["body"][member] is not None:
            yield member, event["body"][member]


def mods(event):
    """Yields the Mods of an event."""
    body = event["body"]
    for member in ("module", "interpreter", "policy"):
        if member in body:
            yield body[member]
    if event["kind"] == "check.requested" and "module" in body["verifier"]:
        yield body["verifier"]["module"]


def needed(event):
    """Yields the digests whose bytes must be there, with the length where it is said."""
    body = event["body"]
    for _, ref in refs(event):
        if ref["preservation"] != "withhold":
            yield ref["sha256"], ref["length"]
    for mod in mods(event):
        known = body["length"] if event["kind"] == "module.registered" else None
        yield mod["sha256"], known
    for member in (
        "config_sha256",
        "interpreter_config_sha256",
        "policy_config_sha256",
        "from_sha256",
        "to_sha256",
        "diff_sha256",
        "artifact_sha256",
    ):
        if body.get(member):
            yield body[member], None
    if event["kind"] == "check.requested":
        yield body["target"].removeprefix("artifact:"), None
        if "config_sha256" in body["verifier"]:
            yield body["verifier"]["config_sha256"], None


class Folder:
    """The folder of artifacts, every file of it hashed."""

    def __init__(self, home):
        self.readable = {}  # digest -> length
        self.corrupt = {}  # digest -> why
        self.stray = []  # paths
        root = os.path.join(home, "artifacts", "sha256")
        for entry in _listed(root):
            if re.fullmatch(r"[0-9a-f]{2}", entry.name) and entry.is_dir(
                follow_symlinks=False
            ):
                self._read_folder(entry)
            else:
                self.stray.append(entry.path)

    def _read_folder(self, folder):
        for entry in _listed(folder.path):
            if not re.fullmatch(r"[0-9a-f]{62}", entry.name):
                self.stray.append(entry.path)
                continue
            name = f"sha256:{folder.name}{entry.name}"
            found = entry.stat(follow_symlinks=False)
            if not stat.S_ISREG(found.st_mode):
                self.corrupt[name] = "not a plain file"
            elif found.st_size > LARGEST:
                self.corrupt[name] = "too long"
            else:
                with open(entry.path, "rb") as file:
                    data = file.read()
                real = "sha256:" + hashlib.sha256(data).hexdigest()
                if real == name:
                    self.readable[name] = len(data)
                else:
                    self.corrupt[name] = f"its bytes hash to {real}"

    def word(self, digest, erased):
        """Returns why bytes cannot be read, or None."""
        if digest in self.readable:
            return None
        if digest in self.corrupt:
            return "corrupt"
        return "erased" if digest in erased else "missing"

    def unavailable(self, observed, erased):
        """Returns why the bodies of an attempt.observed cannot be read, or None."""
        for member in ("response_body_artifact", "request_body_artifact"):
            ref = observed["body"][member]
            if ref is None:
                continue
            if ref["preservation"] == "withhold":
                return "withheld"
            if self.word(ref["sha256"], erased):
                return self.word(ref["sha256"], erased)
        return None


def _listed(path):
    if not os.path.isdir(path):
        return []
    with os.scandir(path) as entries:
        return sorted(entries, key=lambda entry: entry.name)
