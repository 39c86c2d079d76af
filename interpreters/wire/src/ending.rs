//! What the reasons of each dialect mean for the end of generation.

use crate::Dialect;
use crate::class::Class;

/// What a reason says about how generation ended. The order is the order of
/// precedence where several are given: the first one counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The provider reports a failure of this class.
    Failed(Class),
    /// Nothing final yet.
    Pending,
    /// A length cut it.
    Length,
    /// A policy filter stopped it.
    Filter,
    /// The model or its safety classifier declined.
    Refusal,
    /// The same turn is to be continued.
    Pause,
    /// It ended with a call to be run.
    Tool,
    /// It ended by itself, or at a stop sequence.
    Normal,
    /// Nothing was generated.
    Nothing,
    /// The word is not known, or says nothing.
    Unknown,
}

impl Ending {
    /// Returns the place in the order of precedence, from 0.
    pub const fn precedence(self) -> u8 {
        match self {
            Self::Failed(_) => 0,
            Self::Pending => 1,
            Self::Length => 2,
            Self::Filter => 3,
            Self::Refusal => 4,
            Self::Pause => 5,
            // A word that is not known outweighs a normal end beside it.
            Self::Unknown => 6,
            Self::Tool => 7,
            Self::Normal => 8,
            Self::Nothing => 9,
        }
    }

    /// Returns the name used in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Failed(_) => "failed",
            Self::Pending => "pending",
            Self::Length => "length",
            Self::Filter => "filter",
            Self::Refusal => "refusal",
            Self::Pause => "pause",
            Self::Tool => "tool",
            Self::Normal => "normal",
            Self::Nothing => "nothing",
            Self::Unknown => "unknown",
        }
    }
}

/// Returns what a reason of a dialect means.
pub fn of(dialect: Dialect, word: &str) -> Ending {
    match dialect {
        Dialect::OpenaiChat | Dialect::OpenaiCompletions => chat(word),
        Dialect::MistralChat => mistral(word),
        Dialect::OpenaiResponses => responses(word),
        Dialect::AnthropicMessages => messages(word),
        Dialect::AnthropicComplete => match word {
            "stop_sequence" | "end_turn" => Ending::Normal,
            "max_tokens" => Ending::Length,
            other => common(other),
        },
        Dialect::GeminiGenerateContent => gemini(word),
        Dialect::BedrockConverse => converse(word),
        Dialect::BedrockInvoke => invoke(word),
        Dialect::CohereV1Chat | Dialect::CohereV2Chat => cohere(word),
        Dialect::OllamaChat | Dialect::OllamaGenerate => match word {
            "stop" => Ending::Normal,
            "length" => Ending::Length,
            "load" | "unload" => Ending::Nothing,
            other => common(other),
        },
    }
}

/// Words that gateways pass on from other dialects and that mean one thing in all
/// of them. None of them is a normal end: that is never taken from another
/// dialect's table.
fn common(word: &str) -> Ending {
    match word {
        "length"
        | "max_tokens"
        | "MAX_TOKENS"
        | "max_output_tokens"
        | "LENGTH"
        | "model_length"
        | "model_context_window_exceeded" => Ending::Length,
        "content_filter"
        | "content_filtered"
        | "SAFETY"
        | "guardrail_intervened"
        | "RECITATION"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT" => Ending::Filter,
        "refusal" => Ending::Refusal,
        _ => Ending::Unknown,
    }
}

