"""The closed list of kinds: body, scope and cause of each (docs/format.md section 5)."""

import schema as s

ACCEPTANCE = {
    "policy": s.mod,
    "output": s.text,
    "artifact_sha256": s.digest,
    "criteria_sha256": s.digest,
    "interpretation": s.identifier,
    "checks": s.array(s.identifier, 64),
    "authority": s.text,
}
CHECK_FINDING = {"criterion": s.integer, "verdict": s.VERDICT, "note": s.text}

BODIES = {
    "home.created": {
        "format": s.only("draft"),
        "program": s.record(
            {
                "version": s.text,
                "commit": s.maybe(s.text),
                "dirty": s.maybe(s.boolean),
            }
        ),
        "defaults": s.record({"interpreter": s.label, "policy": s.label}),
    },
    "home.preregistered": {"expected_sha256": s.digest, "note": s.text},
    "home.erased": {
        "targets": s.array(s.record({"seq?": s.integer, "sha256?": s.digest})),
        "reason": s.text,
    },
    "module.registered": {
        "module": s.mod,
        "world": s.text,
        "length": s.integer,
        "summary": s.text,
        "dialects": s.array(s.text),
        "vocabulary": s.maybe(s.integer),
        "accepts_vocabulary": s.array(s.integer),
        "supersedes": s.array(s.label),
        "source": s.text,
    },
    "module.retired": {"module": s.mod, "reason": s.text},
    "call.requested": {
        "provider": s.text,
        "dialect": s.text,
        "endpoint": s.text,
        "request": s.maybe(s.ref),
        "requested_model": s.maybe(s.text),
        "idempotency_key?": s.text,
        "preservation": s.PRESERVATION,
        "max_attempts": s.integer_between(0, 64),
    }
    | s.PAIR,
    "call.manifest": {
        "request": s.ref,
        "method": s.text,
        "url": s.text,
        "header_names": s.array(s.text),
        "requested_model": s.maybe(s.text),
    },
    "call.preparation_failed": {"stage": s.text, "detail": s.text},
    "call.imported": {
        "importer": s.text,
        "source_sha256": s.digest,
        "line": s.integer_between(1, 2**53 - 1),
        "line_sha256": s.digest,
        "external_id": s.maybe(s.name),
        "provider": s.maybe(s.name),
        "dialect": s.text,
        "exactness": s.text,
    },
    "call.status_decided": {
        "status": s.STATUS,
        "reason": s.text,
        "interpretations": s.array(s.identifier),
    }
    | s.PAIR,
    "call.completed": {
        "status": s.STATUS,
        "attempts": s.integer,
        "decision_basis": s.maybe(s.identifier),
    },
    "call.reinterpreted": {
        "status": s.STATUS,
        "reason": s.text,
        "interpretations": s.array(s.identifier),
        "decisions": s.array(
            s.record(
                {
                    "attempt": s.identifier,
                    "interpretation": s.identifier,
                    "decision": s.DECISION,
                    "reason": s.text,
                }
            )
        ),
        "observations": s.array(
            s.record({"attempt": s.identifier, "sha256": s.maybe(s.digest)})
        ),
        "prior_status": s.maybe(s.STATUS),
        "prior_record_kind": s.maybe(s.text),
        "prior_record": s.maybe(s.identifier),
        "allow_older?": s.record({"reason": s.text}),
        "provider_effect": s.only(False),
    }
    | s.PAIR,
    "call.resumed": {"to_call": s.identifier, "prior_stage": s.text, "basis": s.text},
    "call.replayed": {
        "original_call": s.identifier,
        "original_attempts": s.array(s.identifier),
        "original_status": s.STATUS,
        "reason": s.text,
    },
    "attempt.started": {"index": s.integer_between(1, 2**53 - 1), "request": s.ref},
    "attempt.observed": {
        "index": s.integer_between(1, 2**53 - 1),
        "provider": s.maybe(s.text),
        "dialect": s.text,
        "endpoint": s.text,
        "transport_outcome": s.word(
            "response_received", "http_error", "no_response", "interrupted"
        ),
        "http_status": s.maybe(s.integer),
        "headers": s.array(s.pair(s.text, s.text)),
        "headers_dropped": s.array(s.text),
        "exception_type": s.maybe(s.EXCEPTION),
        "request_body_artifact": s.maybe(s.ref),
        "response_body_artifact": s.maybe(s.ref),
    },
    "attempt.interpreted": {
        "module": s.mod,
        "config_sha256?": s.digest,
        "inputs": s.record(
            {
                "observation": s.identifier,
                "request_sha256": s.maybe(s.digest),
                "response_sha256": s.maybe(s.digest),
            }
        ),
        "reading": s.reading,
        "result_sha256": s.digest,
        "engine_profile": s.text,
        "fuel": s.integer,
        "recorded_by": s.word("execution", "reinterpretation"),
    },
    "attempt.retry_decided": {
        "policy": s.mod,
        "policy_config_sha256?": s.digest,
        "decision": s.DECISION,
        "reason": s.text,
        "executed": s.boolean,
    },
    "attempt.completed": {
        "index": s.integer,
        "status": s.word("succeeded", "failed", "transient_failure"),
        "error_class": s.maybe(s.text),
        "latency_ms": s.maybe(s.integer),
    },
    "cost.computed": {
        "module": s.mod,
        "config_sha256": s.digest,
        "amount": s.maybe(s.text),
        "currency": s.text,
        "lower_bound?": s.text,
        "why?": s.text,
    },
    "task.created": {
        "title": s.text,
        "run?": s.text,
        "outputs": s.array(
            s.record(
                {
                    "name": s.text,
                    "criteria": s.array(s.text),
                    "criteria_sha256": s.digest,
                }
            )
        ),
        "grants": s.mapping(s.name, s.array(s.text)),
    },
    "check.requested": {
        "output": s.text,
        "target": s.target,
        "verifier": s.one_of(
            "kind",
            {
                "command": s.record({"kind": s.text, "argv": s.array(s.text)}),
                "module": s.record(
                    {"kind": s.text, "module": s.mod, "config_sha256?": s.digest}
                ),
            },
        ),
        "covers": s.array(s.integer),
        "criteria_sha256": s.digest,
        "timeout_s": s.integer,
    },
    "check.completed": {
        "verdict": s.VERDICT,
        "exit_code": s.maybe(s.signed),
        "stdout": s.maybe(s.ref),
        "stderr": s.maybe(s.ref),
        "findings": s.array(s.record(CHECK_FINDING)),
    },
    "artifact.derived": {
        "from_sha256": s.digest,
        "to_sha256": s.digest,
        "tool": s.text,
        "note": s.text,
        "diff_sha256": s.maybe(s.digest),
    },
    "task.accepted": ACCEPTANCE,
    "task.completed": {
        "output": s.text,
        "artifact_sha256": s.digest,
        "acceptance": s.identifier,
    },
    "task.acceptance_rejected": ACCEPTANCE
    | {
        "interpretation": s.maybe(s.identifier),
        "authority": s.maybe(s.text),
        "reasons": s.array(s.text, 256),
    },
}
CHECKS = {kind: s.record(body) for kind, body in BODIES.items()}

