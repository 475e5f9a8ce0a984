//! Files that a study creates and removes. The last step that uses a file removes it. A study that
//! ends early requires a cleanup.

use crate::{plan::target::TargetKind, problem::Problem, study::plan::StudyPlan};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// Temporary files of a study.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct OwnedFiles {
    /// Part of every path, which proves that the files did not exist before the study.
    pub file_id: String,
    /// Canonical paths.
    pub files: Vec<String>,
}

#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct CleanupResult {
    /// Paths of removed files.
    pub removed: Vec<String>,
    pub left: Vec<LeftoverFile>,
}

/// A temporary file that still exists after its study ended.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct LeftoverFile {
    /// Canonical path.
    pub path: String,
    /// Why it could not be removed; null if this has not been attempted yet.
    pub reason: Option<Problem>,
}

impl StudyPlan {
    /// Files to remove after the study, regardless of its result.
    pub fn owned_files(&self) -> OwnedFiles {
        let mut removed_at_end: BTreeMap<&str, bool> = BTreeMap::new();
        for job in self.steps.iter().flat_map(|step| &step.plan.jobs) {
            for target in &job.targets {
                if matches!(target.kind, TargetKind::File | TargetKind::Loop) {
                    removed_at_end.insert(&target.path, job.target.unlink);
                }
            }
        }
        let is_owned = |(path, unlink): &(&str, bool)| {
            *unlink && !self.file_id.is_empty() && path.contains(&self.file_id)
        };
        OwnedFiles {
            file_id: self.file_id.clone(),
            files: removed_at_end
                .into_iter()
                .filter(is_owned)
                .map(|(path, _)| path.to_owned())
                .collect(),
        }
    }
}
