//! The files that are a study's own: it makes them, and the last step that names them removes them. A study that ends
//! before that step leaves them behind; whoever conducts it then has them removed (`target::tidy`). Pure.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::StudyPlan;
use crate::plan::TargetKind;
use crate::refusal::Refusal;

/// What a study has of its own.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Own {
    /// The mark of the study, which every path carries: what carries it was not there before.
    pub mark: String,
    /// Canonical paths.
    pub files: Vec<String>,
}

/// What became of the files of a study's own.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Tidied {
    /// Paths of those that were there and are gone.
    pub removed: Vec<String>,
    /// Those that are still there.
    pub left: Vec<LeftBehind>,
}

/// A file that a study made and that is still there though the study is over.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct LeftBehind {
    /// Its canonical path.
    pub path: String,
    /// Why it could not be removed; null until it was tried.
    pub reason: Option<Refusal>,
}

impl StudyPlan {
    /// The files that the study is not to leave behind, however it ends.
    pub fn own(&self) -> Own {
        let jobs = self.steps.iter().flat_map(|step| &step.plan.jobs);
        let targets = jobs.flat_map(|job| job.targets.iter().map(|target| (job.unlink, target)));
        let files = targets.filter(|(_, target)| matches!(target.kind, TargetKind::File | TargetKind::Loop));
        let last: BTreeMap<&str, bool> = files.map(|(unlink, target)| (target.path.as_str(), unlink)).collect();
        let is_own = |(path, unlink): &(&str, bool)| *unlink && !self.mark.is_empty() && path.contains(&self.mark);
        Own { files: last.into_iter().filter(is_own).map(|(path, _)| path.to_owned()).collect(), mark: self.mark.clone() }
    }
}
