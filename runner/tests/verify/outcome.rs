//! What a run reports about the verified blocks.

use super::{
    scratch::program,
    storage::{Damage, Injection},
};
use serde_json::Value;
use std::{collections::BTreeMap, path::Path};

pub(crate) struct Outcome {
    pub exit: Option<i32>,
    pub result: Value,
    pub stderr: String,
}

impl Outcome {
    pub(crate) fn of(job: &Value, args: &[&str]) -> Self {
        let output = program::run(job, &[&["--json"], args].concat());
        Self {
            exit: output.status.code(),
            result: serde_json::from_slice(&output.stdout).unwrap_or_default(),
            stderr: String::from_utf8_lossy(&output.stderr).into(),
        }
    }

    /// Returns the outcome of a run with a target below this root.
    pub(crate) fn in_root(job: &Value, root: &Path) -> Self {
        Self::of(job, &["--target-root", root.to_str().unwrap()])
    }

    pub(crate) fn verify(&self) -> &Value {
        &self.result["report"]["jobs"][0]["verify"]
    }

    pub(crate) fn number(&self, field: &str) -> u64 {
        self.verify()[field].as_u64().unwrap_or(u64::MAX)
    }

    /// Offset, kind and original offset of each reported block.
    pub(crate) fn failures(&self) -> BTreeMap<u64, (String, Option<u64>)> {
        let failures = self.verify()["failures"].as_array().cloned();
        failures
            .unwrap_or_default()
            .iter()
            .map(|failure| {
                let kind = failure["kind"].as_str().unwrap_or_default().to_owned();
                let offset = failure["offset"].as_u64().unwrap();
                (offset, (kind, failure["found_offset"].as_u64()))
            })
            .collect()
    }

    /// Describes how this outcome differs from that of a run without bad blocks.
    pub(crate) fn false_alarms(&self, min_checked: u64) -> Option<String> {
        let is_healthy = self.exit == Some(0)
            && self.number("bad_blocks") == 0
            && self.failures().is_empty()
            && self.verify()["not_run"].is_null()
            && self.number("checked_blocks") >= min_checked
            && self.number("checked_blocks") != u64::MAX;
        (!is_healthy).then(|| self.summary())
    }

    /// Describes how this outcome differs from the injected damage.
    pub(crate) fn differences(&self, injected: &BTreeMap<u64, Injection>) -> Vec<String> {
        let failures = self.failures();
        let mut differences = Vec::new();
        let exit = i32::from(!injected.is_empty());
        if self.exit != Some(exit) || self.number("bad_blocks") != injected.len() as u64 {
            let count = injected.len();
            differences.push(format!("{count} injected: {}", self.summary()));
        }
        for (offset, injection) in injected {
            let expected = (injection.damage.name().to_owned(), injection.found);
            let found = failures.get(offset);
            // The original offset is known only for misplaced blocks.
            let is_same = found.is_some_and(|found| {
                found.0 == expected.0
                    && (injection.damage != Damage::Misplaced || found.1 == expected.1)
            });
            if !is_same {
                differences.push(format!("{offset}: injected {expected:?}, found {found:?}"));
            }
        }
        for (offset, found) in &failures {
            if !injected.contains_key(offset) {
                differences.push(format!("{offset}: not damaged, found {found:?}"));
            }
        }
        differences
    }

    pub(crate) fn summary(&self) -> String {
        let mut verify = self.verify().clone();
        if let Some(failures) = verify["failures"].as_array_mut() {
            failures.truncate(2);
        }
        let exit = self.exit;
        let stderr: String = self.stderr.chars().take(400).collect();
        format!("exit {exit:?}, verify {verify}, {stderr}")
    }
}
