//! From an observation to a reading.

use alloc::borrow::Cow;
use alloc::format;
use alloc::vec::Vec;

use wire::Dialect;
use wire::class::Class;
use wire::coding::{self, Declared, Decoded, Refused};
use wire::complaint::Complaint;
use wire::framing::{self, Form, Framed};
use wire::json::Reader;
use wire::transcript::{self, Choice as Said, Last, Transcript};
use wire::usage::{self, Relations, Usage};

use crate::cited::Citations;
use crate::conclusion::{self, Conclusion};
use crate::failure::{self, Failed};
use crate::observation::{Observation, Outcome};
use crate::reading::{
    Basis, Choice, Fact, Failure, Reading, Refusal, State, StructuredOutput, ToolCall,
};
use crate::structured;

/// A response body without its content-codings, in frames.
#[derive(Debug)]
pub struct Opened<'a> {
    dialect: Option<Dialect>,
    decoded: Decoded<'a>,
    framed: Option<Framed>,
}

impl Opened<'_> {
    /// Returns the decoded body. Citations count in these bytes.
    pub fn body(&self) -> &[u8] {
        &self.decoded.bytes
    }
}

/// Removes the content-codings of the response.
pub fn decode<'a>(observation: &Observation<'a>) -> Result<Decoded<'a>, Refusal> {
    let body = observation.response_body.unwrap_or_default();
    let declared: Vec<&str> = observation.header("content-encoding").collect();
    coding::decode(body, &declared).map_err(|refused| match refused {
        Refused::UnknownCoding(token) => Refusal {
            code: "unsupported_content_coding",
            detail: format!(
                "the header content-encoding names {:?}; known are gzip, deflate, br and zstd",
                token.chars().take(64).collect::<alloc::string::String>()
            ),
        },
        Refused::TooLarge => Refusal {
            code: "decoded_too_large",
            detail: format!(
                "the decoded body passes {} bytes",
                coding::DECODED_BYTES_MAX
            ),
        },
    })
}

/// Prepares an observation for [`interpret`].
pub fn open<'a>(observation: &Observation<'a>) -> Result<Opened<'a>, Refusal> {
    let dialect = Dialect::of(observation.dialect);
    let decoded = decode(observation)?;
    let split = dialect.map(|dialect| framing::split(dialect, &decoded.bytes));
    let framed = split.transpose().map_err(|_full| Refusal {
        code: "too_many_events",
        detail: format!("the body has more than {} events", framing::FRAMES_MAX),
    })?;
    Ok(Opened {
        dialect,
        decoded,
        framed,
    })
}

/// Reads one observation.
pub fn interpret<'a>(observation: &Observation<'_>, opened: &'a Opened<'_>) -> Reading<'a> {
    let status = match observation.outcome {
        Outcome::ResponseReceived | Outcome::HttpError | Outcome::Interrupted => observation.status,
        Outcome::NoResponse => None,
    };
    let body = opened.body();
    let transcript = opened
        .dialect
        .zip(opened.framed.as_ref())
        .map(|(dialect, framed)| transcript::read(dialect, body, framed));
    let mut reading = match (status, opened.dialect, transcript) {
        (None, _, _) => of_failed(&failure::of_transport(observation), None),
        (Some(200..300), Some(dialect), Some(transcript)) => {
            success(observation, opened, dialect, transcript)
        }
        (Some(200..300), _, _) => blank(
            State::Unknown,
            Basis {
                kind: "dialect",
                detail: "dialect_not_read",
            },
        ),
        (Some(status), dialect, transcript) => http_failure(
            observation,
            opened,
            status,
            dialect.zip(transcript).as_ref(),
        ),
    };
    coding_facts(&mut reading, &opened.decoded);
    reading
}

fn success<'a>(
    observation: &Observation<'_>,
    opened: &'a Opened<'_>,
    dialect: Dialect,
    mut transcript: Transcript<'a>,
) -> Reading<'a> {
    if !opened.decoded.whole {
        // What the coded bytes end before is missing at the end of the body.
        transcript.damage = transcript.damage.or(Some(framing::Damage::Cut));
    }
    let interrupted = observation.outcome == Outcome::Interrupted;
    let (mut reading, mut citations) = if let Some(complaint) = transcript.complaint.clone() {
        let failed = failure::of_complaint(observation, &complaint, None);
        reported(&failed, &complaint)
    } else {
        let nothing = Said::default();
        let first = transcript.choices.first().unwrap_or(&nothing);
        let mut concluded = conclusion::of_choice(dialect, &transcript, first);
        let nothing_came = transcript.form == Form::Empty;
        if interrupted && (nothing_came || concluded.class == Some(Class::TransportCut)) {
            let failed = failure::of_transport(observation);
            concluded.class = Some(failed.class);
            concluded.basis = failed.basis;
        }
        of_conclusion(&concluded)
    };
    reading.choices = several(dialect, &transcript, &reading);
    say(dialect, &mut reading, &mut citations, transcript);
    structured::judge(observation.request_body, dialect, &mut reading);
    finish(reading, citations)
}

