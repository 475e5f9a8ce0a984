//! Makes job names unique by numbering repeated names, because results and generated files are
//! named after jobs.

use crate::plan::issues::Issues;
use leadline_protocol::{
    finding::Severity,
    job::{Job, range::MAX_NAME_BYTES},
    text::is_deceptive,
};
use std::collections::BTreeSet;

pub(crate) fn resolve(jobs: &[Job], issues: &mut Issues) -> Vec<String> {
    let mut used = BTreeSet::new();
    let mut names = Vec::new();
    for (index, job) in jobs.iter().enumerate() {
        let requested = job.name();
        issues.begin_job(index, &requested);
        if requested.len() > MAX_NAME_BYTES || requested.chars().any(is_deceptive) {
            issues.invalid(
                "invalid_name",
                "name",
                format!("name must be at most {MAX_NAME_BYTES} bytes long and must not contain control or invisible characters."),
                "Use a shorter name without control or invisible characters.",
            );
        }
        let mut name = requested.clone();
        let mut number = 1;
        while !used.insert(name.clone()) {
            number += 1;
            name = format!("{requested}-{number}");
        }
        if name != requested && job.name.is_some() {
            issues.finding(
                Severity::Note,
                "job_renamed",
                renamed_text(job, &requested, &name),
                None,
                "Use a different name for each job.",
            );
        }
        names.push(name);
    }
    names
}

fn renamed_text(job: &Job, requested: &str, name: &str) -> String {
    let files = match job.filename {
        None => " This job generates its own files; in fio, both jobs share theirs.",
        Some(_) => "",
    };
    format!("Another job is named `{requested}`, so this job is renamed to `{name}`.{files}")
}
