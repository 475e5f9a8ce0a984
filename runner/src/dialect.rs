//! Imports jobs that are written for other tools: fio job files, and commands of fio and diskspd.
//! Pure: nothing is executed, no file is read, and facts about the host are arguments.
//!
//! - `detect`: which dialect a text is written in
//! - `job_file`, `shell`, `command`: text to `section`s with options; `substitute`, `expression`
//! - `options`, `value`, `number`, `engines`: options of a job, parsed as in fio
//! - `fio_jobs`, `order`, `document`: sections to jobs, steps and JSON
//! - `traps`, `notes`, `source`: notes with positions in the text

mod document;
mod engines;
mod expression;
mod fio_jobs;
mod job_file;
mod notes;
mod number;
mod options;
mod order;
mod section;
mod source;
mod substitute;
mod traps;
mod value;

use crate::dialect::{
    document::{document, step},
    fio_jobs::FioJob,
    notes::{NoteText, Notes},
    source::Source,
};
use leadline_protocol::import::{Dialect, Import, ImportRequest};
use std::collections::BTreeMap;

/// In bytes. Larger texts are not job files.
const MAX_TEXT: usize = 1 << 20;

/// Facts about the host that fio uses while it parses a job.
pub struct HostFacts<'a> {
    pub cpus: u64,
    /// In bytes.
    pub page_size: u64,
    pub memory_mib: u64,
    /// Called only with paths below `/dev`.
    pub path_kind: &'a dyn Fn(&str) -> PathKind,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PathKind {
    Missing,
    RegularFile,
    Other,
}

/// Reads jobs from a text.
pub fn import(request: &ImportRequest, host: &HostFacts<'_>) -> Import {
    let source = Source::new(&request.text);
    let mut notes = Notes::new(&source);
    if request.text.len() > MAX_TEXT {
        let sentence = format!("The text has {} bytes.", request.text.len());
        let remedy = format!("Paste at most {MAX_TEXT} bytes.");
        notes.error(
            &(0..1),
            None,
            NoteText::new("text_too_long", sentence, remedy),
        );
        return finish(Dialect::Unknown, None, notes);
    }
    let no_variables = BTreeMap::new();
    let variables = request.variables.as_ref().unwrap_or(&no_variables);
    let sections = job_file::sections(&source, variables, host, &mut notes);
    let jobs = fio_jobs::jobs(&sections, true, &mut notes);
    let steps = steps(&jobs, host, &mut notes);
    finish(Dialect::FioJobFile, Some((steps, true)), notes)
}

/// The steps of the jobs of one job file or command.
fn steps(jobs: &[FioJob], host: &HostFacts<'_>, notes: &mut Notes<'_>) -> Vec<document::Step> {
    for job in jobs {
        traps::report(job, host, notes);
    }
    let waves = order::waves(jobs, notes);
    let steps = waves.iter().enumerate().map(|(index, wave)| {
        let jobs = wave.iter().map(|job| &jobs[*job]);
        step(jobs, index == 0, host, notes)
    });
    steps.collect()
}

fn finish(
    dialect: Dialect,
    steps: Option<(Vec<document::Step>, bool)>,
    mut notes: Notes<'_>,
) -> Import {
    let has_jobs = steps.as_ref().is_some_and(|(steps, _)| !steps.is_empty());
    if !has_jobs && !notes.has_errors() {
        let text = NoteText::new(
            "no_jobs",
            "The text has no jobs.",
            "Add a section such as [job1].",
        );
        notes.error(&(0..0), None, text);
    }
    let document = steps
        .filter(|_| has_jobs && !notes.has_errors())
        .map(|(steps, continues)| document(steps, continues));
    let (notes, questions) = notes.finish();
    Import {
        dialect,
        document: document.filter(|_| questions.is_empty()),
        notes,
        questions,
    }
}
