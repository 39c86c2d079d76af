"""What events amount to: adopted status and work state (docs/format.md section 9).

Events come in order of `seq`; erased ones are left out before.
"""

EARLY = ("requested", "manifest_recorded", "preparation_failed")


def adopted(events):
    """Returns the record that holds the adopted status of a call, or None."""
    kinds = ("call.status_decided", "call.reinterpreted")
    return next((e for e in reversed(events) if e["kind"] in kinds), None)


def status_basis(record):
    """Returns who adopted a status."""
    body = record["body"]
    if record["kind"] == "call.status_decided":
        return f"execution:{body['policy']['label']}"
    labels = body["interpreter"]["label"], body["policy"]["label"]
    return f"reinterpretation:{labels[0]}/{labels[1]}"


def _first(events, kind):
    return next((e for e in events if e["kind"] == kind), None)


def _opening(events):
    return _first(events, "call.requested") or _first(events, "call.imported")


def _row(events):
    """Returns stage, provider effect and next operation by the table's first row that fits."""
    kinds = {event["kind"] for event in events}
    if "call.replayed" in kinds:
        return "replayed", "none", "none"
    if "call.completed" in kinds:
        return "completed", "observed", "none"
    if {"call.imported", "call.reinterpreted"} <= kinds:
        return "completed", "observed", "none"
    if "call.preparation_failed" in kinds:
        return "preparation_failed", "none", "fix_inputs"
    last = last_attempt(events)
    if last is None:
        manifest = "call.manifest" in kinds
        return "manifest_recorded" if manifest else "requested", "none", "start_call"
    own = [event for event in events if event.get("attempt") == last]
    has = {event["kind"] for event in own}
    if "attempt.observed" not in has:
        return "effect_unknown", "unknown", "reconcile_effect"
    if "attempt.interpreted" not in has:
        return "observed", "observed", "reinterpret"
    if "call.imported" in kinds:
        return "interpreted", "observed", "reinterpret"
    if "attempt.retry_decided" not in has:
        return "interpreted", "observed", "redecide"
    decided = [e["body"] for e in own if e["kind"] == "attempt.retry_decided"]
    if any(body["executed"] for body in decided):
        return "retry_decided", "observed", "start_next_attempt"
    return "decided", "observed", "finalize_call"


def last_attempt(events):
    """Returns the id of the latest attempt of a call, or None."""
    kinds = ("attempt.started", "attempt.observed")
    return next((e["attempt"] for e in reversed(events) if e["kind"] in kinds), None)


def last_observed(events):
    """Returns the last attempt.observed of a call, or None."""
    kind = "attempt.observed"
    return next((e for e in reversed(events) if e["kind"] == kind), None)


def call_state(call, events, twin=None, unavailable=None):
    """Returns the work state of a call.

    `twin` is another call of the same idempotency key that is completed, and
    `unavailable` says why the bytes of the last observation cannot be read.
    """
    stage, effect, operation = _row(events)
    imported = _first(events, "call.imported")
    opening = _opening(events)["body"]
    resumed = _first(events, "call.resumed")
    superseded_by = resumed_as = None
    if stage in EARLY and twin:
        superseded_by, operation = twin, "none"
    elif resumed and (stage in EARLY or stage == "effect_unknown"):
        resumed_as, operation = resumed["body"]["to_call"], "none"
    if operation == "reinterpret" and unavailable:
        operation = "none"
    kinds = [event["kind"] for event in events]
    if (
        imported is None
        and "call.status_decided" not in kinds
        and "call.reinterpreted" in kinds
    ):
        operation = "none"
    counted = "attempt.observed" if imported else "attempt.started"
    record = adopted(events)
    body = record["body"] if record else {}
    return {
        "attempt_count": kinds.count(counted),
        "call": call,
        "call_status": body.get("status"),
        "decision_basis": (body.get("interpretations") or [None])[-1],
        "dialect": opening.get("dialect"),
        "duplicate_effect_risk": stage == "effect_unknown",
        "external_id": opening.get("external_id"),
        "idempotency_key": opening.get("idempotency_key"),
        "next_operation": operation,
        "provider": opening.get("provider"),
        "provider_effect": effect,
        "resumed_as": resumed_as,
        "stage": stage,
        "status_basis": status_basis(record) if record else None,
        "status_reason": body.get("reason"),
        "status_record": record["id"] if record else None,
        "superseded_by": superseded_by,
        "task": next((e["task"] for e in events if "task" in e), None),
    }


