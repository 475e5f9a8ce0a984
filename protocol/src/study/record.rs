//! The words of studies on the HTTP interface. What stands inside one (`StudyPlan`, `Published`, ...) is declared in the
//! runner and used as it is.

use crate::run::RunSummary;
use crate::study::Published;
use crate::study::document::StudyDocument;
use crate::study::own::LeftoverFile;
use crate::study::scaling::Scaled;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

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
