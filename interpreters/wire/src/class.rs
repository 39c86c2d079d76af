//! Classes of failures, and the words that name them.
//!
//! The order of evidence is: typed words, then a numeric code that is an HTTP
//! status, then the HTTP status; the documented form of a message only tells
//! apart what has one word. Prose never overrides a typed word: providers write
//! "quota" in messages about ordinary rate limits.

use crate::complaint::{Complaint, exception_name};
use crate::json::Cited;

/// A class of failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Too many requests for now.
    RateLimit,
    /// The credit or the quota is used up: asking again does not help.
    Quota,
    /// The provider has no capacity for now.
    Overloaded,
    /// The provider failed.
    ServerError,
    /// It took too long.
    Timeout,
    /// The credentials were not accepted.
    Auth,
    /// The credentials do not allow it.
    Permission,
    /// There is no such model or path.
    NotFound,
    /// The request is not what the provider accepts.
    InvalidRequest,
    /// The request has too many bytes.
    RequestTooLarge,
    /// The request has too many tokens.
    ContextLength,
    /// A policy stopped it.
    ContentFilter,
    /// The provider rejected what the model wrote.
    MalformedOutput,
    /// The bytes of a success are not of the dialect.
    MalformedBody,
    /// The bytes end too early, or none arrived.
    TransportCut,
    /// Somebody gave up waiting.
    Cancelled,
    /// The evidence names no class.
    Unknown,
}

impl Class {
    /// Returns the name used in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::RateLimit => "rate_limit",
            Self::Quota => "quota",
            Self::Overloaded => "overloaded",
            Self::ServerError => "server_error",
            Self::Timeout => "timeout",
            Self::Auth => "auth",
            Self::Permission => "permission",
            Self::NotFound => "not_found",
            Self::InvalidRequest => "invalid_request",
            Self::RequestTooLarge => "request_too_large",
            Self::ContextLength => "context_length",
            Self::ContentFilter => "content_filter",
            Self::MalformedOutput => "malformed_output",
            Self::MalformedBody => "malformed_body",
            Self::TransportCut => "transport_cut",
            Self::Cancelled => "cancelled",
            Self::Unknown => "unknown",
        }
    }
}

/// What a class was told from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Evidence {
    /// A typed word of the body.
    Word,
    /// A header that names the type.
    Header,
    /// A numeric code of the body.
    NumericCode,
    /// The HTTP status.
    Status,
    /// The documented form of a message.
    Message,
    /// There is none.
    None,
}

impl Evidence {
    /// Returns the name used in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Word => "error_word",
            Self::Header => "error_header",
            Self::NumericCode => "error_number",
            Self::Status => "http_status",
            Self::Message => "error_message_form",
            Self::None => "no_evidence",
        }
    }
}

/// A class and what tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classified<'c, 'a> {
    /// The class.
    pub class: Class,
    /// What it was told from.
    pub evidence: Evidence,
    /// The value in the body that tells it, if one does.
    pub place: Option<&'c Cited<'a>>,
}

/// Returns the class of a failure.
///
/// `header` is the value of `x-amzn-errortype`; `status` the HTTP status unless it
/// is one of success.
pub fn of_failure<'c, 'a>(
    complaint: &'c Complaint<'a>,
    header: Option<&str>,
    status: Option<u16>,
) -> Classified<'c, 'a> {
    let found = by_word(complaint)
        .or_else(|| {
            let class = of_word(exception_name(header?))?;
            Some((class, Evidence::Header, None))
        })
        .or_else(|| by_number(complaint))
        .or_else(|| Some((of_status(status?), Evidence::Status, None)));
    let (class, evidence, place) = found.unwrap_or((Class::Unknown, Evidence::None, None));
    let message = complaint.message.as_ref();
    if let Some((message, told)) =
        message.and_then(|message| Some((message, by_message(class, &message.text)?)))
    {
        return Classified {
            class: told,
            evidence: Evidence::Message,
            place: Some(message),
        };
    }
    Classified {
        class,
        evidence,
        place,
    }
}

type Found<'c, 'a> = (Class, Evidence, Option<&'c Cited<'a>>);

