//! Reads the JSON document of a job or study.

use leadline_protocol::problem::Problem;
use serde_json::Value;
use std::{
    fs,
    io::{Error, Read, stdin},
};

/// `path` may be `-` for standard input.
pub(crate) fn read_document(path: &str) -> Result<Value, Vec<Problem>> {
    let source = if path == "-" { "Standard input" } else { path };
    let text = read_text(path).map_err(|error| {
        vec![Problem::invalid(
            "unreadable",
            "JOB",
            format!("{source} cannot be read: {error}."),
            "Pass the path to a JSON job or study, or - for standard input.",
        )]
    })?;
    serde_json::from_str(&text).map_err(|error| {
        vec![Problem::invalid(
            "not_json",
            "JOB",
            format!("{source} is not valid JSON: {error}."),
            r#"Pass a JSON job or study, such as {"rw":"randread","filename":"t1","size":"256m","direct":1}."#,
        )]
    })
}

fn read_text(path: &str) -> Result<String, Error> {
    if path != "-" {
        return fs::read_to_string(path);
    }
    let mut text = String::new();
    stdin().read_to_string(&mut text)?;
    Ok(text)
}