/// The reading of an error that the body of a success reports.
fn reported<'a>(failed: &Failed<'_>, complaint: &Complaint<'a>) -> (Reading<'a>, Citations) {
    let mut citations = Citations::default();
    if let Some(place) = failed.place {
        citations.add("generation_state", place);
    }
    let reading = of_failed(failed, Some((complaint, &mut citations)));
    (reading, citations)
}

fn of_conclusion<'a>(concluded: &Conclusion<'_>) -> (Reading<'a>, Citations) {
    let mut citations = Citations::default();
    if let Some(place) = concluded.place {
        citations.add("generation_state", place);
    }
    let mut reading = blank(concluded.state, concluded.basis);
    reading.error = concluded.class.map(|class| Failure {
        class,
        code: None,
        message: None,
    });
    (reading, citations)
}

/// Takes over what the first answer says, and what the response says of itself.
fn say<'a>(
    dialect: Dialect,
    reading: &mut Reading<'a>,
    citations: &mut Citations,
    transcript: Transcript<'a>,
) {
    let reasoned = transcript.choices.iter().any(|choice| choice.reasoning);
    reading.usage = usage::normal(Relations::of(dialect), &transcript.counts, reasoned);
    citations.usage(&reading.usage);
    citations.value("model", transcript.model.as_ref());
    citations.value("response_id", transcript.response_id.as_ref());
    facts(reading, &transcript);
    reading.model = transcript.model.map(|model| model.text);
    reading.response_id = transcript.response_id.map(|id| id.text);
    let mut choices = transcript.choices.into_iter();
    let Some(choice) = choices.next() else {
        return;
    };
    if let Some((reason, _)) = conclusion::deciding(dialect, &choice) {
        citations.add("provider_reason", &reason.word.cite);
        reading.provider_reason_source = Some(reason.word.cite.pointer.clone());
        reading.provider_reason = Some(reason.word.text.clone());
    }
    citations.text("output_text", &choice.text);
    citations.text("refusal", &choice.refusal);
    for (index, call) in choice.calls.iter().enumerate() {
        citations.call(index, call);
    }
    for other in choices {
        let field = format!("choices.{}.output_text", other.index);
        citations.text(&field, &other.text);
    }
    speak(reading, choice);
}

fn speak<'a>(reading: &mut Reading<'a>, choice: Said<'a>) {
    if !choice.calls.is_empty() {
        let valid = choice
            .calls
            .iter()
            .all(|call| is_json(&call.arguments.text));
        reading
            .facts
            .push(("tool_arguments_valid", Fact::Flag(valid)));
    }
    if choice.hosted > 0 {
        let hosted = u64::from(choice.hosted);
        reading.facts.push(("hosted_items", Fact::Count(hosted)));
    }
    if choice.reasoning {
        reading.facts.push(("reasoning", Fact::Flag(true)));
    }
    if choice.media.is_some() {
        reading.facts.push(("media", Fact::Flag(true)));
    }
    reading.output_text = filled(choice.text.text);
    reading.refusal = filled(choice.refusal.text);
    reading.tool_calls = choice
        .calls
        .into_iter()
        .map(|call| ToolCall {
            id: call.id.map(|id| id.text),
            name: call.name.map(|name| name.text).unwrap_or_default(),
            arguments: call.arguments.text,
        })
        .collect();
}

fn filled(text: Cow<'_, str>) -> Option<Cow<'_, str>> {
    (!text.is_empty()).then_some(text)
}

fn is_json(text: &str) -> bool {
    let mut reader = Reader::of_body(text.as_bytes());
    reader.skip().is_ok() && reader.at_end() && reader.notes.non_finite == 0
}

/// Returns every answer when there are several.
fn several<'a>(
    dialect: Dialect,
    transcript: &Transcript<'a>,
    reading: &Reading<'_>,
) -> Vec<Choice<'a>> {
    if transcript.choices.len() < 2 {
        return Vec::new();
    }
    let of = |choice: &Said<'a>| {
        // An error that the response reports is every answer's.
        let state = if transcript.complaint.is_some() {
            reading.state
        } else {
            conclusion::of_choice(dialect, transcript, choice).state
        };
        let reason = conclusion::deciding(dialect, choice);
        Choice {
            index: choice.index,
            state,
            provider_reason: reason.map(|(reason, _)| reason.word.text.clone()),
            output_text: filled(choice.text.text.clone()),
        }
    };
    transcript.choices.iter().map(of).collect()
}