fn by_word<'c, 'a>(complaint: &'c Complaint<'a>) -> Option<Found<'c, 'a>> {
    let mut generic = None;
    for place in complaint.words() {
        let Some(class) = of_word(exception_name(&place.text)) else {
            continue;
        };
        // DashScope calls throttling by the type of a used-up quota, and says in
        // the code what it is.
        let is_type = complaint.kind.as_ref() == Some(place);
        if is_type && complaint.code.is_some() && place.text == "insufficient_quota" {
            continue;
        }
        let found = (class, Evidence::Word, Some(place));
        if !is_generic(class) {
            return Some(found);
        }
        generic = generic.or(Some(found));
    }
    generic
}

/// A word for whatever is wrong with a request says less than any other word.
const fn is_generic(class: Class) -> bool {
    matches!(class, Class::InvalidRequest)
}

fn by_number<'c, 'a>(complaint: &'c Complaint<'a>) -> Option<Found<'c, 'a>> {
    let code = complaint.code.as_ref()?;
    let status = code.text.parse().ok()?;
    let known = (400..600).contains(&status);
    known.then(|| (of_status(status), Evidence::NumericCode, Some(code)))
}

/// Returns the class of an HTTP status that is not one of success.
pub const fn of_status(status: u16) -> Class {
    match status {
        400 | 422 => Class::InvalidRequest,
        401 => Class::Auth,
        402 => Class::Quota,
        403 => Class::Permission,
        404 => Class::NotFound,
        408 | 504 => Class::Timeout,
        413 => Class::RequestTooLarge,
        429 => Class::RateLimit,
        499 => Class::Cancelled,
        503 | 529 => Class::Overloaded,
        500..600 => Class::ServerError,
        _ => Class::Unknown,
    }
}

/// The words of the providers' own types and pages, and, where no page lists them,
/// of public reports. No word means two things in two dialects except the one that
/// [`of_failure`] treats.
const WORDS: [(Class, &[&str]); 14] = [
    (
        Class::RateLimit,
        &[
            "rate_limit_exceeded",
            "rate_limit_error",
            "rate_limit",
            "RateLimitReached",
            "RESOURCE_EXHAUSTED",
            "RATE_LIMIT_EXCEEDED",
            "ThrottlingException",
            "throttlingException",
            "TooManyRequestsException",
            "too_many_requests",
            "rate_limited",
        ],
    ),
    (
        Class::Quota,
        &[
            "insufficient_quota",
            "billing_error",
            "payment_required",
            "billing_hard_limit_reached",
            "ServiceQuotaExceededException",
            "serviceQuotaExceededException",
            "insufficient_balance",
            "credit_balance_too_low",
        ],
    ),
    (
        Class::Overloaded,
        &[
            "overloaded_error",
            "overloaded",
            "provider_overloaded",
            "provider_unavailable",
            "UNAVAILABLE",
            "unavailable_error",
            "ServiceUnavailableException",
            "serviceUnavailableException",
            "ModelNotReadyException",
            "modelNotReadyException",
            "insufficient_system_resource",
            "service_unavailable",
            "engine_overloaded",
            "server_overloaded",
        ],
    ),
    (
        Class::ServerError,
        &[
            "server_error",
            "api_error",
            "INTERNAL",
            "internal_error",
            "internal_server_error",
            "server",
            "InternalServerException",
            "internalServerException",
            "ModelErrorException",
            "modelErrorException",
            "ModelStreamErrorException",
            "modelStreamErrorException",
            "network_error",
        ],
    ),
    (
        Class::Timeout,
        &[
            "timeout_error",
            "timeout",
            "DEADLINE_EXCEEDED",
            "ModelTimeoutException",
            "modelTimeoutException",
            "vector_store_timeout",
        ],
    ),
    (
        Class::Auth,
        &[
            "authentication_error",
            "authentication",
            "invalid_api_key",
            "UNAUTHENTICATED",
            "API_KEY_INVALID",
            "UnrecognizedClientException",
            "invalid_authentication",
            "ExpiredTokenException",
            "InvalidSignatureException",
        ],
    ),
    (
        Class::Permission,
        &[
            "permission_error",
            "permission_denied",
            "PERMISSION_DENIED",
            "AccessDeniedException",
            "accessDeniedException",
        ],
    ),
    (
        Class::NotFound,
        &[
            "not_found_error",
            "not_found",
            "NOT_FOUND",
            "model_not_found",
            "ResourceNotFoundException",
            "resourceNotFoundException",
            "DeploymentNotFound",
        ],
    ),
    (
        Class::RequestTooLarge,
        &["request_too_large", "payload_too_large"],
    ),
    (Class::Cancelled, &["cancelled", "CANCELLED", "abort"]),
    (
        Class::ContextLength,
        &[
            "context_length_exceeded",
            "max_tokens_exceeded",
            "token_limit_exceeded",
            "string_too_long",
            "exceed_context_size_error",
            "model_context_window_exceeded",
        ],
    ),
    (
        Class::ContentFilter,
        &[
            "content_filter",
            "content_policy_violation",
            "ResponsibleAIPolicyViolation",
            "content_policy",
            "bio_policy",
            "refusal",
            "moderation",
            "cyber_policy",
            "image_content_policy_violation",
        ],
    ),
    (
        Class::MalformedOutput,
        &[
            "tool_use_failed",
            "json_validate_failed",
            "malformed_model_output",
            "malformed_tool_use",
        ],
    ),
    (
        Class::InvalidRequest,
        &[
            "invalid_request_error",
            "invalid_request",
            "INVALID_ARGUMENT",
            "invalid_prompt",
            "FAILED_PRECONDITION",
            "precondition_failed",
            "unprocessable",
            "OUT_OF_RANGE",
            "ValidationException",
            "validationException",
            "unprocessable_entity",
            "data_residency_mismatch",
            "invalid_request_message",
            "BadRequest",
            "unsupported_parameter",
            "unsupported_value",
            "missing_required_parameter",
            "invalid_value",
            "invalid_type",
            "unknown_parameter",
        ],
    ),
];

