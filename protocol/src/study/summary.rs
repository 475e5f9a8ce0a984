//! Studies, as shown in lists.

use crate::{
    limits::{PageCursor, StudyLimit, Title},
    named_enum::named_enum,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

named_enum! {
    names: "snake_case";
    /// `queued → running → done | failed | cancelled | interrupted`. The first step that did not
    /// succeed determines the final status.
    pub enum StudyStatus {
        /// No run has started.
        Queued,
        /// At least one run has started.
        Running,
        /// All runs are done.
        Done,
        /// A run failed.
        Failed,
        /// Cancelled by a user.
        Cancelled,
        /// The server stopped during a run.
        Interrupted,
    }
}

impl StudyStatus {
    pub fn is_final(self) -> bool {
        !matches!(self, Self::Queued | Self::Running)
    }
}

/// A study in a list.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct StudySummary {
    /// Unique; never reused.
    pub number: u64,
    pub name: String,
    pub status: StudyStatus,
    /// Unix time in milliseconds.
    pub created_at_ms: u64,
    /// When the first run left the queue, as a Unix time in milliseconds.
    pub started_at_ms: Option<u64>,
    /// When the last run ended, as a Unix time in milliseconds.
    pub finished_at_ms: Option<u64>,
    pub steps_total: u32,
    /// Excludes steps that were not needed because the study was decided or its procedure ended.
    pub steps_ended: u32,
    /// Run numbers, in the order in which the runs are queued.
    pub runs: Vec<u64>,
    /// The first step that did not succeed, with the reason.
    pub reason: Option<String>,
}

/// Body of `PATCH /studies/{n}`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct StudyPatch {
    #[schema(value_type = Title)]
    pub name: String,
}

/// A study in a list whose stored data does not match its checksum, or cannot be read.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct DamagedStudy {
    pub number: u64,
    /// What is damaged, with a remedy.
    pub detail: String,
}

/// A page of studies.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct StudyList {
    /// Newest first.
    pub studies: Vec<StudySummary>,
    /// Studies of this page whose stored data is damaged, newest first.
    pub damaged: Vec<DamagedStudy>,
    /// Null on the last page.
    pub next_cursor: Option<String>,
    /// Number of studies across all pages.
    pub total: u64,
}

#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct StudyQuery {
    /// Page size, 1 to 100. Default: 50.
    #[param(value_type = Option<StudyLimit>)]
    pub limit: Option<u32>,
    /// `next_cursor` from the previous page.
    #[param(value_type = Option<PageCursor>)]
    pub cursor: Option<u64>,
}
