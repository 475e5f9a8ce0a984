//! The words of studies on the HTTP interface. What stands inside one (`StudyPlan`, `Published`, ...) is declared in the
//! runner and used as it is.

use leadline_runner::job::Job;
use leadline_runner::study::{LeftoverFile, Published, Scaled};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use crate::runs::words::RunSummary;

/// What is asked of `POST /studies` and `POST /studies/plan`, and what a study's file holds.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct StudyDocument {
    /// Its name; `study` when nothing is said.
    pub name: Option<String>,
    /// Why it is worth doing, in one paragraph.
    pub about: Option<String>,
    /// What the author of the published figures had to find out by hand, in one sentence.
    pub missed_by_author: Option<String>,
    /// Figures that others got, to stand beside those from here.
    pub published: Option<Published>,
    /// How its sizes are fitted to the host: all are halved together until they keep within these bounds.
    pub scale: Option<ScaleDocument>,
    /// Whether a step that fails leaves the others be; it ends the study when nothing is said.
    pub continue_on_failure: Option<bool>,
    /// One to 256 runs, done in this order.
    pub steps: Vec<StepDocument>,
    /// The host to run on; `local` when nothing is said.
    pub host: Option<String>,
    /// Words to find its runs by.
    pub tags: Option<Vec<String>>,
    /// The serial number of the device to be overwritten, typed by its owner; its kernel name where it has none. What is
    /// given must be right.
    pub confirm: Option<String>,
}

/// One step as asked.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct StepDocument {
    /// Its name; that of its first job when nothing is said.
    pub name: Option<String>,
    /// What it is there for.
    pub note: Option<String>,
    /// The state wanted before it: options of file and cache, for every job that does not say them itself.
    #[schema(value_type = Option<std::collections::BTreeMap<String, Value>>)]
    pub state: Option<Value>,
    /// One to 64 jobs that start together. `$study` in a file name stands for a mark of the study's own.
    #[schema(value_type = Vec<Job>)]
    pub jobs: Vec<Value>,
    /// The sampling grid in milliseconds, from 10 to 10,000; 100 when nothing is said.
    pub sample_ms: Option<u32>,
}

/// The bounds that a study's sizes keep within.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct ScaleDocument {
    /// The largest size of one job, such as `1g`.
    pub max_size: Option<String>,
    /// The largest size of one job, in percent of the memory that is available.
    pub memory_percent: Option<u8>,
    /// The sizes of all files together, in percent of the free space.
    pub free_percent: Option<u8>,
    /// What the sizes were elsewhere, and why they are others here.
    pub note: Option<String>,
}

/// Where a study stands. `queued → running → done | failed | cancelled | interrupted`: the first step that did not end well
/// decides.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum StudyStatus {
    /// None of its runs has begun.
    Queued,
    /// Some of its runs have.
    Running,
    /// All of its runs are done.
    Done,
    /// One of its runs failed.
    Failed,
    /// Its owner ended it.
    Cancelled,
    /// The server went away while one of its runs ran.
    Interrupted,
}

impl StudyStatus {
    /// Whether nothing can come after it.
    pub fn is_final(self) -> bool {
        !matches!(self, Self::Queued | Self::Running)
    }

    /// The word that stands in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Interrupted => "interrupted",
        }
    }
}

/// One study in a list.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct StudySummary {
    /// Its number; never used twice.
    pub number: u64,
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub status: StudyStatus,
    /// When it was asked for, in milliseconds since 1970 UTC.
    pub created_at_ms: u64,
    /// When its first run left the queue, in milliseconds since 1970 UTC.
    pub started_at_ms: Option<u64>,
    /// When its last run came to its end, in milliseconds since 1970 UTC.
    pub finished_at_ms: Option<u64>,
    /// How many steps it has.
    pub steps_total: u32,
    /// How many of them came to their end.
    pub steps_ended: u32,
    /// The numbers of its runs in the order of the steps, as `GET /compare?runs=` takes them.
    pub runs: Vec<u64>,
    /// Why it did not end well: its first such step, and that one's reason.
    pub reason: Option<String>,
}

/// A page of studies.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct StudyList {
    /// The studies, newest first.
    pub studies: Vec<StudySummary>,
    /// Where the next page begins; null on the last one.
    pub next_cursor: Option<String>,
    /// How many there are, on all pages.
    pub total: u64,
}

/// Which studies to list.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct StudyQuery {
    /// How many, from 1 to 100; 50 when nothing is said.
    pub limit: Option<u32>,
    /// `next_cursor` of the page before.
    pub cursor: Option<u64>,
}

/// One study with everything that is known about it, less the reports of its runs.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Study {
    /// What lists show of it.
    #[serde(flatten)]
    pub summary: StudySummary,
    /// Why it is worth doing, in one paragraph.
    pub about: Option<String>,
    /// What the author of the published figures had to find out by hand, in one sentence.
    pub missed_by_author: Option<String>,
    /// Figures that others got, to stand beside those from here.
    pub published: Option<Published>,
    /// How its sizes were fitted to the host.
    pub scaled: Scaled,
    /// Whether a step that fails leaves the others be.
    pub continue_on_failure: bool,
    /// Files that it made and that could not be removed when it was over; tried again when the server starts.
    pub leftover_files: Vec<LeftoverFile>,
    /// Its steps in order.
    pub steps: Vec<StudyStep>,
}

/// One step of a study.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct StudyStep {
    /// Its place, from 1.
    pub step: u32,
    /// Its name.
    pub name: String,
    /// What it is there for.
    pub note: Option<String>,
    /// Its run; null when that was deleted.
    pub run: Option<RunSummary>,
    /// Where its I/O went, in a sentence; null until that is known.
    pub sentence: Option<String>,
    /// How much more (or less, below 0) I/Os a second it did than the first step that is done, in percent.
    pub iops_change_percent: Option<f64>,
}

/// An experiment that comes with the server.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Experiment {
    /// Its stable name, such as `003-readahead`.
    pub id: String,
    /// The study as `POST /studies` takes it.
    pub study: StudyDocument,
}
