//! Comparisons of the steps of a study that ends as soon as it is decided.

use crate::cli::compare::input::StoredGroup;
use leadline_compare::{group::Group, level::Level, looks};
use leadline_protocol::study::until_decided::{Look, PlannedLook, UntilDecided};
use serde::Deserialize;
use serde_json::Value;

/// Part of the document of a study.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub(crate) struct Sequential {
    until_decided: UntilDecided,
    looks: Vec<Look>,
}

impl Sequential {
    /// `None` if the study runs all repeats.
    pub(crate) fn of_study(document: &Value) -> Option<Self> {
        Self::deserialize(document).ok()
    }

    /// Excludes runs after the last look, and returns the level of the comparison.
    pub(crate) fn apply(&self, groups: &mut [Group]) -> Level {
        looks::apply(groups, &self.until_decided, &self.looks)
    }
}

/// Compares both steps of a study, whose document contains the runs so far.
pub(crate) fn look(document: &Value, until: &UntilDecided, planned: PlannedLook) -> Option<Look> {
    let a = StoredGroup::of_step(document, 1)?;
    let b = StoredGroup::of_step(document, 2)?;
    Some(looks::look(&[a.input(), b.input()], until, planned))
}
