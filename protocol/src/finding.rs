use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// One thing a reader of the report must know.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Finding {
    /// Stable name for programs, such as `depth_not_reached`.
    pub code: String,
    /// How much it matters.
    pub severity: Severity,
    /// What it is, in one sentence.
    pub sentence: String,
    /// The numbers behind it.
    pub evidence: BTreeMap<String, Value>,
    /// What to do about it.
    pub remedy: String,
    /// The job options of a rerun that mends it, as in a job, where null takes one back; empty when the same job mends it; null when
    /// no option does.
    #[serde(default)]
    pub patch: Option<BTreeMap<String, Value>>,
    /// What the button of that rerun says; null likewise.
    #[serde(default)]
    pub patch_label: Option<String>,
}

/// How much a finding matters.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Good to know.
    Note,
    /// The number may mean something else than it seems to.
    Warning,
    /// The number does not mean what was asked.
    Serious,
}

impl Finding {
    /// A finding without a rerun.
    pub fn new(
        severity: Severity,
        code: &str,
        sentence: String,
        evidence: &[(&str, Value)],
        remedy: &str,
    ) -> Self {
        let evidence = evidence
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.clone()))
            .collect();
        Self {
            code: code.into(),
            severity,
            sentence,
            evidence,
            remedy: remedy.into(),
            patch: None,
            patch_label: None,
        }
    }

    /// Adds a rerun: the label of its button, and the options that change in every job.
    ///
    /// # Panics
    /// When `patch` is not a JSON object.
    pub fn with_rerun(self, (label, patch): (&str, Value)) -> Self {
        let Value::Object(options) = patch else {
            unreachable!("a patch is an object of job options")
        };
        Self {
            patch: Some(options.into_iter().collect()),
            patch_label: Some(label.into()),
            ..self
        }
    }
}
