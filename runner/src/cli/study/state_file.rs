//! Results of a study so far, in a file from which the study continues after it was interrupted: a
//! line with the plan, and a line before and after each run.

use crate::cli::{
    event_printer::{EventPrinter, SavedEvents},
    study::progress::{Progress, Step},
};
use leadline_protocol::{
    problem::Problem,
    study::plan::{StepPlan, StudyPlan},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{
    borrow::Cow,
    fs::{File, OpenOptions},
    io::{self, BufRead, BufReader, Seek, Write},
    path::Path,
};

pub(super) struct StateFile {
    file: File,
}

/// What a state file contains.
pub(super) struct Saved {
    pub plan: StudyPlan,
    pub steps: Vec<SavedStep>,
    /// Whether a run had started and did not end.
    pub was_interrupted: bool,
}

#[derive(Deserialize, Serialize)]
struct Header {
    /// As submitted, to detect a file of another study.
    document: Value,
    plan: StudyPlan,
}

#[derive(Deserialize, Serialize)]
pub(super) struct SavedStep {
    pub plan: StepPlan,
    /// Exit codes and events.
    pub run: Option<(u8, SavedEvents)>,
    pub failed_run: Option<(u8, SavedEvents)>,
    /// Whether an earlier attempt was interrupted.
    pub interrupted: bool,
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Started,
    Ended(Box<SavedStep>),
}

impl StateFile {
    /// Opens or creates a file. Returns what it contains; `None` if it is new.
    ///
    /// # Errors
    /// The file cannot be read, or belongs to another study.
    pub(super) fn open(path: &Path, document: &Value) -> Result<(Self, Option<Saved>), Problem> {
        let mut options = OpenOptions::new();
        let file = options.read(true).append(true).create(true).open(path);
        let state = file.and_then(|file| {
            let saved = read(&file)?;
            Ok((Self { file }, saved))
        });
        let (state, saved) = state.map_err(|error| unusable(path, &error.to_string()))?;
        match saved {
            Some((header, _)) if header.document != *document => {
                Err(unusable(path, "it belongs to another study"))
            }
            saved => Ok((state, saved.map(|(header, lines)| replay(header, lines)))),
        }
    }

    pub(super) fn create(&mut self, document: &Value, plan: &StudyPlan) -> io::Result<()> {
        let header = Header {
            document: document.clone(),
            plan: plan.clone(),
        };
        self.append(&serde_json::to_string(&header)?)
    }

    pub(super) fn started(&mut self) -> io::Result<()> {
        self.append(&serde_json::to_string(&Line::Started)?)
    }

    pub(super) fn ended(&mut self, step: &Step) -> io::Result<()> {
        let save = |(code, events): &(u8, EventPrinter)| (*code, events.save());
        let step = SavedStep {
            plan: step.plan.clone().into_owned(),
            run: step.run.as_ref().map(save),
            failed_run: step.failed_run.as_ref().map(save),
            interrupted: step.was_interrupted,
        };
        self.append(&serde_json::to_string(&Line::Ended(Box::new(step)))?)
    }

    /// The line is on disk when this returns, so that a run never starts twice without a record.
    fn append(&mut self, line: &str) -> io::Result<()> {
        self.file.write_all(format!("{line}\n").as_bytes())?;
        self.file.sync_data()
    }
}

/// Reads all complete lines, and removes a line that was cut off.
fn read(mut file: &File) -> io::Result<Option<(Header, Vec<Line>)>> {
    file.rewind()?;
    let mut reader = BufReader::new(file);
    let mut complete = 0;
    let mut texts = Vec::new();
    let mut text = String::new();
    while reader.read_line(&mut text)? > 0 && text.ends_with('\n') {
        complete += text.len() as u64;
        texts.push(std::mem::take(&mut text));
    }
    file.set_len(complete)?;
    let mut texts = texts.into_iter();
    let Some(first) = texts.next() else {
        return Ok(None);
    };
    let header = serde_json::from_str(&first)?;
    let lines = texts.map(|text| serde_json::from_str(&text));
    Ok(Some((header, lines.collect::<Result<_, _>>()?)))
}

fn replay(header: Header, lines: Vec<Line>) -> Saved {
    let mut saved = Saved {
        plan: header.plan,
        steps: Vec::new(),
        was_interrupted: false,
    };
    for line in lines {
        match line {
            Line::Started => saved.was_interrupted = true,
            Line::Ended(step) => {
                saved.steps.push(*step);
                saved.was_interrupted = false;
            }
        }
    }
    saved
}

fn unusable(path: &Path, reason: &str) -> Problem {
    let detail = format!("{} cannot be used: {reason}.", path.display());
    let remedy = "Use another file with --state, or remove this one to start again.";
    Problem::invalid("state_file", "state", detail, remedy)
}

impl SavedStep {
    /// Adds the step to the progress, as if it had run now.
    pub(super) fn restore(
        self,
        progress: &mut Progress,
        restored: impl Fn(SavedEvents) -> EventPrinter,
    ) {
        // As the step was requested when it ran.
        let document = json!({"jobs": &self.plan.jobs});
        let restore = |(code, events)| {
            let mut events = restored(events);
            events.set_requested(&document);
            (code, events)
        };
        progress.steps.push(Step {
            plan: Cow::Owned(self.plan),
            run: self.run.map(&restore),
            failed_run: self.failed_run.map(&restore),
            was_interrupted: self.interrupted,
        });
    }
}
