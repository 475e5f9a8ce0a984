//! Compares the steps of a study that uses `until_decided`.

use leadline_compare::{group::Group, interim_looks, level::Level};
use leadline_protocol::study::until_decided::{Look, UntilDecided};
use serde::Deserialize;
use serde_json::Value;

/// The fields of a study document that describe interim looks.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub(crate) struct Sequential {
    until_decided: UntilDecided,
    looks: Vec<Look>,
}

impl Sequential {
    /// `None` if the study runs all repeats.
    pub(crate) fn from_study(document: &Value) -> Option<Self> {
        Self::deserialize(document).ok()
    }

    /// Excludes runs after the last look, and returns the comparison's confidence level.
    pub(crate) fn apply(&self, groups: &mut [Group]) -> Level {
        interim_looks::apply(groups, &self.until_decided, &self.looks)
    }
}
