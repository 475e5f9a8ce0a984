//! One invocation of the runner: a plan or a run.

use crate::scratch::program;
use serde_json::Value;
use std::{
    collections::BTreeSet,
    io::Write,
    path::PathBuf,
    process::{Child, Command, Output, Stdio},
};

/// Time limit of an invocation, in seconds. Opening a leased file blocks for 45 s if the guard does
/// not prevent it.
const LIMIT: &str = "5";

const ALLOWED: &str = "LEADLINE_ALLOW_RAW_WRITE";

/// Configuration of an invocation.
#[derive(Clone, Default)]
pub(crate) struct Runner {
    pub roots: Vec<PathBuf>,
    pub launcher: Vec<String>,
    /// Identities of devices that may be written to.
    pub allowed: Vec<String>,
}

/// Output of a plan or run.
#[derive(Debug)]
pub(crate) struct RunnerOutput {
    pub exit: i32,
    /// Codes of all problems, in order.
    pub codes: Vec<String>,
    /// The plan (`plan`), or the last event (`run`).
    pub json: Value,
    pub stderr: String,
}

impl RunnerOutput {
    fn new(output: &Output, json: Value) -> Self {
        let problems = json["problems"].as_array();
        let code = |problem: &Value| problem["code"].as_str().unwrap_or_default().to_string();
        Self {
            exit: output.status.code().unwrap_or(-1),
            codes: problems.into_iter().flatten().map(code).collect(),
            json,
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    pub(crate) fn code_set(&self) -> BTreeSet<&str> {
        self.codes.iter().map(String::as_str).collect()
    }

    pub(crate) fn has(&self, code: &str) -> bool {
        self.codes.iter().any(|found| found == code)
    }

    pub(crate) fn is_rejected(&self) -> bool {
        self.exit == 3
    }

    /// Confirmations that the plan requires, as `TEXT@CODE`.
    pub(crate) fn confirmations(&self) -> Vec<String> {
        let format_entry = |entry: &Value| {
            let part = |name: &str| entry[name].as_str().unwrap_or_default().to_string();
            format!("{}@{}", part("text"), part("code"))
        };
        let listed = self.json["confirmations"].as_array();
        listed.into_iter().flatten().map(format_entry).collect()
    }
}

impl std::fmt::Display for RunnerOutput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let codes = self.codes.join("+");
        match self.exit {
            124 | 137 | -1 => write!(f, "no result within {LIMIT} s"),
            exit => write!(f, "exit {exit} {codes}"),
        }
    }
}

impl Runner {
    pub(crate) fn under(root: PathBuf) -> Self {
        Self {
            roots: vec![root],
            ..Self::default()
        }
    }

    pub(crate) fn plan(&self, job: &Value) -> RunnerOutput {
        let output = self.call("plan", &["--json"], job);
        let json = serde_json::from_slice(&output.stdout).unwrap_or_default();
        RunnerOutput::new(&output, json)
    }

    pub(crate) fn run(&self, job: &Value, confirmations: &[String]) -> RunnerOutput {
        let confirm = confirmations.iter().flat_map(|text| ["--confirm", text]);
        let args: Vec<&str> = confirm.chain(["--events"]).collect();
        let output = self.call("run", &args, job);
        RunnerOutput::new(&output, last_event(&output))
    }

    /// Runs with the confirmations that the plan requires.
    pub(crate) fn run_confirmed(&self, job: &Value) -> RunnerOutput {
        self.run(job, &self.plan(job).confirmations())
    }

    fn call(&self, subcommand: &str, args: &[&str], job: &Value) -> Output {
        let mut child = self.start(subcommand, args);
        send(&mut child, job);
        child.wait_with_output().unwrap()
    }

    /// Starts the runner without sending its job.
    pub(crate) fn start(&self, subcommand: &str, args: &[&str]) -> Child {
        let mut command = self.command(subcommand, args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(Stdio::piped()).spawn().unwrap()
    }

    fn command(&self, subcommand: &str, args: &[&str]) -> Command {
        let program = program::runner().get_program().to_os_string();
        let mut command = Command::new("timeout");
        command.args(["--kill-after=1", LIMIT]);
        command
            .args(&self.launcher)
            .arg(program)
            .args([subcommand, "-"]);
        command.args(args);
        for root in &self.roots {
            command.arg("--target-root").arg(root);
        }
        command.env_remove(ALLOWED);
        if !self.allowed.is_empty() {
            command.env(ALLOWED, self.allowed.join(","));
        }
        command
    }
}

/// Sends the job to the runner, which may have exited already.
pub(crate) fn send(child: &mut Child, job: &Value) {
    let mut stdin = child.stdin.take().unwrap();
    let _ = stdin.write_all(job.to_string().as_bytes());
}

fn last_event(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    let last = text.lines().last().unwrap_or_default();
    serde_json::from_str(last).unwrap_or_default()
}
