//! The examples are what somebody tries first: each is a run that the parser takes whole, and the README says of each
//! what it shows.

use std::fs;
use std::path::{Path, PathBuf};

use leadline_protocol::job::parse::{RunSpec, parse_run};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples")
}

/// Name and parsed run of every example.
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
        let ask = parse_run(&value).unwrap_or_else(|problems| {
            panic!(
                "{name}: {}",
                problems.iter().map(ToString::to_string).collect::<String>()
            )
        });
        (name, ask)
    };
    let mut all: Vec<_> = jobs.map(parse).collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

#[test]
fn every_example_is_a_run() {
    assert!(examples().len() >= 8, "examples are gone");
}

#[test]
fn every_example_says_buffered_or_direct_and_stays_where_it_is_started() {
    for (name, ask) in examples() {
        for job in &ask.jobs {
            assert!(
                job.direct.is_some(),
                "{name}: say direct, there is no default"
            );
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
fn a_single_job_is_named_like_its_file() {
    for (name, ask) in examples()
        .into_iter()
        .filter(|(_, ask)| ask.jobs.len() == 1)
    {
        assert_eq!(
            ask.jobs[0].name.as_deref(),
            name.strip_suffix(".json"),
            "{name}"
        );
    }
}

#[test]
fn the_readme_says_of_each_example_what_it_shows_and_names_no_other() {
    let readme = fs::read_to_string(folder().join("README.md")).unwrap();
    let told: Vec<&str> = readme
        .lines()
        .filter_map(|line| line.strip_prefix("| [")?.split(']').next())
        .collect();
    let mut told_sorted: Vec<String> = told.iter().map(ToString::to_string).collect();
    told_sorted.sort();
    let there: Vec<String> = examples().into_iter().map(|(name, _)| name).collect();
    assert_eq!(
        told_sorted, there,
        "examples/README.md: one row for each file"
    );
}