/// How the words for what is wrong with an image begin.
const IMAGE_PREFIXES: [&str; 5] = [
    "invalid_image",
    "image_",
    "unsupported_image",
    "empty_image",
    "failed_to_download_image",
];

/// Returns the class that a provider's word names.
pub fn of_word(word: &str) -> Option<Class> {
    let row = WORDS.iter().find(|(_, words)| words.contains(&word));
    row.map(|(class, _)| *class).or_else(|| {
        IMAGE_PREFIXES
            .iter()
            .any(|prefix| word.starts_with(prefix))
            .then_some(Class::InvalidRequest)
    })
}

/// Tells apart what one word stands for, by forms that the providers document or
/// their servers print from one constant.
fn by_message(class: Class, message: &str) -> Option<Class> {
    const TOO_LONG: [&str; 4] = [
        // Anthropic: "prompt is too long: N tokens > M maximum".
        "prompt is too long:",
        // Gemini: "The input token count (N) exceeds the maximum number of tokens".
        "exceeds the maximum number of tokens",
        // OpenAI and servers after it: "This model's maximum context length is N".
        "maximum context length is",
        // Converse: "Input is too long for requested model."
        "Input is too long for requested model",
    ];
    match class {
        Class::InvalidRequest if TOO_LONG.iter().any(|form| message.contains(form)) => {
            Some(Class::ContextLength)
        }
        // Anthropic has no other sign of it.
        Class::InvalidRequest if message.starts_with("Your credit balance is too low") => {
            Some(Class::Quota)
        }
        // Gemini, beside INVALID_ARGUMENT.
        Class::InvalidRequest if message.starts_with("API key not valid") => Some(Class::Auth),
        // llama.cpp's server.
        Class::ServerError if message == "Context size has been exceeded." => {
            Some(Class::ContextLength)
        }
        Class::RateLimit
        | Class::Quota
        | Class::Overloaded
        | Class::ServerError
        | Class::Timeout
        | Class::Auth
        | Class::Permission
        | Class::NotFound
        | Class::InvalidRequest
        | Class::RequestTooLarge
        | Class::ContextLength
        | Class::ContentFilter
        | Class::MalformedOutput
        | Class::MalformedBody
        | Class::TransportCut
        | Class::Cancelled
        | Class::Unknown => None,
    }
}
