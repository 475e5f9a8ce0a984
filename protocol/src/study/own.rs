//! The files that are a study's own: it makes them, and the last step that names them removes them. A study that ends
//! before that step leaves them behind; whoever conducts it then has them removed (`target::tidy`). Pure.

use crate::plan::resolved::TargetKind;
use crate::problem::Problem;
use crate::study::StudyPlan;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// What a study has of its own.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct OwnedFiles {
    /// The file_id of the study, which every path carries: what carries it was not there before.
    pub file_id: String,
    /// Canonical paths.
    pub files: Vec<String>,
}

/// What became of the files of a study's own.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct CleanupResult {
    /// Paths of those that were there and are gone.
    pub removed: Vec<String>,
    /// Those that are still there.
    pub left: Vec<LeftoverFile>,
}

/// A file that a study made and that is still there though the study is over.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct LeftoverFile {
    /// Its canonical path.
    pub path: String,
    /// Why it could not be removed; null until it was tried.
    pub reason: Option<Problem>,
}

impl StudyPlan {
    /// The files that the study is not to leave behind, however it ends.
    pub fn own(&self) -> OwnedFiles {
        let jobs = self.steps.iter().flat_map(|step| &step.plan.jobs);
        let targets =
            jobs.flat_map(|job| job.targets.iter().map(|target| (job.target.unlink, target)));
        let files = targets
            .filter(|(_, target)| matches!(target.kind, TargetKind::File | TargetKind::Loop));
        let last: BTreeMap<&str, bool> = files
            .map(|(unlink, target)| (target.path.as_str(), unlink))
            .collect();
        let is_own = |(path, unlink): &(&str, bool)| {
            *unlink && !self.file_id.is_empty() && path.contains(&self.file_id)
        };
        OwnedFiles {
            files: last
                .into_iter()
                .filter(is_own)
                .map(|(path, _)| path.to_owned())
                .collect(),
            file_id: self.file_id.clone(),
        }
    }
}
