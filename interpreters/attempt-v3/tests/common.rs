//! Observations for tests, and what is read from them.

use std::fs;
use std::path::Path;

use attempt_v3::reading::Citation;
use attempt_v3::{Observation, Outcome, Reading, Refusal, interpret, open};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

/// An observation that owns what it has.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) dialect: String,
    pub(crate) outcome: Outcome,
    pub(crate) status: Option<u16>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) exception_type: Option<String>,
    pub(crate) body: Option<Vec<u8>>,
    pub(crate) request: Option<Vec<u8>>,
}

impl Seen {
    /// A whole response.
    pub(crate) fn response(dialect: &str, status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self {
            dialect: dialect.to_owned(),
            outcome: if (200..300).contains(&status) {
                Outcome::ResponseReceived
            } else {
                Outcome::HttpError
            },
            status: Some(status),
            headers: Vec::new(),
            exception_type: None,
            body: Some(body.into()),
            request: None,
        }
    }

    pub(crate) fn ok(dialect: &str, body: impl Into<Vec<u8>>) -> Self {
        Self::response(dialect, 200, body)
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Reads it and hands the reading and the decoded body on.
    pub(crate) fn read<T>(
        &self,
        then: impl FnOnce(&Reading<'_>, &[u8]) -> T,
    ) -> Result<T, Refusal> {
        let headers: Vec<(&str, &str)> = self
            .headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        let observation = Observation {
            dialect: &self.dialect,
            outcome: self.outcome,
            status: self.status,
            headers: &headers,
            exception_type: self.exception_type.as_deref(),
            response_body: self.body.as_deref(),
            request_body: self.request.as_deref(),
        };
        let opened = open(&observation)?;
        Ok(then(&interpret(&observation, &opened), opened.body()))
    }

    pub(crate) fn state(&self) -> &'static str {
        self.read(|reading, _| reading.state.as_str()).unwrap()
    }

    /// State and class.
    pub(crate) fn verdict(&self) -> (&'static str, Option<&'static str>) {
        let of = |reading: &Reading<'_>, _: &[u8]| {
            let class = reading.error.as_ref().map(|error| error.class.as_str());
            (reading.state.as_str(), class)
        };
        self.read(of).unwrap()
    }

    pub(crate) fn text(&self) -> Option<String> {
        self.read(|reading, _| reading.output_text.as_deref().map(str::to_owned))
            .unwrap()
    }

    pub(crate) fn has_fact(&self, wanted: &str) -> bool {
        self.read(|reading, _| reading.facts.iter().any(|(name, _)| *name == wanted))
            .unwrap()
    }
}

/// An event stream of documents.
pub(crate) fn sse(documents: &[&str]) -> String {
    let mut stream = String::new();
    for document in documents {
        stream.extend(["data: ", document, "\n\n"]);
    }
    stream
}

/// Where the recordings are, if they are at hand.
pub(crate) fn recordings() -> Option<Vec<Value>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    if !folder.is_dir() {
        return None;
    }
    let mut paths: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "jsonl")
        })
        .collect();
    paths.sort();
    let mut entries = Vec::new();
    for path in paths {
        for row in fs::read_to_string(path).unwrap().lines() {
            entries.push(serde_json::from_str(row).unwrap());
        }
    }
    Some(entries)
}

/// The dialect of a recording's file.
fn dialect(name: &str) -> &'static str {
    match name {
        "openai_chat" => "openai.chat",
        "openai_responses" => "openai.responses",
        "openai_completions" => "openai.completions",
        "anthropic_messages" => "anthropic.messages",
        "anthropic_complete" => "anthropic.complete",
        "gemini_generate" => "gemini.generate_content",
        "bedrock_converse" | "bedrock_converse_stream" => "bedrock.converse",
        "bedrock_invoke" | "bedrock_invoke_stream" => "bedrock.invoke",
        "mistral_chat" => "mistral.chat",
        "cohere_v1_chat" | "cohere_v1_generate" => "cohere.v1.chat",
        "cohere_v2_chat" => "cohere.v2.chat",
        "ollama_chat" => "ollama.chat",
        "ollama_generate" => "ollama.generate",
        other => panic!("no dialect for {other}"),
    }
}

fn pairs(headers: &Value) -> Vec<(String, String)> {
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    match headers {
        Value::Object(map) => map
            .iter()
            .map(|(name, value)| (name.to_lowercase(), word(value)))
            .collect(),
        Value::Array(list) => list
            .iter()
            .map(|pair| (word(&pair[0]).to_lowercase(), word(&pair[1])))
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

fn decoded(value: &Value) -> Option<Vec<u8>> {
    value.as_str().map(|text| STANDARD.decode(text).unwrap())
}

/// A recording as an observation; none where the body was not kept.
pub(crate) fn recorded(entry: &Value) -> Option<Seen> {
    let response = &entry["response"];
    let status = u16::try_from(response["status"].as_u64()?).ok()?;
    let name = entry["dialect"].as_str().unwrap();
    let mut seen = Seen::response(dialect(name), status, decoded(&response["body_b64"])?);
    seen.headers = pairs(&response["headers"]);
    seen.request = decoded(&entry["request"]["body_b64"]);
    Some(seen)
}

/// The cases, each with the observation that it is about.
pub(crate) fn cases() -> Vec<(Value, Seen)> {
    let rows = include_str!("cases.jsonl").lines();
    rows.map(|row| {
        let case: Value = serde_json::from_str(row).unwrap();
        let status = case["transport"]["status"].as_u64().unwrap();
        let body = case["body_utf8"].as_str().map_or_else(
            || decoded(&case["body_base64"]).unwrap(),
            |text| text.as_bytes().to_vec(),
        );
        let dialect = case["dialect"].as_str().unwrap();
        let mut seen = Seen::response(dialect, u16::try_from(status).unwrap(), body);
        seen.headers = pairs(&case["transport"]["headers"]);
        (case, seen)
    })
    .collect()
}

/// The bytes of a citation.
pub(crate) fn cited<'b>(body: &'b [u8], citation: &Citation) -> &'b [u8] {
    &body[citation.start..citation.end]
}
