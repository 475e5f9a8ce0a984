//! The results of a group: files, directories, or runs on a server.

use crate::cli::compare::{
    documents::{StoredResult, find_copies, label_copies, results},
    http,
    sequential::Sequential,
};
use leadline_compare::{
    MAX_RUNS,
    group::{Block, Group},
};
use leadline_export::fio::result::find_result;
use leadline_protocol::{problem::Problem, text::printable_document};
use serde_json::Value;
use std::{
    fs,
    path::{Path, PathBuf},
};

const BYTE_ORDER_MARK: char = '\u{feff}';

#[derive(Default)]
pub(crate) struct StoredGroup {
    pub label: String,
    /// As entered by the user.
    pub selection: String,
    results: Vec<StoredResult>,
    /// Interim looks at the study, if it has `until_decided`.
    pub sequential: Option<Sequential>,
}

impl StoredGroup {
    /// The repeats of a step, labeled with its name; `None` if they cannot be read.
    pub(crate) fn from_step(study: &Value, step: u64) -> Option<Self> {
        Some(Self {
            label: step_name(study, Some(step))?,
            selection: String::new(),
            results: results("run", study.clone(), Some(step)).ok()?,
            sequential: Sequential::from_study(study),
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.results.len()
    }

    /// Marks the results in `other` that are copies of results in this group.
    pub(crate) fn label_copies_in(&self, other: &mut Self) {
        label_copies(&self.results, &mut other.results);
    }

    pub(crate) fn number_blocks(&mut self) {
        for (repeat, result) in (1..).zip(&mut self.results) {
            result.block = Some(Block {
                study: "paired".into(),
                repeat,
            });
        }
    }

    pub(crate) fn input(&self) -> Group<'_> {
        Group {
            label: self.label.clone(),
            runs: self.results.iter().map(StoredResult::input).collect(),
        }
    }
}

/// # Errors
/// Returns a problem if a source cannot be read or contains no result.
pub(crate) fn read_group(field: &str, text: &str) -> Result<StoredGroup, Problem> {
    let problem = |detail: String| {
        let remedy = "Use results of `leadline-runner run --json`, fio's JSON output, or the URL of a run or study on a server.";
        Problem::invalid("unreadable", field, detail, remedy)
    };
    let mut group = StoredGroup {
        label: label(text),
        selection: text.to_owned(),
        results: Vec::new(),
        sequential: None,
    };
    for source in text.split(',') {
        let (source, step) = split_step(source);
        if http::is_url(source) {
            for run in http::runs(source, step).map_err(problem)? {
                group.label = run.step.unwrap_or(group.label);
                group.sequential = run.sequential.or(group.sequential);
                let mut found = results(&run.address, printable_document(run.document), None)
                    .map_err(|detail| problem(format!("{}: {detail}", run.address)))?;
                for result in &mut found {
                    result.block = run.block.clone();
                }
                group.results.extend(found);
            }
            continue;
        }
        for (name, document) in documents(source).map_err(problem)? {
            let document = printable_document(document);
            group.sequential = Sequential::from_study(&document).or(group.sequential);
            if let Some(name) = step_name(&document, step) {
                group.label = name;
            }
            let found = results(&name, document, step);
            group
                .results
                .extend(found.map_err(|detail| problem(format!("{name}: {detail}")))?);
        }
    }
    match group.len() {
        0 => Err(problem(format!("{text} contains no results."))),
        1..=MAX_RUNS => reject_copies(field, &group).map(|()| group),
        count => Err(problem(format!(
            "{text} has {count} results; a group can contain at most {MAX_RUNS}."
        ))),
    }
}

/// A run listed twice would count as two independent runs.
fn reject_copies(field: &str, group: &StoredGroup) -> Result<(), Problem> {
    let Some((first, second)) = find_copies(&group.results) else {
        return Ok(());
    };
    let detail = if first == second {
        format!("{first} is listed twice.")
    } else {
        format!("{first} and {second} are copies of the same result.")
    };
    let remedy = "List each run once: only independent runs reveal how much results vary.";
    Err(Problem::invalid("same_run", field, detail, remedy))
}

/// `study.json#2` is step 2.
fn split_step(source: &str) -> (&str, Option<u64>) {
    match source.rsplit_once('#') {
        Some((path, step)) => match step.parse() {
            Ok(step) => (path, Some(step)),
            Err(_) => (source, None),
        },
        None => (source, None),
    }
}

fn step_name(study: &Value, step: Option<u64>) -> Option<String> {
    let step = step?;
    let steps = study["steps"].as_array()?;
    let entry = steps.iter().find(|entry| entry["step"] == step)?;
    Some(entry["name"].as_str()?.to_owned())
}

/// The base name of a file or directory, without the extension.
fn label(text: &str) -> String {
    if text.contains(',') || http::is_url(text) {
        return text.to_owned();
    }
    let (path, step) = split_step(text);
    let stem = Path::new(path).file_stem().unwrap_or_default();
    let stem = stem.to_string_lossy();
    match step {
        Some(step) => format!("{stem}#{step}"),
        None => stem.into_owned(),
    }
}

/// Names and contents of the JSON documents in a file or directory.
fn documents(source: &str) -> Result<Vec<(String, Value)>, String> {
    let path = Path::new(source);
    let files = if path.is_dir() {
        json_files(path)?
    } else {
        vec![path.to_owned()]
    };
    let read = |file: PathBuf| {
        let name = file.display().to_string();
        let text = fs::read_to_string(&file)
            .map_err(|error| format!("{name} cannot be read: {error}."))?;
        let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&text);
        let document = serde_json::from_str(text).or_else(|error| match find_result(text) {
            Ok(Some(found)) => match found.signal {
                Some(signal) => Err(format!(
                    "{name} is incomplete: fio was terminated early by signal {signal}."
                )),
                None => Ok(found.document),
            },
            Ok(None) => Err(format!("{name} is not valid JSON: {error}.")),
            Err(error) => Err(format!("{name}: {error}.")),
        })?;
        Ok((name, document))
    };
    files.into_iter().map(read).collect()
}

/// The `*.json` files in a directory, sorted by name: `2.json` comes before `10.json`, so file
/// names with and without leading zeros form the same pairs.
fn json_files(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let unreadable = |error| format!("{} cannot be read: {error}.", directory.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            files.push(path);
        }
    }
    alphanumeric_sort::sort_path_slice(&mut files);
    Ok(files)
}
