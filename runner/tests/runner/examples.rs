//! Each example is a valid job and has a row in the examples README.

use leadline_protocol::job::run_spec::{RunSpec, parse_run};
use std::{
    fs,
    path::{Path, PathBuf},
};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples")
}

/// Name and job of every example.
fn examples() -> Vec<(String, RunSpec)> {
    let files = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let jobs = files.filter(|path| {
        path.extension()
            .is_some_and(|extension| extension == "json")
    });
    let parse = |path: PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let value = serde_json::from_str(&fs::read_to_string(&path).unwrap())
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let spec = parse_run(&value).unwrap_or_else(|problems| {
            panic!(
                "{name}: {}",
                problems.iter().map(ToString::to_string).collect::<String>()
            )
        });
        (name, spec)
    };
    let mut all: Vec<_> = jobs.map(parse).collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

#[test]
fn examples_are_valid() {
    assert!(examples().len() >= 8, "missing examples");
}

#[test]
fn examples_set_direct_and_use_the_working_directory() {
    for (name, spec) in examples() {
        for job in &spec.jobs {
            assert!(job.direct.is_some(), "{name}: direct is not set");
            let files = job
                .filename
                .as_ref()
                .map(|files| format!("{files:?}"))
                .unwrap_or_default();
            assert!(
                !files.contains('/'),
                "{name}: {files} is not a name in the working directory"
            );
        }
    }
}

#[test]
fn single_jobs_are_named_after_their_file() {
    for (name, spec) in examples()
        .into_iter()
        .filter(|(_, spec)| spec.jobs.len() == 1)
    {
        assert_eq!(
            spec.jobs[0].name.as_deref(),
            name.strip_suffix(".json"),
            "{name}"
        );
    }
}

#[test]
fn readme_has_one_row_per_example() {
    let readme = fs::read_to_string(folder().join("README.md")).unwrap();
    let name = |line: &str| Some(line.strip_prefix("| [")?.split(']').next()?.to_owned());
    let mut rows: Vec<String> = readme.lines().filter_map(name).collect();
    rows.sort();
    let files: Vec<String> = examples().into_iter().map(|(name, _)| name).collect();
    assert_eq!(rows, files, "examples/README.md: one row per file");
}