def _ground(events, seq_end):
    """Returns what counts of a call's first events, as a record rests on it."""
    known = events[:seq_end]
    record = adopted(known)
    if record is None:
        return None
    body = record["body"]
    reading = (body["interpretations"] or [None])[-1]
    read = next((e["body"]["reading"] for e in events if e["id"] == reading), {})
    return record["id"], (
        body["status"],
        body["interpreter"],
        body["policy"],
        body.get("interpreter_config_sha256"),
        body.get("policy_config_sha256"),
        reading,
        read.get("generation_state"),
        (read.get("output_text") or {}).get("sha256"),
    )


def _moved_by(accepted, events):
    """Returns the status record by which the ground of an acceptance moved."""
    place = events.index(accepted)
    cited = accepted["body"]["interpretation"]
    call = next((e.get("call") for e in events if e["id"] == cited), None)
    if call is None:
        return None
    of_call = [e for e in events if e.get("call") == call]
    before = sum(1 for e in events[:place] if e.get("call") == call)
    old, new = _ground(of_call, before), _ground(of_call, len(of_call))
    return new[0] if old is not None and old[1] != new[1] else None


def _output_state(name, events):
    accepted = next(
        (
            e
            for e in events
            if e["kind"] == "task.accepted" and e["body"]["output"] == name
        ),
        None,
    )
    completed = accepted is not None and any(
        e["kind"] == "task.completed"
        and e["body"]["output"] == name
        and e["cause"] == accepted["id"]
        and e["body"]["acceptance"] == accepted["id"]
        and e["body"]["artifact_sha256"] == accepted["body"]["artifact_sha256"]
        for e in events
    )
    return {
        "acceptance": accepted["id"] if accepted else None,
        "acceptance_pending_completion": accepted is not None and not completed,
        "artifact_sha256": accepted["body"]["artifact_sha256"] if accepted else None,
        "basis_moved_by": _moved_by(accepted, events) if accepted else None,
        "name": name,
        "status": "completed" if completed else "incomplete",
    }


def task_state(task, events, calls=()):
    """Returns the work state of a task from its events and the states of its calls in order."""
    created = _first(events, "task.created")
    body = created["body"] if created else {"outputs": []}
    outputs = [_output_state(output["name"], events) for output in body["outputs"]]
    if created is None:
        status = "unknown_task"
    elif outputs and all(output["status"] == "completed" for output in outputs):
        status = "completed"
    else:
        status = "incomplete"
    ended = {e["cause"] for e in events if e["kind"] == "check.completed"}
    open_checks = [
        e["id"] for e in events if e["kind"] == "check.requested" and e["id"] not in ended
    ]
    missing = [output["name"] for output in outputs if output["status"] != "completed"]
    moved = created is not None and any(output["basis_moved_by"] for output in outputs)
    return {
        "checks_without_verdict": open_checks,
        "outputs": outputs,
        "outputs_missing": missing,
        "run": body.get("run"),
        "task": task,
        "task_next_operation": _task_operation(status, outputs, calls),
        "task_standing": status + ", basis moved" if moved else status,
        "task_status": status,
        "title": body.get("title"),
    }


def _task_operation(status, outputs, calls):
    if status != "incomplete":
        return "none"
    if any(output["acceptance_pending_completion"] for output in outputs):
        return "repeat_acceptance"
    for call in calls:
        if call["next_operation"] != "none":
            return call["next_operation"]
    if any(c["stage"] == "completed" and c["call_status"] == "succeeded" for c in calls):
        return "check_and_accept"
    return "start_call"


class Ledger:
    """The calls and tasks of a whole ledger."""

    def __init__(self, events, unavailable):
        """Takes the readable events in order, and what says why bytes cannot be read."""
        calls, tasks = {}, {}
        for event in events:
            if "call" in event:
                calls.setdefault(event["call"], []).append(event)
            if "task" in event:
                tasks.setdefault(event["task"], []).append(event)
        completed = {}  # idempotency key -> completed calls
        # A call is known by the event that opened it; when that is erased, it is not.
        calls = {call: own for call, own in calls.items() if _opening(own)}
        for call, own in calls.items():
            requested = _first(own, "call.requested")
            key = requested["body"].get("idempotency_key") if requested else None
            if key is not None and _first(own, "call.completed"):
                completed.setdefault(key, []).append(call)
        self.calls = {}
        for call, own in calls.items():
            requested = _first(own, "call.requested")
            key = requested["body"].get("idempotency_key") if requested else None
            twins = [other for other in completed.get(key, ()) if other != call]
            observed = last_observed(own)
            self.calls[call] = call_state(
                call,
                own,
                twin=twins[0] if twins else None,
                unavailable=unavailable(observed) if observed else None,
            )
        self.tasks = {
            task: task_state(
                task, own, [c for c in self.calls.values() if c["task"] == task]
            )
            for task, own in tasks.items()
        }
