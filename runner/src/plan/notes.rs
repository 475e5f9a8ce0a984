//! What is in the way and what to mind, gathered while the jobs are resolved, so that all of it is told at once.

use leadline_protocol::finding::{Finding, Severity};
use leadline_protocol::problem::{Problem, ProblemKind};
use serde_json::{Value, json};

/// The problems and findings so far, and the job they are about.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    job: usize,
    name: String,
    /// What is in the way.
    pub problems: Vec<Problem>,
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
    pub fn invalid(
        &mut self,
        code: &str,
        option: &str,
        sentence: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.refuse(Problem::invalid(code, option, sentence, remedy), option);
    }

    /// This host cannot do it.
    pub fn environment(
        &mut self,
        code: &str,
        option: &str,
        sentence: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.refuse(Problem::environment(code, option, sentence, remedy), option);
    }

    /// Somebody else's problem, about this option of the job.
    pub fn refuse(&mut self, problem: Problem, option: &str) {
        let problem = Problem {
            field: Some(format!("jobs[{}].{option}", self.job)),
            ..problem
        };
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    /// Whether some job is wrong as written, so that it cannot be shown as resolved.
    pub fn has_invalid(&self) -> bool {
        self.problems
            .iter()
            .any(|problem| problem.kind == ProblemKind::Invalid)
    }

    /// Something to mind; what is true of several jobs is told once, for the first.
    pub fn mind(
        &mut self,
        severity: Severity,
        code: &str,
        sentence: impl Into<String>,
        evidence: &[(&str, Value)],
        remedy: &str,
    ) {
        let sentence = sentence.into();
        if self
            .findings
            .iter()
            .any(|finding| finding.code == code && finding.sentence == sentence)
        {
            return;
        }
        let about = [("job".to_owned(), json!(self.name))];
        let numbers = evidence
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.clone()));
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
