"""What must hold between events (docs/format.md sections 5 and 10).

An erased event takes its id and its label with it. Where such rows are, an
unknown name is no finding. Nor is one that an unreadable event may have had.
"""

import re

import artifacts
import canonical
import events as model
import kinds
import projection

NEIGHBOURS = {
    "call.imported": "attempt.observed",
    "attempt.retry_decided": "attempt.completed",
    "call.status_decided": "call.completed",
}
BEFORE = {second: first for first, second in NEIGHBOURS.items()}
DECIMAL = re.compile(r"(?=.{1,64}\Z)(0|[1-9][0-9]*)(\.[0-9]*[1-9])?", re.ASCII)
CURRENCY = re.compile(r"[A-Z]{3}")
CONFIGS = ("interpreter_config_sha256", "policy_config_sha256")


class Rules:
    """Walks the events in order and says what each breaks."""

    def __init__(self, events, rows, erased):
        """Takes a list of (seq, event), the stored rows, and the places that were erased.

        The event is None where it cannot be read.
        """
        self.rows = events
        self.gaps = any(event is None for _, event in events)
        self.erased = any(event is None and seq in erased for seq, event in events)
        unread = [row for row, (_, event) in zip(rows, events, strict=True) if event is None]
        self.unread = {row.columns[name] for row in unread for name in ("id", "name")}
        self.created = events[0][1] if events else None
        self.by_id = {}
        self.modules = {}  # label -> digest
        self.supersedes = {}  # label -> labels
        self.keys = set()
        self.calls = {}  # call id -> its events so far
        self.tasks = {}  # task id -> task.created

    def check(self):
        """Yields (seq, code, detail)."""
        for place, (seq, event) in enumerate(self.rows):
            if event is None:
                continue
            for code, detail in self._event(place, seq, event):
                yield seq, code, detail
            self._remember(event)

    def _remember(self, event):
        self.by_id[event["id"]] = event
        if "call" in event:
            self.calls.setdefault(event["call"], []).append(event)
        if event["kind"] == "module.registered":
            module = event["body"]["module"]
            self.modules.setdefault(module["label"], module["sha256"])
            self.supersedes.setdefault(module["label"], event["body"]["supersedes"])
        if event["kind"] == "task.created":
            self.tasks.setdefault(event["task"], event)

    def _event(self, place, seq, event):
        kind = event["kind"]
        if (kind == "home.created") != (seq == 1):
            yield "rule", "home.created is event 1 and no other"
        if self.created and event["ledger"] != self.created["ledger"]:
            yield "rule", "it was made for another ledger"
        if event["id"] in self.by_id:
            yield "rule", "its id stands twice"
        key = model.key_preimage(event)
        if key is not None and key in self.keys:
            yield "rule", "its unique key stands twice"
        self.keys.add(key)
        yield from self._cause(event)
        yield from self._references(event)
        yield from self._modules(event)
        yield from self._neighbours(place, event)
        own = getattr(self, "_" + kind.replace(".", "_"), None)
        if own:
            yield from own(event)

    def _find(self, what, name, wanted, event):
        """Yields what is wrong with a reference."""
        found = self.by_id.get(name)
        if found is None:
            if not self._may_be_lost(name):
                yield "reference", f"its {what} {name} does not stand before it"
            return
        if found["kind"] not in wanted:
            yield "reference", f"its {what} is of kind {found['kind']}"
        for member in ("task", "call", "attempt"):
            if member in found and member in event and found[member] != event[member]:
                yield "reference", f"its {what} is of another {member}"

    def _may_be_lost(self, name):
        """Tells whether an erased or unreadable event may have had this id."""
        return self.erased or model.id_bytes(name) in self.unread

    def _cause(self, event):
        wanted = kinds.CAUSES[event["kind"]]
        if event["cause"] is None:
            if wanted and None not in wanted:
                yield "reference", "it has no cause"
        elif not wanted:
            yield "reference", "it has a cause"
        else:
            yield from self._find("cause", event["cause"], wanted, event)

    def _references(self, event):
        if event["kind"] == "task.acceptance_rejected":
            return  # As it was cited, which may be the reason against it.
        body = event["body"]
        read = ("attempt.interpreted",)
        for name in body.get("interpretations", ()):
            yield from self._find("interpretation", name, read, event)
        for member, wanted in (
            ("interpretation", read),
            ("decision_basis", read),
            ("prior_record", ("call.status_decided", "call.reinterpreted")),
            ("acceptance", ("task.accepted",)),
        ):
            if body.get(member):
                yield from self._find(member, body[member], wanted, event)
        for name in body.get("checks", ()):
            yield from self._find("check", name, ("check.completed",), event)

    def _modules(self, event):
        if event["kind"] == "module.registered":
            return
        for mod in artifacts.mods(event):
            known = self.modules.get(mod["label"])
            lost = self.erased or mod["label"] in self.unread
            if known is None and not lost:
                yield "module", f"{mod['label']} is not registered before it"
            elif known is not None and known != mod["sha256"]:
                yield "module", f"{mod['label']} is bound to {known}"

    def _neighbours(self, place, event):
        second, first = NEIGHBOURS.get(event["kind"]), BEFORE.get(event["kind"])
        if second and not self._stands(place + 1, event, second):
            yield "order", f"no {second} of the same call follows it"
        if event["kind"] == "attempt.observed":
            opened = self.calls.get(event["call"], [{"kind": None}])[0]["kind"]
            first = first if opened == "call.imported" else None
        if first and not self._stands(place - 1, event, first):
            yield "order", f"no {first} of the same call stands before it"

    def _stands(self, place, event, kind):
        if not 0 <= place < len(self.rows):
            return False
        other = self.rows[place][1]
        return other is None or (
            other["kind"] == kind and other.get("call") == event["call"]
        )

    def _observed(self, call):
        own = self.calls.get(call, ())
        return [event for event in own if event["kind"] == "attempt.observed"]

    def _readings(self, event):
        """One reading per observed attempt, by the named interpreter."""
        body = event["body"]
        observed = [one["attempt"] for one in self._observed(event["call"])]
        known = [self.by_id.get(name) for name in body["interpretations"]]
        if None in known:
            return
        if [reading.get("attempt") for reading in known] != observed and not self.gaps:
            yield "rule", "interpretations is not one reading per observed attempt"
        for reading in known:
            if reading["kind"] != "attempt.interpreted":
                continue
            own = reading["body"]["module"], reading["body"].get("config_sha256")
            if own != (body["interpreter"], body.get("interpreter_config_sha256")):
                yield "rule", "a reading is by another interpreter than the named one"

    def _cost_computed(self, event):
        body = event["body"]
        for member in ("amount", "lower_bound"):
            number = body.get(member)
            if number is not None and not DECIMAL.fullmatch(number):
                yield "rule", f"{member} is no decimal number"
        if not CURRENCY.fullmatch(body["currency"]):
            yield "rule", "currency is not three letters"
        known = body["amount"] is not None
        if known and ("why" in body or "lower_bound" in body):
            yield "rule", "an amount that is known has neither why nor lower_bound"
        if not known and "why" not in body:
            yield "rule", "an amount that is not known has a why"

    def _attempt_observed(self, event):
        body = event["body"]
        outcome, status = body["transport_outcome"], body["http_status"]
        if outcome == "response_received" and (status is None or status >= 400):
            yield "rule", "response_received has a status below 400"
        if outcome == "http_error" and (status is None or status < 400):
            yield "rule", "http_error has a status of 400 or above"
        if body["exception_type"] and outcome not in ("no_response", "interrupted"):
            yield "rule", f"{outcome} has no exception_type"
        opening = self.calls.get(event["call"], [None])[0]
        if opening and opening["actor"] != event["actor"]:
            yield "rule", "its actor is not that of the call"

    def _attempt_interpreted(self, event):
        inputs = event["body"]["inputs"]
        if inputs["observation"] != event["cause"]:
            yield "rule", "inputs.observation is not its cause"
        observed = self.by_id.get(inputs["observation"])
        if observed is None:
            if not self._may_be_lost(inputs["observation"]):
                yield "reference", "its observation does not stand before it"
        elif observed["kind"] == "attempt.observed":
            for member in ("request", "response"):
                ref = observed["body"][f"{member}_body_artifact"]
                if inputs[f"{member}_sha256"] != (ref["sha256"] if ref else None):
                    yield "rule", f"inputs.{member}_sha256 is not that of the observation"

    def _call_status_decided(self, event):
        yield from self._readings(event)
        decided = [
            one["id"]
            for one in self.calls.get(event["call"], ())
            if one["kind"] == "attempt.retry_decided"
        ]
        if not self.gaps and decided and event["cause"] != decided[-1]:
            yield "rule", "its cause is not the last attempt.retry_decided"

    def _call_completed(self, event):
        body, cause = event["body"], self.by_id.get(event["cause"])
        if cause is None or cause["kind"] != "call.status_decided":
            return
        if body["status"] != cause["body"]["status"]:
            yield "rule", "its status is not the decided one"
        basis = (cause["body"]["interpretations"] or [None])[-1]
        if body["decision_basis"] != basis:
            yield "rule", "decision_basis is not the last reading"
        started = [e for e in self.calls[event["call"]] if e["kind"] == "attempt.started"]
        if body["attempts"] != len(started) and not self.gaps:
            yield "rule", f"attempts is not {len(started)}"

    def _call_reinterpreted(self, event):
        body = event["body"]
        yield from self._readings(event)
        yield from self._per_attempt(event)
        own = self.calls.get(event["call"], [])
        before = projection.adopted(own)
        prior = (body["prior_record"], body["prior_record_kind"], body["prior_status"])
        given = [None, None, None]
        if before:
            given = [before["id"], before["kind"], before["body"]["status"]]
        lost = self.gaps and body["prior_record"] not in self.by_id
        if list(prior) != given and not (lost and body["prior_record"]):
            yield "rule", "the prior members are not the adopted status just before"
        cause = body["prior_record"]
        if cause is None:
            observed = self._observed(event["call"])
            cause = observed[-1]["id"] if observed else None
        if event["cause"] != cause and not (self.gaps and cause is None):
            yield "rule", "its cause is not prior_record or the last attempt.observed"
        if before and not lost:
            yield from self._step(event, before)

    def _per_attempt(self, event):
        body = event["body"]
        own = self.calls.get(event["call"], [])
        observed = self._observed(event["call"])
        attempts = [one["attempt"] for one in observed]
        decisions, observations = body["decisions"], body["observations"]
        if [one["interpretation"] for one in decisions] != body["interpretations"]:
            yield "rule", "decisions and interpretations differ"
        if self.gaps:
            return
        if [one["attempt"] for one in decisions] != attempts:
            yield "rule", "decisions is not one per observed attempt"
        seen = []
        for one in observed:
            ref = one["body"]["response_body_artifact"]
            sha256 = ref["sha256"] if ref else None
            seen.append({"attempt": one["attempt"], "sha256": sha256})
        if observations != seen:
            yield "rule", "observations are not those of the call"
        started = {one["attempt"] for one in own if one["kind"] == "attempt.started"}
        if not started <= set(attempts):
            yield "rule", "a started attempt is not observed"

    def _step(self, event, before):
        """The step from the adopted pair to the new one."""
        new, old = event["body"], before["body"]
        older = False
        for member in ("interpreter", "policy"):
            older |= self._is_over(old[member]["label"], new[member]["label"])
        if older and "allow_older" not in new:
            yield "rule", "an older module is adopted again without allow_older"
        same = all(new[m] == old[m] for m in ("interpreter", "policy"))
        if same and all(new.get(m) == old.get(m) for m in CONFIGS):
            yield "rule", "it repeats what is adopted already"

    def _is_over(self, label, other):
        """Tells whether a label supersedes another over any number of steps."""
        seen, waiting = set(), [label]
        while waiting:
            for below in self.supersedes.get(waiting.pop(), ()):
                if below == other:
                    return True
                if below not in seen:
                    seen.add(below)
                    waiting.append(below)
        return False

    def _module_retired(self, event):
        cause = self.by_id.get(event["cause"])
        if cause and cause["body"].get("module") != event["body"]["module"]:
            yield "rule", "its cause registers another module"

    def _task_created(self, event):
        for output in event["body"]["outputs"]:
            digest = canonical.digest(canonical.write(output["criteria"]))
            if output["criteria_sha256"] != digest:
                yield "rule", f"criteria_sha256 of {output['name']} is not {digest}"

    def _declared(self, event):
        created = self.tasks.get(event["task"])
        if created is None:
            return
        for output in created["body"]["outputs"]:
            if output["name"] == event["body"]["output"]:
                if output["criteria_sha256"] != event["body"]["criteria_sha256"]:
                    yield "rule", "criteria_sha256 is not as declared"
                return
        yield "rule", "the task has no such output"

    _check_requested = _declared

    def _task_accepted(self, event):
        yield from self._declared(event)
        checks = event["body"]["checks"]
        if checks and event["cause"] != checks[-1]:
            yield "rule", "its cause is not the last check cited"

    def _task_completed(self, event):
        if event["body"]["acceptance"] != event["cause"]:
            yield "rule", "acceptance is not its cause"
