//! Reads a job or a study: a JSON document, a fio job file, or fio or diskspd commands.

use crate::{
    cli::text::import::variable_remedy,
    dialect::{Positions, import_with_logs, job_logs::JobLogs},
    system::host::import_facts::import_with_host,
};
use leadline_protocol::{
    import::{Import, ImportRequest, UNSET_VARIABLE},
    json::{DocumentError, parse_document},
    problem::Problem,
};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    fs,
    io::{Error, Read, stdin},
};

/// A job or a study, and how its text was interpreted if it is not JSON.
pub(crate) struct Input {
    pub document: Result<Value, Vec<Problem>>,
    pub import: Option<Import>,
    /// Logs requested by each step's jobs. Only the `fio` command writes them.
    pub logs: Vec<Vec<JobLogs>>,
    /// Where a job file or command sets the options.
    pub positions: Positions,
}

/// `path` may be `-` for standard input.
pub(crate) fn read_document(path: &str) -> Input {
    let source = if path == "-" { "Standard input" } else { path };
    let text = match read_text(path) {
        Ok(text) => text,
        Err(error) => {
            let problem = Problem::invalid(
                "unreadable",
                "JOB",
                format!("{source} cannot be read: {error}."),
                "Pass the path to a job or study, or - for standard input.",
            );
            return Input {
                document: Err(vec![problem]),
                import: None,
                logs: Vec::new(),
                positions: Positions::default(),
            };
        }
    };
    if text.trim_start().starts_with('{') {
        return Input {
            document: parse_json(&text, source),
            import: None,
            logs: Vec::new(),
            positions: Positions::default(),
        };
    }
    import_input(&import_request(text))
}

/// Variables in job files are read from the environment, as in fio.
pub(crate) fn import_request(text: String) -> ImportRequest {
    let variables: BTreeMap<String, String> = std::env::vars().collect();
    ImportRequest {
        text,
        variables: Some(variables),
    }
}

fn import_input(request: &ImportRequest) -> Input {
    let read = import_with_host(|host| import_with_logs(request, host));
    let import = read.import;
    let document = match (&import.document, import.problems()) {
        (Some(document), _) => Ok(document.clone()),
        (None, problems) => Err(problems),
    };
    Input {
        document: document.map_err(|problems| {
            let mut questions = import.questions.iter();
            let in_file = |problem: Problem| Problem {
                field: Some("JOB".into()),
                remedy: match problem.code.as_str() {
                    UNSET_VARIABLE => questions
                        .next()
                        .map_or(problem.remedy, |question| variable_remedy(&question.name)),
                    _ => problem.remedy,
                },
                ..problem
            };
            problems.into_iter().map(in_file).collect()
        }),
        import: Some(import),
        logs: Vec::new(),
        positions: read.positions,
    }
}

fn parse_json(text: &str, source: &str) -> Result<Value, Vec<Problem>> {
    parse_document(text.as_bytes()).map_err(|error| match error {
        DocumentError::Repeated(problems) => problems,
        DocumentError::Syntax(error) => vec![Problem::invalid(
            "not_json",
            "JOB",
            format!("{source} is not valid JSON: {error}."),
            r#"Pass a JSON job or study, such as {"rw":"randread","filename":"t1","size":"256m","direct":1}."#,
        )],
    })
}

/// `path` may be `-` for standard input.
///
/// # Errors
/// The file cannot be read, or is not UTF-8.
pub(crate) fn read_text(path: &str) -> Result<String, Error> {
    read_bytes(path).and_then(|bytes| decode_utf8(bytes).map_err(Error::other))
}

fn read_bytes(path: &str) -> Result<Vec<u8>, Error> {
    if path != "-" {
        return fs::read(path);
    }
    let mut bytes = Vec::new();
    stdin().read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn decode_utf8(bytes: Vec<u8>) -> Result<String, String> {
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let before = &error.as_bytes()[..valid];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        format!("line {line} is not valid UTF-8")
    })
}
