//! Findings: notes and warnings about plans and results.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// Shorter runs are dominated by startup effects: cold caches, boost clocks, and flash devices that
/// have not started garbage collection.
pub const SHORT_RUN_MS: u64 = 10_000;

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Finding {
    /// Stable identifier, such as `depth_not_reached`.
    pub code: String,
    pub severity: Severity,
    pub sentence: String,
    /// Numbers that support the finding.
    pub evidence: BTreeMap<String, Value>,
    pub remedy: String,
    /// Job options of a rerun that resolves the finding; a null value removes an option. Empty if
    /// an unchanged rerun resolves it. Null if no rerun does.
    #[serde(default)]
    pub patch: Option<BTreeMap<String, Value>>,
    /// Button label for the rerun; null if there is no `patch`.
    #[serde(default)]
    pub patch_label: Option<String>,
    /// Shell command that resolves the finding for later runs, for findings that no option
    /// resolves. It may require root privileges. Null if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    Note,
    /// The result may be misleading.
    Warning,
    /// The run did not measure what was requested.
    Serious,
}

impl Finding {
    /// `evidence` is a JSON object with numbers, or `None`.
    pub fn new(
        severity: Severity,
        code: &str,
        sentence: impl Into<String>,
        evidence: impl Into<Option<Value>>,
        remedy: &str,
    ) -> Self {
        Self {
            code: code.into(),
            severity,
            sentence: sentence.into(),
            evidence: evidence.into().map(properties).unwrap_or_default(),
            remedy: remedy.into(),
            patch: None,
            patch_label: None,
            command: None,
        }
    }

    /// Adds a shell command that resolves the finding.
    #[must_use]
    pub fn with_command(self, command: Option<String>) -> Self {
        Self { command, ..self }
    }

    /// Adds a rerun: its button label, and a JSON object with the options to change in every job.
    /// Returns `Some`, so that a check can return the result directly.
    pub fn with_rerun(self, (label, patch): (&str, Value)) -> Option<Self> {
        Some(Self {
            patch: Some(properties(patch)),
            patch_label: Some(label.into()),
            ..self
        })
    }
}

fn properties(object: Value) -> BTreeMap<String, Value> {
    let Value::Object(properties) = object else {
        unreachable!("{object} is not an object")
    };
    properties.into_iter().collect()
}
