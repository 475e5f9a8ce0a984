//! Collects the problems and findings of a plan, so that all of them are reported together.

use leadline_protocol::{
    finding::{Finding, Severity},
    job::range::ValueRange,
    problem::{Problem, ProblemKind},
};
use serde_json::{Value, json};
use std::fmt::Display;

#[derive(Debug, Default)]
pub(crate) struct Issues {
    job: usize,
    job_name: String,
    pub problems: Vec<Problem>,
    pub findings: Vec<Finding>,
}

impl Issues {
    /// Sets the job to which subsequent problems and findings refer.
    pub(crate) fn begin_job(&mut self, index: usize, name: &str) {
        self.job = index;
        self.job_name = name.into();
    }

    pub(crate) fn invalid(
        &mut self,
        code: &str,
        option: &str,
        detail: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.problem(Problem::invalid(code, option, detail, remedy), option);
    }

    pub(crate) fn environment(
        &mut self,
        code: &str,
        option: &str,
        detail: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.problem(Problem::environment(code, option, detail, remedy), option);
    }

    pub(crate) fn check_range<T: Copy + Display + Into<i128>>(
        &mut self,
        option: &str,
        value: T,
        range: ValueRange,
    ) {
        if !range.contains(value) {
            let detail = format!("{option} must be between {} and {}.", range.min, range.max);
            let remedy = format!("Change {option}={value}.");
            self.invalid("out_of_range", option, detail, remedy);
        }
    }

    /// Adds a problem about an option of the current job, unless it is already listed.
    pub(crate) fn problem(&mut self, mut problem: Problem, option: &str) {
        problem.field = Some(format!("jobs[{}].{option}", self.job));
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    /// Adds a problem about the whole run.
    pub(crate) fn run_problem(&mut self, problem: Problem) {
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    pub(crate) fn has_invalid(&self) -> bool {
        self.problems
            .iter()
            .any(|problem| problem.kind == ProblemKind::Invalid)
    }

    /// Adds a finding about the current job. If multiple jobs have the same finding, only the first
    /// is listed.
    pub(crate) fn finding(
        &mut self,
        severity: Severity,
        code: &str,
        sentence: impl Into<String>,
        evidence: impl Into<Option<Value>>,
        remedy: &str,
    ) {
        let mut finding = Finding::new(severity, code, sentence, evidence, remedy);
        let is_same =
            |listed: &Finding| listed.code == finding.code && listed.sentence == finding.sentence;
        if !self.findings.iter().any(is_same) {
            finding.evidence.insert("job".into(), json!(self.job_name));
            self.findings.push(finding);
        }
    }
}
