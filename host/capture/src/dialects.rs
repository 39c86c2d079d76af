//! Which dialect a request speaks, as far as its method, host and path tell.
//!
//! A table, and no look at a body: what a body looks like is for interpreters to
//! say. Invariant: only a `POST` has a dialect, since a preflight or a listing of
//! the same path is no call to a model.

use crate::endpoint;

/// The ends of paths, in the order in which they are tried.
const PATH_ENDS: [(&str, &str); 7] = [
    ("/chat/completions", "openai.chat"),
    ("/v1/responses", "openai.responses"),
    ("/openai/responses", "openai.responses"),
    ("/v1/completions", "openai.completions"),
    ("/v1/messages", "anthropic.messages"),
    ("/v1/complete", "anthropic.complete"),
    ("/v2/chat", "cohere.v2.chat"),
];

/// Whole paths: their ends are too common to mean anything below another path.
const PATHS: [(&str, &str); 2] = [
    ("/api/chat", "ollama.chat"),
    ("/api/generate", "ollama.generate"),
];

/// Hosts on which the end of a path means something else, or something at all.
const HOST_PATH_ENDS: [(&str, &str, &str); 3] = [
    ("api.mistral.ai", "/v1/chat/completions", "mistral.chat"),
    ("api.cohere.com", "/v1/chat", "cohere.v1.chat"),
    ("api.cohere.ai", "/v1/chat", "cohere.v1.chat"),
];

/// Gemini names the operation behind the last colon.
const GEMINI_ENDS: [&str; 2] = [":generateContent", ":streamGenerateContent"];

/// The last segments below Bedrock's `/model/{id}`.
const BEDROCK_SEGMENTS: [(&str, &str); 4] = [
    ("converse", "bedrock.converse"),
    ("converse-stream", "bedrock.converse"),
    ("invoke", "bedrock.invoke"),
    ("invoke-with-response-stream", "bedrock.invoke"),
];

/// Returns the dialect of a request, none when its method, host and path name none.
/// `url` is a URL, or a path where no host is known.
pub fn of_request(method: &str, url: &str) -> Option<&'static str> {
    if !method.eq_ignore_ascii_case("POST") {
        return None;
    }
    let path = endpoint::redacted(url).ok()?;
    let path = path.trim_end_matches('/');
    let host = host(url);
    let on_host = HOST_PATH_ENDS
        .into_iter()
        .find(|(known, end, _)| host.eq_ignore_ascii_case(known) && path.ends_with(end))
        .map(|(_, _, dialect)| dialect);
    on_host
        .or_else(|| of_bedrock(path))
        .or_else(|| {
            let gemini = GEMINI_ENDS.into_iter().any(|end| path.ends_with(end));
            gemini.then_some("gemini.generate_content")
        })
        .or_else(|| named(&PATHS, |known| path == known))
        .or_else(|| named(&PATH_ENDS, |end| path.ends_with(end)))
}

/// Returns the path that calls of a dialect go to, where there is one.
pub fn usual_path(dialect: &str) -> Option<&'static str> {
    match dialect {
        "openai.chat" => Some("/v1/chat/completions"),
        "openai.responses" => Some("/v1/responses"),
        "openai.completions" => Some("/v1/completions"),
        _ => None,
    }
}

fn of_bedrock(path: &str) -> Option<&'static str> {
    let (model, segment) = path.strip_prefix("/model/")?.rsplit_once('/')?;
    if model.is_empty() {
        return None;
    }
    named(&BEDROCK_SEGMENTS, |known| segment == known)
}

fn named(table: &[(&str, &'static str)], fits: impl Fn(&str) -> bool) -> Option<&'static str> {
    let row = table.iter().find(|(known, _)| fits(known));
    row.map(|(_, dialect)| *dialect)
}

/// Returns the host of a URL without userinfo and port; empty where there is none.
fn host(url: &str) -> &str {
    let Some((_, rest)) = url.split_once("://") else {
        return "";
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    host.split(':').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use model::exchange::DIALECTS;

    use super::*;

    fn check(url: &str, dialect: Option<&str>) {
        assert_eq!(of_request("POST", url), dialect, "{url}");
    }

    #[test]
    fn paths_name_dialects() {
        check(
            "https://api.openai.com/v1/chat/completions",
            Some("openai.chat"),
        );
        check(
            "https://h/openai/deployments/d/chat/completions?api-version=1",
            Some("openai.chat"),
        );
        check(
            "https://api.openai.com/v1/responses/",
            Some("openai.responses"),
        );
        check("https://h/openai/responses", Some("openai.responses"));
        check("/v1/completions", Some("openai.completions"));
        check(
            "https://api.anthropic.com/v1/messages?beta=true",
            Some("anthropic.messages"),
        );
        check(
            "https://api.anthropic.com/v1/complete",
            Some("anthropic.complete"),
        );
        check("https://api.cohere.com/v2/chat", Some("cohere.v2.chat"));
        check("http://localhost:11434/api/chat", Some("ollama.chat"));
        check(
            "http://localhost:11434/api/generate",
            Some("ollama.generate"),
        );
        let gemini = "https://g/v1beta/models/gemini-x";
        check(
            &format!("{gemini}:generateContent?key=k"),
            Some("gemini.generate_content"),
        );
        check(
            &format!("{gemini}:streamGenerateContent"),
            Some("gemini.generate_content"),
        );
        for (segment, dialect) in BEDROCK_SEGMENTS {
            check(
                &format!("https://b/model/us.x-v1%3A0/{segment}"),
                Some(dialect),
            );
        }
    }

    #[test]
    fn a_host_decides_where_a_path_is_shared() {
        check(
            "https://API.mistral.ai/v1/chat/completions",
            Some("mistral.chat"),
        );
        check(
            "https://u:p@api.mistral.ai:443/v1/chat/completions",
            Some("mistral.chat"),
        );
        check(
            "https://h/api.mistral.ai/v1/chat/completions",
            Some("openai.chat"),
        );
        check("https://api.cohere.ai/v1/chat", Some("cohere.v1.chat"));
        check("https://h/v1/chat", None);
    }

    #[test]
    fn another_path_or_method_names_none() {
        for url in [
            "https://h/v1/models",
            "https://h/v1/threads/t/messages",
            "https://h/app/api/chat",
            "https://h/model//converse",
            "https://h/other/m/converse",
            "https://h/?to=/v1/messages",
            "data:text/plain,/v1/messages",
            "",
        ] {
            check(url, None);
        }
        for method in ["GET", "OPTIONS", ""] {
            assert_eq!(of_request(method, "/v1/messages"), None, "{method}");
        }
        assert_eq!(
            of_request("post", "/v1/messages"),
            Some("anthropic.messages")
        );
    }

    #[test]
    fn every_dialect_of_the_table_is_one_of_the_format() {
        let rows = PATH_ENDS.iter().chain(&PATHS).chain(&BEDROCK_SEGMENTS);
        let named = rows.map(|(_, dialect)| *dialect);
        for dialect in named.chain(HOST_PATH_ENDS.map(|(_, _, dialect)| dialect)) {
            assert!(DIALECTS.contains(&dialect), "{dialect}");
        }
        for dialect in DIALECTS {
            if let Some(path) = usual_path(dialect) {
                check(path, Some(dialect));
            }
        }
    }
}
