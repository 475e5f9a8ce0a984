//! fio's `--showcmd` prints a job file as a command line. Both must import as the same jobs.

use crate::{canonical, cases, request, with_host};
use leadline_runner::dialect::fio_view;
use serde_json::{Value, json};
use std::{fs, process::Command};

/// Each case starts fio.
const MAX_CASES: usize = 60;

fn jobs(text: &str) -> Value {
    let view = with_host(|host| fio_view(&request(text), host));
    let jobs = view["jobs"].as_array().unwrap().iter().map(|job| {
        let mut options: Vec<_> = canonical::options(job["options"].as_object().unwrap())
            .into_iter()
            .collect();
        options.sort_by(|a, b| a.0.cmp(&b.0));
        json!([job["name"], options])
    });
    jobs.collect()
}

/// fio prints values with spaces without quotes (`--name=a b --rw=read`), so only names without
/// spaces can be compared.
fn is_comparable(text: &str) -> bool {
    let has_space = |line: &str| line.starts_with('[') && line.contains(' ');
    let is_quoted = |line: &str| line.contains(['"', '\'', '$', '\\']);
    // A later [global] section is not usable: its options would apply to the job before it.
    let mut sections = text
        .lines()
        .filter(|line| line.trim_start().starts_with('['));
    let is_global = |line: &str| line.trim_start().starts_with("[global");
    sections.next();
    !sections.any(is_global)
        && !text.lines().any(|line| has_space(line) || is_quoted(line))
        && !text.contains("kb_base")
}

#[test]
fn showcmd_command_lines_import_the_same_jobs() {
    if Command::new("fio").arg("--version").output().is_err() {
        eprintln!("SKIP: fio is not installed");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("job.fio");
    let cases = cases("generated.jsonl");
    let comparable = cases.iter().filter(|case| is_comparable(&case.text));
    let mut compared = 0;
    for case in comparable.take(MAX_CASES) {
        fs::write(&path, &case.text).unwrap();
        let output = Command::new("fio")
            .arg("--showcmd")
            .arg("--parse-only")
            .arg(&path)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", case.name);
        let printed = String::from_utf8(output.stdout).unwrap();
        let Some(command) = printed.lines().find(|line| line.starts_with("fio ")) else {
            panic!("{}: {printed}", case.name);
        };
        assert_eq!(
            jobs(command),
            jobs(&case.text),
            "{}\n{}\n{command}",
            case.name,
            case.text
        );
        compared += 1;
    }
    assert_eq!(compared, MAX_CASES);
}