/// The words of `OpenAI`, then those of servers that took the wire over.
fn chat(word: &str) -> Ending {
    match word {
        // The second is Together's, the others are of text-generation-inference.
        "stop" | "eos" | "eos_token" | "stop_sequence" => Ending::Normal,
        "tool_calls" | "function_call" => Ending::Tool,
        // DeepSeek.
        "insufficient_system_resource" => Ending::Failed(Class::Overloaded),
        // vLLM: the server broke off a loop.
        "repetition" => Ending::Length,
        "abort" => Ending::Failed(Class::Cancelled),
        // OpenRouter, Mistral, vLLM.
        "error" => Ending::Failed(Class::Unknown),
        // Zhipu.
        "sensitive" => Ending::Filter,
        "network_error" => Ending::Failed(Class::ServerError),
        // Gemini behind this wire: "function_call_filter: MALFORMED_FUNCTION_CALL".
        other if other.starts_with("function_call_filter") => {
            Ending::Failed(Class::MalformedOutput)
        }
        other => common(other),
    }
}

fn mistral(word: &str) -> Ending {
    match word {
        "stop" => Ending::Normal,
        "tool_calls" => Ending::Tool,
        "error" => Ending::Failed(Class::Unknown),
        other => common(other),
    }
}

/// `incomplete_details.reason` and `status` alike.
fn responses(word: &str) -> Ending {
    match word {
        "completed" => Ending::Normal,
        "failed" => Ending::Failed(Class::Unknown),
        "cancelled" => Ending::Failed(Class::Cancelled),
        "queued" | "in_progress" => Ending::Pending,
        other => common(other),
    }
}

fn messages(word: &str) -> Ending {
    match word {
        "end_turn" | "stop_sequence" => Ending::Normal,
        "tool_use" => Ending::Tool,
        "pause_turn" | "compaction" => Ending::Pause,
        other => common(other),
    }
}

fn gemini(word: &str) -> Ending {
    match word {
        "STOP" => Ending::Normal,
        "MAX_TOKENS" => Ending::Length,
        "SAFETY"
        | "RECITATION"
        | "LANGUAGE"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION"
        | "MODEL_ARMOR"
        | "ESCALATION" => Ending::Filter,
        "MALFORMED_FUNCTION_CALL"
        | "UNEXPECTED_TOOL_CALL"
        | "MALFORMED_RESPONSE"
        | "TOO_MANY_TOOL_CALLS" => Ending::Failed(Class::MalformedOutput),
        "MISSING_THOUGHT_SIGNATURE" => Ending::Failed(Class::InvalidRequest),
        "NO_IMAGE" => Ending::Nothing,
        _ => Ending::Unknown,
    }
}

fn converse(word: &str) -> Ending {
    match word {
        "end_turn" | "stop_sequence" => Ending::Normal,
        "tool_use" => Ending::Tool,
        "malformed_model_output" | "malformed_tool_use" => Ending::Failed(Class::MalformedOutput),
        other => common(other),
    }
}

/// The words of every maker whose models are invoked by their own shapes.
fn invoke(word: &str) -> Ending {
    match word {
        // Titan; AI21's older models; Cohere's command; OpenAI's and Mistral's.
        "FINISH" | "FINISHED" | "STOP_CRITERIA_MET" | "endoftext" | "COMPLETE" | "stop"
        | "STOP_SEQUENCE" => Ending::Normal,
        "TOOL_CALL" | "tool_calls" => Ending::Tool,
        "ERROR" => Ending::Failed(Class::ServerError),
        "ERROR_TOXIC" | "CONTENT_FILTERED" => Ending::Filter,
        other => {
            let ending = messages(other);
            if ending == Ending::Unknown {
                return converse(other);
            }
            ending
        }
    }
}

fn cohere(word: &str) -> Ending {
    match word {
        "COMPLETE" | "STOP_SEQUENCE" => Ending::Normal,
        "MAX_TOKENS" | "ERROR_LIMIT" => Ending::Length,
        "TOOL_CALL" => Ending::Tool,
        "ERROR" => Ending::Failed(Class::ServerError),
        "TIMEOUT" => Ending::Failed(Class::Timeout),
        "ERROR_TOXIC" => Ending::Filter,
        "USER_CANCEL" => Ending::Failed(Class::Cancelled),
        _ => Ending::Unknown,
    }
}
