//! The types of the contracts, as `wit/v1` has them.

use super::abi::Ty::{self, Bool, Bytes, Record, Result, Str, Tuple, U16, U32, U64, Variant};
use super::abi::{list, named_enum, option};

fn module_info(vocabulary: (&'static str, Ty)) -> Vec<(&'static str, Ty)> {
    let mut fields = vec![("label", Str), ("summary", Str)];
    fields.extend(match vocabulary.0 {
        "vocabulary" => vec![("dialects", list(Str)), vocabulary],
        _ => vec![vocabulary],
    });
    fields.push(("supersedes", list(Str)));
    fields
}

pub(crate) fn interpreter_info() -> Ty {
    Record("module-info", module_info(("vocabulary", U32)))
}

pub(crate) fn policy_info() -> Ty {
    Record(
        "module-info",
        module_info(("accepts-vocabulary", list(U32))),
    )
}

/// What modules say of themselves in the worlds that have no vocabulary.
pub(crate) fn plain_info() -> Ty {
    Record(
        "module-info",
        vec![("label", Str), ("summary", Str), ("supersedes", list(Str))],
    )
}

pub(crate) fn refusal() -> Ty {
    Record("refusal", vec![("code", Str), ("detail", Str)])
}

pub(crate) fn observation() -> Ty {
    Record(
        "observation",
        vec![
            ("dialect", Str),
            ("endpoint", Str),
            (
                "outcome",
                named_enum(
                    "transport-outcome",
                    &[
                        "response-received",
                        "http-error",
                        "no-response",
                        "interrupted",
                    ],
                ),
            ),
            ("status", option(U16)),
            ("headers", list(Tuple(vec![Str, Str]))),
            ("exception-type", option(Str)),
            ("response-body", option(Bytes)),
            ("request-body", option(Bytes)),
        ],
    )
}

fn generation_state() -> Ty {
    named_enum(
        "generation-state",
        &[
            "complete",
            "tool-call",
            "truncated",
            "refused",
            "filtered",
            "empty",
            "paused",
            "pending",
            "error",
            "unknown",
        ],
    )
}

fn usage() -> Ty {
    Record(
        "usage",
        vec![
            ("input", option(U64)),
            ("output", option(U64)),
            ("cached-input", option(U64)),
            ("cache-write", option(U64)),
            ("reasoning", option(U64)),
            ("total", option(U64)),
            ("diagnostics", list(Tuple(vec![Str, Str]))),
        ],
    )
}

pub(crate) fn reading() -> Ty {
    let basis = Record("basis", vec![("kind", Str), ("detail", Str)]);
    let tool_call = Record(
        "tool-call",
        vec![("id", option(Str)), ("name", Str), ("arguments", Bytes)],
    );
    let structured = Variant(
        "structured-output",
        vec![
            ("not-requested", None),
            ("valid", None),
            ("invalid", Some(Str)),
        ],
    );
    let error = Record(
        "provider-error",
        vec![
            ("class", Str),
            ("code", option(Str)),
            ("message", option(Bytes)),
        ],
    );
    let choice = Record(
        "choice",
        vec![
            ("index", U32),
            ("generation-state", generation_state()),
            ("provider-reason", option(Str)),
            ("output-text", option(Bytes)),
        ],
    );
    let fact = Variant(
        "fact-value",
        vec![
            ("flag", Some(Bool)),
            ("count", Some(U64)),
            ("word", Some(Str)),
        ],
    );
    let citation = Record(
        "citation",
        vec![
            ("field", Str),
            ("pointer", Str),
            ("start", U64),
            ("end", U64),
        ],
    );
    Record(
        "reading",
        vec![
            ("generation-state", generation_state()),
            ("provider-reason", option(Str)),
            ("provider-reason-source", option(Str)),
            ("basis", basis),
            ("output-text", option(Bytes)),
            ("tool-calls", list(tool_call)),
            ("refusal", option(Bytes)),
            ("structured-output", structured),
            ("usage", usage()),
            ("model", option(Str)),
            ("response-id", option(Str)),
            ("error", option(error)),
            ("choices", list(choice)),
            ("facts", list(Tuple(vec![Str, fact]))),
            ("citations", list(citation)),
        ],
    )
}

fn reading_facts() -> Ty {
    Record(
        "reading-facts",
        vec![
            ("vocabulary", U32),
            ("generation-state", Str),
            ("provider-reason", option(Str)),
            ("error-class", option(Str)),
            ("has-output-text", Bool),
            ("has-refusal", Bool),
            ("tool-calls", U32),
            ("structured-output", Str),
            ("transport-outcome", Str),
            ("status", option(U16)),
            ("exception-type", option(Str)),
            ("retry-after", option(Str)),
        ],
    )
}

pub(crate) fn attempt() -> Ty {
    Record(
        "attempt",
        vec![
            ("index", U32),
            ("max-attempts", U32),
            ("elapsed-ms", option(U64)),
            ("reading", reading_facts()),
        ],
    )
}

pub(crate) fn attempt_decision() -> Ty {
    let disposition = named_enum("disposition", &["accept", "retry", "terminal"]);
    Record(
        "attempt-decision",
        vec![("disposition", disposition), ("reason", Str)],
    )
}

pub(crate) fn call_decision() -> Ty {
    let status = named_enum("call-status", &["succeeded", "failed", "unresolved"]);
    Record("call-decision", vec![("status", status), ("reason", Str)])
}

pub(crate) fn occasion() -> Ty {
    named_enum("occasion", &["execution", "reinterpretation"])
}

pub(crate) fn acceptance_request() -> Ty {
    Record(
        "request",
        vec![
            ("actor", Str),
            ("artifact-sha256", Str),
            ("criteria-sha256", Str),
            ("check-count", U32),
        ],
    )
}

fn acceptance_source() -> Ty {
    let call = Record("call", vec![("of-task", Bool), ("status", option(Str))]);
    let interpretation = Record(
        "interpretation",
        vec![
            ("of-call", Bool),
            ("of-attempt", Bool),
            ("is-decision-basis", Bool),
            ("generation-state", Str),
        ],
    );
    let output = Variant(
        "source-output",
        vec![
            ("text", Some(Str)),
            ("no-text", None),
            ("unavailable", Some(Str)),
        ],
    );
    let artifact = named_enum(
        "artifact-state",
        &["kept", "missing", "corrupt", "withheld", "erased"],
    );
    let derivation = Record(
        "derivation",
        vec![("from-sha256", Str), ("to-sha256", Str), ("actor", Str)],
    );
    Record(
        "source",
        vec![
            ("call", option(call)),
            ("attempt-of-call", Bool),
            ("attempt-is-final", Bool),
            ("interpretation", option(interpretation)),
            ("producer", Str),
            ("output", output),
            ("artifact", artifact),
            ("derivations", list(derivation)),
        ],
    )
}

pub(crate) fn acceptance_facts() -> Ty {
    let task = Record(
        "task",
        vec![
            ("definitions", U32),
            ("criteria-sha256", option(Str)),
            ("criteria-count", U32),
            ("capabilities", list(Str)),
        ],
    );
    let check = Record(
        "check",
        vec![
            ("id", Str),
            ("found", Bool),
            ("linked", Bool),
            ("completions", U32),
            ("of-task", Bool),
            ("of-output", Bool),
            ("artifact-sha256", option(Str)),
            ("criteria-sha256", option(Str)),
            ("verdict", Str),
            ("covers", list(U32)),
        ],
    );
    Record(
        "facts",
        vec![
            ("task", task),
            (
                "prior",
                named_enum("prior", &["none", "identical", "different"]),
            ),
            ("source", acceptance_source()),
            ("checks", list(check)),
        ],
    )
}

pub(crate) fn check_report() -> Ty {
    let verdict = named_enum("verdict", &["pass", "fail", "inconclusive"]);
    let finding = Record(
        "finding",
        vec![
            ("criterion", U32),
            ("verdict", verdict.clone()),
            ("note", Str),
        ],
    );
    Record(
        "report",
        vec![("verdict", verdict), ("findings", list(finding))],
    )
}

pub(crate) fn price_request() -> Ty {
    Record(
        "request",
        vec![
            ("usage", usage()),
            ("model", option(Str)),
            ("provider", option(Str)),
            ("dialect", Str),
            ("time", Str),
        ],
    )
}

pub(crate) fn cost() -> Ty {
    let unknown = Record(
        "unknown-amount",
        vec![("lower-bound", option(Str)), ("why", Str)],
    );
    let amount = Variant(
        "amount",
        vec![("known", Some(Str)), ("unknown", Some(unknown))],
    );
    Record("cost", vec![("amount", amount), ("currency", Str)])
}

pub(crate) fn outcome(ok: Ty) -> Ty {
    Result(Box::new(ok), Box::new(refusal()))
}
