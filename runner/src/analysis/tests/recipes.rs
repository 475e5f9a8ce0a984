//! Commands and job files from cloud, database, Kubernetes and storage documentation, and the
//! question that each of them answers.
//!
//! Each line of `recipes.jsonl` has the `source` (the document), the paraphrased `text` (options in
//! another order, other names, sizes as published), and the `codes` of the findings that answer it:
//! one per imported run, null for a run that matches no published question. Devices are replaced
//! with a device of the simulated host.

use crate::{
    analysis::findings::questions::question_code,
    dialect::{HostFacts, PathKind, import},
    plan::{
        host_view::HostView,
        resolve,
        tests::host::{GIB, TableHost},
    },
};
use leadline_protocol::{
    import::{Import, ImportRequest, ImportSeverity},
    job::run_spec::parse_run,
};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const MIN_RECIPES: usize = 60;
/// Problems with a target that the user solves by confirming or selecting it.
const CONFIRMABLE: [&str; 1] = ["raw_write_refused"];

#[derive(Deserialize)]
struct Recipe {
    source: String,
    text: String,
    codes: Vec<Option<String>>,
}

fn recipes() -> Vec<Recipe> {
    let text = include_str!("recipes.jsonl");
    let parse =
        |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    text.lines().map(parse).collect()
}

fn import_text(text: &str, variables: Option<BTreeMap<String, String>>) -> Import {
    let request = ImportRequest {
        text: text.into(),
        variables,
    };
    let is_device = |path: &str| {
        if path.starts_with("/dev/") {
            PathKind::Other
        } else {
            PathKind::Missing
        }
    };
    import(
        &request,
        &HostFacts {
            cpus: 2,
            page_size: 4096,
            memory_mib: 8192,
            path_kind: &is_device,
        },
    )
}

/// Imports the text with answers to all questions, and returns its runs.
fn imported_runs(recipe: &Recipe) -> Vec<Value> {
    let first = import_text(&recipe.text, None);
    let names = first.questions.iter().enumerate();
    let answers: BTreeMap<_, _> = names
        .map(|(index, question)| (question.name.clone(), format!("/data/new{index}")))
        .collect();
    let answered = if answers.is_empty() {
        first
    } else {
        import_text(&recipe.text, Some(answers))
    };
    let errors: Vec<_> = answered
        .notes
        .iter()
        .filter(|note| note.severity == ImportSeverity::Error)
        .map(|note| &note.sentence)
        .collect();
    let document = answered.document.unwrap_or_else(|| {
        panic!("{}: {errors:?}\n{}", recipe.source, recipe.text);
    });
    match document.get("steps") {
        Some(steps) => steps.as_array().unwrap().clone(),
        None => vec![json!({"jobs": document["jobs"]})],
    }
}

fn code_for_run(run: &Value, host: &dyn HostView) -> Result<Option<&'static str>, String> {
    let spec = parse_run(run).map_err(|problems| format!("{problems:?}"))?;
    let plan = resolve(&spec, host);
    let problems: Vec<_> = plan
        .problems
        .iter()
        .filter(|problem| !CONFIRMABLE.contains(&problem.code.as_str()))
        .collect();
    if !problems.is_empty() {
        return Err(format!("{problems:#?}"));
    }
    Ok(question_code(&plan.jobs))
}

#[test]
fn published_recipes_run_and_match_their_question() {
    let host = TableHost {
        free: 8192 * GIB,
        memory: 64 * GIB,
        ..TableHost::default()
    };
    let recipes = recipes();
    assert!(recipes.len() >= MIN_RECIPES, "{} recipes", recipes.len());
    let mut failures = Vec::new();
    for recipe in &recipes {
        let found: Result<Vec<_>, String> = imported_runs(recipe)
            .iter()
            .map(|run| code_for_run(run, &host))
            .collect();
        let expected: Vec<_> = recipe.codes.iter().map(Option::as_deref).collect();
        if found.as_ref() != Ok(&expected) {
            failures.push(format!(
                "{}: {found:?} instead of {expected:?}\n{}",
                recipe.source, recipe.text
            ));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}