fn http_failure<'a>(
    observation: &Observation<'_>,
    opened: &'a Opened<'_>,
    status: u16,
    read: Option<&(Dialect, Transcript<'a>)>,
) -> Reading<'a> {
    let transcript = read.map(|(_, transcript)| transcript);
    let said = failure::said(opened.body(), transcript);
    // Some servers answer a filtered output with a failure whose body is an
    // ordinary answer.
    if let (None, Some((dialect, transcript))) = (&said, read) {
        let nothing = Said::default();
        let first = transcript.choices.first().unwrap_or(&nothing);
        let concluded = conclusion::of_choice(*dialect, transcript, first);
        if concluded.state == State::Filtered {
            let (mut reading, mut citations) = of_conclusion(&concluded);
            reading.error = Some(Failure {
                class: Class::ContentFilter,
                code: None,
                message: None,
            });
            say(*dialect, &mut reading, &mut citations, transcript.clone());
            return finish(reading, citations);
        }
    }
    let complaint = said.unwrap_or_default();
    let failed = failure::of_complaint(observation, &complaint, Some(status));
    let (mut reading, citations) = reported(&failed, &complaint);
    reading.usage.diagnostics.push(("usage", "not_reported"));
    if transcript.is_some_and(|transcript| transcript.notes.lossy > 0) {
        reading.facts.push(("lossy_text", Fact::Flag(true)));
    }
    finish(reading, citations)
}

fn of_failed<'a>(
    failed: &Failed<'_>,
    said: Option<(&Complaint<'a>, &mut Citations)>,
) -> Reading<'a> {
    let mut reading = blank(failed.state, failed.basis);
    let mut error = Failure {
        class: failed.class,
        code: None,
        message: None,
    };
    if let Some((complaint, citations)) = said {
        if let Some((word, cite)) = failure::word(complaint) {
            citations.add("error.code", cite);
            error.code = Some(word.clone());
        }
        citations.value("error.message", complaint.message.as_ref());
        error.message = complaint.message.as_ref().map(|said| said.text.clone());
    }
    reading.error = Some(error);
    reading
}

fn facts(reading: &mut Reading<'_>, transcript: &Transcript<'_>) {
    let facts = &mut reading.facts;
    facts.push(("form", Fact::Word(transcript.form.as_str().into())));
    if transcript.form.is_stream() {
        facts.push(("terminator_seen", Fact::Flag(transcript.terminated)));
        let documents = u64::from(transcript.documents);
        facts.push(("documents", Fact::Count(documents)));
    }
    let left_out = transcript
        .choices
        .first()
        .map_or(0, |one| one.calls_left_out);
    let counts = [
        ("malformed_frames", transcript.malformed),
        ("calls_left_out", left_out),
        ("checksum_errors", transcript.checksum_errors),
    ];
    for (name, count) in counts {
        if count > 0 {
            facts.push((name, Fact::Count(u64::from(count))));
        }
    }
    let flags = [
        ("choices_left_out", transcript.has_surplus()),
        (
            "unterminated_last_event",
            transcript.last == Last::Unterminated,
        ),
        ("lossy_text", transcript.notes.lossy > 0),
        ("non_finite_numbers", transcript.notes.non_finite > 0),
    ];
    for (name, flag) in flags {
        if flag {
            facts.push((name, Fact::Flag(true)));
        }
    }
    if let Some(block) = transcript
        .block
        .as_ref()
        .filter(|block| block.text.len() <= 128)
    {
        let word = if block.text.is_empty() {
            "unspecified"
        } else {
            &block.text
        };
        facts.push(("block_reason", Fact::Word(word.into())));
    }
}

fn coding_facts(reading: &mut Reading<'_>, decoded: &Decoded<'_>) {
    if let Some(outermost) = decoded.removed.first() {
        let word = Fact::Word(outermost.as_str().into());
        reading.facts.push(("content_coding", word));
    }
    let flags = [
        (
            "content_coding_misdeclared",
            decoded.declared == Declared::Wrongly,
        ),
        ("content_coding_damaged", !decoded.whole),
    ];
    for (name, flag) in flags {
        if flag {
            reading.facts.push((name, Fact::Flag(true)));
        }
    }
}

fn finish(mut reading: Reading<'_>, citations: Citations) -> Reading<'_> {
    if citations.cut {
        reading.facts.push(("citations_cut", Fact::Flag(true)));
    }
    reading.citations = citations.made;
    reading
}

fn blank<'a>(state: State, basis: Basis) -> Reading<'a> {
    Reading {
        state,
        provider_reason: None,
        provider_reason_source: None,
        basis,
        output_text: None,
        tool_calls: Vec::new(),
        refusal: None,
        structured_output: StructuredOutput::NotRequested,
        usage: Usage::default(),
        model: None,
        response_id: None,
        error: None,
        choices: Vec::new(),
        facts: Vec::new(),
        citations: Vec::new(),
    }
}