# The kinds that the cause may be of; empty means that it is null.
CAUSES = {
    "home.created": (),
    "home.preregistered": (),
    "home.erased": (),
    "module.registered": (),
    "module.retired": ("module.registered",),
    "call.requested": ("task.created", None),
    "call.manifest": ("call.requested",),
    "call.preparation_failed": ("call.requested",),
    "call.imported": ("task.created", None),
    "call.status_decided": ("attempt.retry_decided",),
    "call.completed": ("call.status_decided",),
    "call.reinterpreted": (
        "call.status_decided",
        "call.reinterpreted",
        "attempt.observed",
    ),
    "call.resumed": ("call.requested",),
    "call.replayed": ("call.requested",),
    "attempt.started": ("call.manifest",),
    "attempt.observed": ("attempt.started", "call.imported"),
    "attempt.interpreted": ("attempt.observed",),
    "attempt.retry_decided": ("attempt.interpreted",),
    "attempt.completed": ("attempt.retry_decided",),
    "cost.computed": ("attempt.interpreted",),
    "task.created": (),
    "check.requested": ("task.created",),
    "check.completed": ("check.requested",),
    "artifact.derived": (),
    "task.accepted": ("check.completed",),
    "task.completed": ("task.accepted",),
    "task.acceptance_rejected": ("task.created",),
}


def scope(kind):
    """Returns the scope members that must stand, and those that may."""
    group = kind.split(".")[0]
    if group in ("home", "module", "artifact"):
        return (), ()
    if group == "call":
        return ("call",), ("task",)
    if group in ("attempt", "cost"):
        return ("call", "attempt"), ("task",)
    return ("task",), ()
