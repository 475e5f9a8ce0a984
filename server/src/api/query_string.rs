//! Query strings. A rejection names every invalid parameter.

use crate::api::problem::ApiError;
use axum::{
    extract::{FromRequestParts, MatchedPath, Request, State},
    http::{Method, Uri, request::Parts},
    middleware::Next,
    response::Response,
};
use leadline_protocol::{problem::Problem, text::printable};
use percent_encoding::percent_decode_str;
use serde::de::DeserializeOwned;
use std::{collections::HashSet, sync::Arc};
use utoipa::openapi::{
    OpenApi, RefOr,
    path::{Operation, ParameterIn},
};

/// Maximum number of problems that are reported.
const MAX_PROBLEMS: usize = 100;

/// The parameters of a query string.
pub(crate) struct Query<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        // Parsed separately first, because the parser stops at the first error.
        let problems = problems(&parts.uri, |name, parameter| {
            let error = parse::<T>(&format!("/?{parameter}").parse().ok()?).err()?;
            // Required parameters are missing here. Other errors start with the name.
            let detail = error.strip_prefix(name)?.strip_prefix(": ")?;
            Some(format!("{}.", printable(detail)))
        });
        if !problems.is_empty() {
            return Err(problems.into());
        }
        let query = parse(&parts.uri).map_err(|error| vec![problem("", &format!("{error}."))])?;
        Ok(Self(query))
    }
}

fn parse<T: DeserializeOwned>(uri: &Uri) -> Result<T, String> {
    let query = axum::extract::Query::try_from_uri(uri);
    query.map(|query| query.0).map_err(|rejection| {
        // Such as `Failed to deserialize query string: limit: invalid digit found in string`.
        let text = rejection.body_text();
        text.split_once(": ")
            .map_or(text.clone(), |split| split.1.to_owned())
    })
}

/// Operations (method and path template) without parameters in the query string.
pub(crate) type WithoutQuery = Arc<HashSet<(Method, String)>>;

pub(crate) fn without_query(document: &OpenApi) -> WithoutQuery {
    let paths = document.paths.paths.iter();
    let operations = paths.flat_map(|(path, item)| {
        let operations = [
            (Method::GET, &item.get),
            (Method::POST, &item.post),
            (Method::PUT, &item.put),
            (Method::PATCH, &item.patch),
            (Method::DELETE, &item.delete),
        ];
        let without = |operation: &Operation| !has_query(operation);
        operations
            .into_iter()
            .filter(move |(_, operation)| operation.as_ref().is_some_and(without))
            .map(|(method, _)| (method, path.clone()))
    });
    Arc::new(operations.collect())
}

fn has_query(operation: &Operation) -> bool {
    let mut parameters = operation.parameters.iter().flatten();
    parameters.any(|parameter| match parameter {
        RefOr::T(parameter) => matches!(parameter.parameter_in, ParameterIn::Query),
        RefOr::Ref(_) => true,
    })
}

/// Middleware: rejects parameters of operations that have none. Otherwise
/// `POST /runs?dry_run=true` would start a run.
pub(crate) async fn reject_unknown(
    State(without_query): State<WithoutQuery>,
    path: MatchedPath,
    request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let method = match *request.method() {
        Method::HEAD => Method::GET,
        ref method => method.clone(),
    };
    if without_query.contains(&(method, path.as_str().to_owned())) {
        let detail = "This request has no parameters.";
        let problems = problems(request.uri(), |_, _| Some(detail.to_owned()));
        if !problems.is_empty() {
            return Err(problems.into());
        }
    }
    Ok(next.run(request).await)
}

/// Problems of the separate parameters, without repetitions. `check` receives the decoded name and
/// the encoded parameter, and returns a sentence about what is wrong.
fn problems(uri: &Uri, check: impl Fn(&str, &str) -> Option<String>) -> Vec<Problem> {
    let mut names = HashSet::new();
    let mut problems = Vec::new();
    let query = uri.query().unwrap_or_default();
    for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        let Some(decoded) = decode(name) else {
            let detail = "The name is not valid percent-encoded UTF-8.";
            report(&mut problems, problem(name, detail));
            continue;
        };
        if let Some(detail) = check(&decoded, parameter) {
            report(&mut problems, problem(&decoded, &detail));
        } else if decode(value).is_none() {
            let detail = "The value is not valid percent-encoded UTF-8.";
            report(&mut problems, problem(&decoded, detail));
        }
        if !names.insert(decoded.clone()) {
            report(
                &mut problems,
                problem(&decoded, "The parameter is repeated."),
            );
        }
    }
    problems
}

fn report(problems: &mut Vec<Problem>, problem: Problem) {
    if problems.len() < MAX_PROBLEMS && !problems.contains(&problem) {
        problems.push(problem);
    }
}

fn problem(name: &str, detail: &str) -> Problem {
    let detail = format!("Invalid query: {detail}");
    Problem::invalid("bad_query", printable(name), detail, "See /api/docs.")
}

/// `None`: the text contains an incomplete escape sequence or is not UTF-8. The parser would
/// replace such bytes.
fn decode(text: &str) -> Option<String> {
    let mut escapes = text.split('%').skip(1);
    let complete = escapes.all(|escape| {
        let digits = escape.as_bytes().get(..2);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    });
    let text = text.replace('+', " ");
    let decoded = percent_decode_str(&text).decode_utf8().ok()?;
    complete.then(|| decoded.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(query: &str) -> Vec<(String, String)> {
        let uri: Uri = format!("/?{query}").parse().unwrap();
        let problems = problems(&uri, |name, _| (name == "bad").then(|| "Bad.".to_owned()));
        let problems = problems.into_iter();
        problems
            .map(|problem| (problem.field.unwrap_or_default(), problem.detail))
            .collect()
    }

    #[test]
    fn every_invalid_parameter_is_reported_once() {
        let found = fields("bad=1&&ok=a+b%20c&bad=2&bad=3&other=%ff&x%zz=1&%=2&ok=%2");
        let names: Vec<_> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["bad", "bad", "other", "x%zz", "%", "ok", "ok"]);
        assert_eq!(found[0].1, "Invalid query: Bad.");
        assert_eq!(found[1].1, "Invalid query: The parameter is repeated.");
        let encoding = "is not valid percent-encoded UTF-8.";
        assert!(
            found[2..6]
                .iter()
                .all(|(_, detail)| detail.ends_with(encoding))
        );
    }

    #[test]
    fn number_of_problems_is_limited() {
        let names: Vec<_> = (0..1000).map(|i| format!("n{i}=%ff")).collect();
        assert_eq!(fields(&names.join("&")).len(), 100);
    }

    #[test]
    fn encodings_that_the_parser_would_replace_are_rejected() {
        for text in [
            "%",
            "%2",
            "%zz",
            "%ff",
            "%c3%28",
            "%c0%80",
            "%ed%a0%80",
            "a%",
        ] {
            assert_eq!(decode(text), None, "{text}");
        }
        for (text, decoded) in [("a+b", "a b"), ("%2B", "+"), ("%C3%a9", "é"), ("é", "é")] {
            assert_eq!(decode(text).as_deref(), Some(decoded));
        }
    }

    #[test]
    fn names_are_displayed_without_control_characters() {
        let names = fields("%1b%5B31mred=%ff&%E2%80%AEbidi=%ff");
        let expected = ["\u{fffd}[31mred", "\u{fffd}bidi"];
        assert_eq!(
            names.into_iter().map(|(name, _)| name).collect::<Vec<_>>(),
            expected
        );
    }
}
