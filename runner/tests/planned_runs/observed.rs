//! A plan, the subsequent run, and the files before and after each of them.

use crate::{
    files::{Case, Directory, Scene, Snapshot, snapshot},
    scratch::program::{runner, spawn_unconfirmed},
};
use leadline_protocol::{plan::Plan, problem::Problem, report::Report};
use serde_json::Value;
use std::{
    io::Read,
    mem::zeroed,
    path::Path,
    process::{Child, Command},
};

pub(crate) struct Observed {
    /// The plan with the run's confirmations.
    pub plan: Plan,
    /// Paths whose overwrite requires a confirmation.
    pub confirmed: Vec<String>,
    /// Exit code of the plan.
    pub plan_code: i32,
    pub run: Run,
    pub before: Snapshot,
    pub after_plan: Snapshot,
    pub after: Snapshot,
}

/// Events of a run.
#[derive(Default)]
pub(crate) struct Run {
    pub code: i32,
    /// Data of the `accepted` event.
    pub accepted: Option<Value>,
    pub report: Option<Report>,
    /// Codes of the findings.
    pub findings: Vec<String>,
    /// Problems reported by a failed run.
    pub problems: Vec<Problem>,
    pub peak_rss_bytes: u64,
    pub stderr: String,
}

impl Observed {
    pub(crate) fn new(case: &Case, scene: &Scene, seed: u64) -> Self {
        let directory = Directory::create(case, scene, seed);
        let document = directory.document(case);
        let before = snapshot(&directory.path);
        let (mut plan, mut plan_code) = plan(&document, &directory.path, &[]);
        let needed = plan.confirmations.iter();
        let confirmed = needed.map(|needed| needed.path.clone()).collect();
        let mut confirmations = Vec::new();
        if case.confirms && !plan.confirmations.is_empty() {
            let needed = plan.confirmations.iter();
            confirmations = needed
                .map(|needed| format!("{}@{}", needed.text, needed.code))
                .collect();
            (plan, plan_code) = self::plan(&document, &directory.path, &confirmations);
        }
        let after_plan = snapshot(&directory.path);
        let run = run(&document, &directory.path, &confirmations);
        Self {
            plan,
            confirmed,
            plan_code,
            run,
            before,
            after_plan,
            after: snapshot(&directory.path),
        }
    }
}

fn command(name: &str, output: &str, root: &Path, confirmations: &[String]) -> Command {
    let mut command = runner();
    command.args([name, "-", output, "--target-root"]).arg(root);
    for confirmation in confirmations {
        command.args(["--confirm", confirmation]);
    }
    command
}

fn plan(document: &Value, root: &Path, confirmations: &[String]) -> (Plan, i32) {
    let mut command = command("plan", "--json", root, confirmations);
    let output = spawn_unconfirmed(&mut command, document);
    let output = output.wait_with_output().unwrap();
    let plan = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {document} {output:?}"));
    (plan, output.status.code().unwrap())
}

fn run(document: &Value, root: &Path, confirmations: &[String]) -> Run {
    let mut command = command("run", "--events", root, confirmations);
    let mut child = spawn_unconfirmed(&mut command, document);
    let mut events = String::new();
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_to_string(&mut events).unwrap();
    let mut run = Run::default();
    let mut stderr = child.stderr.take().unwrap();
    stderr.read_to_string(&mut run.stderr).unwrap();
    (run.code, run.peak_rss_bytes) = wait(child);
    for line in events.lines() {
        run.add(serde_json::from_str(line).unwrap());
    }
    run
}

impl Run {
    fn add(&mut self, mut event: Value) {
        match event["type"].as_str().unwrap() {
            "accepted" => self.accepted = Some(event),
            "failed" => self.problems = serde_json::from_value(event["problems"].take()).unwrap(),
            "report" => {
                self.report = Some(serde_json::from_value(event["report"].take()).unwrap());
                let findings = event["findings"].as_array().unwrap().iter();
                let code = |finding: &Value| finding["code"].as_str().unwrap().to_owned();
                self.findings = findings.map(code).collect();
            }
            _ => {}
        }
    }
}

/// Exit code and peak resident memory in bytes.
fn wait(child: Child) -> (i32, u64) {
    let pid = i32::try_from(child.id()).unwrap();
    let mut status = 0;
    // SAFETY: all-zero bytes are a valid rusage.
    let mut usage: libc::rusage = unsafe { zeroed() };
    // SAFETY: both pointers are valid for writes, and the child has not been waited for.
    let waited = unsafe { libc::wait4(pid, &raw mut status, 0, &raw mut usage) };
    assert_eq!(waited, pid);
    assert!(libc::WIFEXITED(status), "status {status}");
    let peak_kib = u64::try_from(usage.ru_maxrss).unwrap();
    (libc::WEXITSTATUS(status), peak_kib << 10)
}
