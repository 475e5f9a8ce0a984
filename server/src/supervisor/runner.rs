//! Runs the runner program's commands.

use crate::{
    config::{ResolvedConfig, TOKEN_VARIABLES},
    error::RunnerError,
    supervisor::{
        process::{RunnerProcess, write_stdin},
        runner_lock,
    },
};
use leadline_protocol::{
    device::DeviceList,
    doctor::Doctor,
    host::HostFacts,
    import::{Import, ImportRequest},
    study::files::{CleanupResult, OwnedFiles},
};
use rustix::fs::{Access, access};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::{
    fs::File,
    os::unix::fs::MetadataExt,
    path::PathBuf,
    process::{Output, Stdio},
    sync::{Arc, OnceLock},
    time::Duration,
};
use tokio::{process::Command, sync::Semaphore, time::timeout};

/// Timeout for all commands except `run`. Long enough for disks that have to spin up.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(20);
/// Maximum number of concurrent commands. Web forms request plans while the user types; these must
/// not take CPU time from measurements.
const MAX_COMMANDS: usize = 2;

#[derive(Clone, Debug)]
pub(crate) struct Runner {
    program: PathBuf,
    target_roots: Vec<PathBuf>,
    /// Device and inode number of each target root when the server started. A directory that
    /// replaces a root is not accepted as that root.
    root_ids: Vec<String>,
    /// Identities of devices to which raw writes are permitted.
    raw_writes: Vec<String>,
    data_dir: PathBuf,
    commands: Arc<Semaphore>,
    /// Inherited by all runner processes.
    lock: Arc<OnceLock<File>>,
}

impl Runner {
    pub(crate) fn new(config: &ResolvedConfig) -> Self {
        Self {
            program: config.runner.clone(),
            target_roots: config.target_roots.clone(),
            root_ids: config.target_roots.iter().filter_map(root_id).collect(),
            raw_writes: config.raw_writes.clone(),
            data_dir: config.data_dir.clone(),
            commands: Arc::new(Semaphore::new(MAX_COMMANDS)),
            lock: Arc::default(),
        }
    }

    /// Whether the program exists and is executable.
    pub(crate) fn exists(&self) -> bool {
        access(&self.program, Access::EXEC_OK).is_ok()
    }

    /// Waits until the previous server's runners have exited.
    pub(crate) async fn wait_for_previous(&self) -> std::io::Result<()> {
        let lock = runner_lock::acquire(&self.data_dir).await?;
        // Sending fails only if this is called twice.
        let _ = self.lock.set(lock);
        Ok(())
    }

    /// Plans a run or a study. Problems are returned in the plan, not as errors.
    pub(crate) async fn plan<T: DeserializeOwned>(&self, input: &Value) -> Result<T, RunnerError> {
        let mut command = self.command("plan");
        self.read_json(command.args(["-", "--json"]), Some(input))
            .await
    }

    /// Parses jobs from text. Errors in the text are returned in the result.
    pub(crate) async fn import(&self, request: &ImportRequest) -> Result<Import, RunnerError> {
        let input =
            serde_json::to_value(request).map_err(|error| RunnerError(error.to_string()))?;
        self.read_json(&mut self.base_command("import"), Some(&input))
            .await
    }

    /// Removes leftover files of a study.
    pub(crate) async fn remove_leftovers(
        &self,
        owned: &OwnedFiles,
    ) -> Result<CleanupResult, RunnerError> {
        let input = serde_json::to_value(owned).map_err(|error| RunnerError(error.to_string()))?;
        self.read_json(&mut self.command("remove-leftovers"), Some(&input))
            .await
    }

    pub(crate) async fn devices(&self) -> Result<DeviceList, RunnerError> {
        self.read_json(self.command("devices").arg("--json"), None)
            .await
    }

    pub(crate) async fn doctor(&self) -> Result<Doctor, RunnerError> {
        let mut command = self.command("doctor");
        let command = command.arg("--json").arg("--data-dir").arg(&self.data_dir);
        self.read_json(command, None).await
    }

    pub(crate) async fn facts(&self) -> Result<HostFacts, RunnerError> {
        let mut command = self.base_command("host");
        self.read_json(command.arg("--json"), None).await
    }

    pub(crate) fn start(&self, run: &Value) -> Result<RunnerProcess, RunnerError> {
        let mut command = self.command("run");
        command.args(["-", "--events", "--stop-when-orphaned"]);
        RunnerProcess::spawn(&mut command, run)
            .map_err(|error| RunnerError(format!("{}: {error}", self.program.display())))
    }

    fn base_command(&self, verb: &str) -> Command {
        let mut command = Command::new(&self.program);
        command
            .arg(verb)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        // Passed to the runner so that it can detect that the database is on the disk under test.
        command.env("LEADLINE_DATA_DIR", &self.data_dir);
        for variable in TOKEN_VARIABLES {
            command.env_remove(variable);
        }
        // Ctrl-C in a terminal must reach only the server, which then stops its runners.
        command.process_group(0);
        command
    }

    /// Creates a command whose arguments include the permissions granted by the operator.
    fn command(&self, verb: &str) -> Command {
        let mut command = self.base_command(verb);
        for root in &self.target_roots {
            command.arg("--target-root").arg(root);
        }
        for id in &self.root_ids {
            command.arg("--target-root-id").arg(id);
        }
        for identity in &self.raw_writes {
            command.arg("--allow-raw-write").arg(identity);
        }
        command
    }

    /// Runs a command and parses its output.
    async fn read_json<T: DeserializeOwned>(
        &self,
        command: &mut Command,
        input: Option<&Value>,
    ) -> Result<T, RunnerError> {
        let program = self.program.display();
        let _permit = self.commands.acquire().await;
        let seconds = COMMAND_TIMEOUT.as_secs();
        let output = timeout(COMMAND_TIMEOUT, output(command, input))
            .await
            .map_err(|_| RunnerError(format!("{program} timed out after {seconds} s")))?
            .map_err(|error| RunnerError(format!("cannot start {program}: {error}")))?;
        serde_json::from_slice(&output.stdout)
            .map_err(|error| RunnerError(error_message(&output, &error)))
    }
}

/// `None` only if the directory has been removed since the server started.
fn root_id(root: &PathBuf) -> Option<String> {
    let found = std::fs::metadata(root).ok()?;
    Some(format!("{}:{}", found.dev(), found.ino()))
}

async fn output(command: &mut Command, input: Option<&Value>) -> std::io::Result<Output> {
    let mut child = command.spawn()?;
    if let Some(input) = input {
        write_stdin(&mut child, input);
    }
    child.wait_with_output().await
}

fn error_message(output: &Output, error: &serde_json::Error) -> String {
    let stderr = String::from_utf8_lossy(&output.stderr);
    match stderr.lines().rfind(|line| !line.trim().is_empty()) {
        Some(last) => format!("{last} ({})", output.status),
        None => format!("invalid output: {error} ({})", output.status),
    }
}
