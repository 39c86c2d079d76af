//! Tests of the target: what is accepted, sent and shown, and what is refused.

use proptest::prelude::*;

use super::*;

fn target(url: &str) -> Target {
    Target::parse(url).unwrap_or_else(|error| panic!("{url}: {error}"))
}

#[test]
fn a_url_is_split_into_what_is_connected_to_and_what_is_sent() {
    let parsed = target("HTTPS://API.Example.com:8443/v1/a%20b?x=1&y");
    assert!(parsed.is_https());
    assert_eq!(parsed.host(), "api.example.com");
    assert_eq!(parsed.port(), 8443);
    assert_eq!(parsed.authority(), "api.example.com:8443");
    assert_eq!(parsed.path_and_query(), "/v1/a%20b?x=1&y");
    assert_eq!(parsed.endpoint(), "/v1/a%20b");
}

#[test]
fn the_port_of_the_scheme_is_taken_and_not_named() {
    for (url, port) in [
        ("http://h/", 80),
        ("https://h/", 443),
        ("https://h:443/", 443),
    ] {
        assert_eq!(target(url).port(), port, "{url}");
        assert_eq!(target(url).authority(), "h", "{url}");
    }
    assert_eq!(target("http://h:443/").authority(), "h:443");
}

#[test]
fn an_empty_path_is_sent_as_a_slash() {
    assert_eq!(target("http://h").path_and_query(), "/");
    assert_eq!(target("http://h?a=b").path_and_query(), "/?a=b");
    assert_eq!(target("http://h//a//?").path_and_query(), "//a//?");
}

#[test]
fn an_ipv6_address_has_brackets_only_in_the_authority() {
    let parsed = target("http://[::1]:8080/v1");
    assert_eq!(parsed.host(), "::1");
    assert_eq!(parsed.authority(), "[::1]:8080");
    assert_eq!(target("http://[0:0::1]/").redacted(), "http://[::1]/");
}

#[test]
fn every_parameter_value_is_redacted() {
    for (url, shown) in [
        (
            "https://h/v1?api-version=1&key=se=cret",
            "https://h/v1?api-version=REDACTED&key=REDACTED",
        ),
        ("https://h:81/v1?secret", "https://h:81/v1?REDACTED"),
        ("https://h?a=&&=secret", "https://h/?a=REDACTED&&=REDACTED"),
        ("https://h/v1?a=b?secret", "https://h/v1?a=REDACTED"),
        ("https://h/v1%3Fkey=secret", "https://h/v1"),
        (
            "https://h/p/https://u:secret@i/v",
            "https://h/p/https://i/v",
        ),
        ("https://h/v1?", "https://h/v1?"),
        ("https://h/v1", "https://h/v1"),
    ] {
        assert_eq!(target(url).redacted(), shown, "{url}");
        assert_eq!(format!("{:?}", target(url)), format!("Target({shown:?})"));
    }
}

#[test]
fn what_cannot_be_a_target_is_refused_without_its_text() {
    use TargetError::{Character, Fragment, Host, PathAndQuery, Port, Scheme, Userinfo};
    for (url, expected) in [
        ("", Scheme),
        ("/secret", Scheme),
        ("ftp://secret/", Scheme),
        ("secret.example.com/v1", Scheme),
        ("https:/secret", Scheme),
        ("https://u:secret@h/", Userinfo),
        ("https://secret@h/", Userinfo),
        ("https://@h/", Userinfo),
        ("https://h/#secret", Fragment),
        ("https://h#secret", Fragment),
        ("https://h/sec\nret", Character),
        ("https://h/sec ret", Character),
        ("https://h/secr\u{e9}t", Character),
        ("https://h/\0secret", Character),
        ("https:///secret", Host),
        ("https://", Host),
        ("https://:80/secret", Host),
        ("https://[::1/secret", Host),
        ("https://[secret]/", Host),
        ("https://sec%20ret/", Host),
        ("https://sec\\ret/", Host),
        ("https://.secret/", Host),
        ("https://h:/secret", Port),
        ("https://h:0/secret", Port),
        ("https://h:+80/secret", Port),
        ("https://h:65536/secret", Port),
        ("https://h:secret/", Port),
        ("https://[::1]secret/", Port),
        ("https://h/<secret>", PathAndQuery),
    ] {
        let error = Target::parse(url).expect_err(url);
        assert_eq!(error, expected, "{url}");
        assert!(!format!("{error} {error:?}").contains("secret"), "{url}");
    }
}

#[test]
fn a_url_over_its_bound_is_refused() {
    let longest = format!("http://h/?{}", "a".repeat(TARGET_BYTES_MAX - 10));
    assert_eq!(target(&longest).path_and_query().len(), longest.len() - 8);
    assert_eq!(
        Target::parse(&format!("{longest}a")),
        Err(TargetError::TooLong)
    );
    let path = "a".repeat(endpoint::ENDPOINT_BYTES_MAX);
    assert_eq!(
        Target::parse(&format!("http://h/{path}")),
        Err(TargetError::Endpoint(EndpointError::TooLong))
    );
}

proptest! {
    #[test]
    fn no_value_of_a_parameter_is_ever_shown(
        names in prop::collection::vec("[a-z]{0,4}", 1..5),
        path in "[a-z/@:.%]{0,12}",
    ) {
        let query: Vec<String> = names.iter().map(|name| format!("{name}=SECRET")).collect();
        if let Ok(parsed) = Target::parse(&format!("https://h/{path}?{}", query.join("&"))) {
            prop_assert!(!parsed.redacted().contains("SECRET"));
            prop_assert!(parsed.path_and_query().ends_with(&query.join("&")));
        }
    }

    #[test]
    fn any_text_is_answered(text in any::<String>()) {
        if let Ok(parsed) = Target::parse(&text) {
            prop_assert!(Target::parse(&parsed.redacted()).is_ok());
        }
    }
}
