//! Every job of a run has a name of its own: results are told by it and generated files are named after it. fio takes
//! two jobs of one name; here the later ones are numbered, and it is said.

use crate::plan::defaults::said;
use crate::plan::notes::Notes;
use leadline_protocol::finding::Severity;
use leadline_protocol::job::Job;
use std::collections::BTreeSet;

/// The longest name: with `.clone.file` behind it, it must stay below the 255 bytes of a file name (NAME_MAX).
const MAX_NAME_BYTES: usize = 200;

/// A name for each job, in order.
pub(crate) fn distinct(jobs: &[Job], notes: &mut Notes) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let mut name = |(index, job): (usize, &Job)| {
        let asked = said!(job, name);
        notes.begin(index, &asked);
        if asked.len() > MAX_NAME_BYTES || asked.chars().any(char::is_control) {
            let sentence = format!(
                "The name has {} bytes or control characters in it.",
                asked.len()
            );
            notes.invalid(
                "bad_name",
                "name",
                sentence,
                format!("Use at most {MAX_NAME_BYTES} bytes on one line."),
            );
        }
        let name = (1..)
            .map(|number| numbered(&asked, number))
            .find(|name| taken.insert(name.clone()))
            .unwrap_or_default();
        if name != asked && job.name.is_some() {
            let sentence =
                format!("Another job is named `{asked}`, so this one is told as `{name}`.");
            notes.mind(
                Severity::Note,
                "job_renamed",
                sentence,
                &[],
                "Give each job a name of its own.",
            );
        }
        name
    };
    jobs.iter().enumerate().map(&mut name).collect()
}

fn numbered(name: &str, number: usize) -> String {
    if number == 1 {
        name.to_owned()
    } else {
        format!("{name}-{number}")
    }
}
