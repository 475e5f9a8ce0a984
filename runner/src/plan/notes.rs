//! What is in the way and what to mind, gathered while the jobs are resolved, so that all of it is told at once.

use serde_json::{Value, json};

use crate::refusal::{Refusal, RefusalKind};
use crate::report::{Finding, Severity};

/// The refusals and findings so far, and the job they are about.
#[derive(Debug, Default)]
pub(super) struct Notes {
    job: usize,
    name: String,
    /// What is in the way.
    pub refusals: Vec<Refusal>,
    /// What to mind.
    pub findings: Vec<Finding>,
}

impl Notes {
    /// From here on about this job.
    pub fn begin(&mut self, job: usize, name: &str) {
        self.job = job;
        self.name = name.into();
    }

    /// The job is wrong as written.
    pub fn invalid(&mut self, code: &str, option: &str, sentence: impl Into<String>, remedy: impl Into<String>) {
        self.refuse(Refusal::invalid(code, option, sentence, remedy), option);
    }

    /// This host cannot do it.
    pub fn environment(&mut self, code: &str, option: &str, sentence: impl Into<String>, remedy: impl Into<String>) {
        self.refuse(Refusal::environment(code, option, sentence, remedy), option);
    }

    /// Somebody else's refusal, about this option of the job.
    pub fn refuse(&mut self, refusal: Refusal, option: &str) {
        let refusal = Refusal { field: Some(format!("jobs[{}].{option}", self.job)), ..refusal };
        if !self.refusals.contains(&refusal) {
            self.refusals.push(refusal);
        }
    }

    /// Whether some job is wrong as written, so that it cannot be shown as resolved.
    pub fn has_invalid(&self) -> bool {
        self.refusals.iter().any(|refusal| refusal.kind == RefusalKind::Invalid)
    }

    /// Something to mind; what is true of several jobs is told once, for the first.
    pub fn mind(&mut self, severity: Severity, code: &str, sentence: impl Into<String>, evidence: &[(&str, Value)], remedy: &str) {
        let sentence = sentence.into();
        if self.findings.iter().any(|finding| finding.code == code && finding.sentence == sentence) {
            return;
        }
        let about = [("job".to_owned(), json!(self.name))];
        let numbers = evidence.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
        let evidence = about.into_iter().chain(numbers).collect();
        self.findings.push(Finding {
            code: code.into(),
            severity,
            sentence,
            evidence,
            remedy: remedy.into(),
            patch: None,
            patch_label: None,
        });
    }
}
