//! The only room that knows where a runner runs and how it is called: a child process that reads a run from standard
//! input and writes one event a line. Its death in any form is an outcome, never an error of the server.

use crate::scheduler::states::Exit;
use leadline_protocol::event::{Event, EventBody};
use leadline_protocol::host::{DeviceList, Doctor, HostFacts};
use leadline_protocol::plan::Plan;
use leadline_protocol::study::StudyPlan;
use leadline_protocol::study::own::{CleanupResult, OwnedFiles};
use rustix::process::{Pid, Signal};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Output, Stdio};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// How long a question (plan, devices, doctor, host) may take: a disk that must spin up answers within it.
const ANSWER: Duration = Duration::from_secs(20);
/// Questions that are asked at once: a page that plans at every key must not take the processors from a measurement.
const QUESTIONS: usize = 2;
/// The longest line of a runner: the report of 64 jobs with all its buckets stays far below.
const MAX_LINE: u64 = 64 * 1024 * 1024;
/// Events that may wait to be journaled before the runner's pipe fills up.
const AHEAD: usize = 256;
/// What is kept of the runner's messages: their end.
const MESSAGES: usize = 8 * 1024;

/// A runner that could not be asked, or gave no answer.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct RunnerError(String);

/// How the runner is called.
#[derive(Clone, Debug)]
pub struct Runner {
    program: PathBuf,
    target_roots: Vec<PathBuf>,
    data_dir: PathBuf,
    questions: Arc<Semaphore>,
    /// What is held together with all runners.
    kin: Arc<OnceLock<File>>,
}

impl Runner {
    /// The program at `program`, for targets under these roots.
    pub fn new(program: PathBuf, target_roots: Vec<PathBuf>, data_dir: PathBuf) -> Self {
        Self {
            program,
            target_roots,
            data_dir,
            questions: Arc::new(Semaphore::new(QUESTIONS)),
            kin: Arc::default(),
        }
    }

    /// Waits until the runners of the last server are gone. To be called before the first is started.
    ///
    /// # Errors
    /// It cannot be told.
    pub async fn wait_for_the_last(&self) -> std::io::Result<()> {
        let held = crate::supervisor::runner_lock::gather(&self.data_dir).await?;
        // Once: there is one server, and it recovers once.
        let _ = self.kin.set(held);
        Ok(())
    }

    /// Where the program is.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// What would happen; with problems, too.
    ///
    /// # Errors
    /// No plan came back.
    pub async fn plan(&self, run: &Value) -> Result<Plan, RunnerError> {
        self.answer(
            self.command("plan")
                .arg("-")
                .arg("--json")
                .args(self.roots()),
            Some(run),
        )
        .await
    }

    /// What a study would do; with problems, too.
    ///
    /// # Errors
    /// No plan came back.
    pub async fn plan_study(&self, document: &Value) -> Result<StudyPlan, RunnerError> {
        self.answer(
            self.command("plan")
                .arg("-")
                .arg("--json")
                .args(self.roots()),
            Some(document),
        )
        .await
    }

    /// Removes the files of a study's own.
    ///
    /// # Errors
    /// No answer came back; some may be gone.
    pub async fn tidy(&self, own: &OwnedFiles) -> Result<CleanupResult, RunnerError> {
        let own = serde_json::to_value(own).map_err(|error| RunnerError(error.to_string()))?;
        self.answer(self.command("tidy").args(self.roots()), Some(&own))
            .await
    }

    /// The block devices of the host.
    ///
    /// # Errors
    /// No list came back.
    pub async fn devices(&self) -> Result<DeviceList, RunnerError> {
        self.answer(
            self.command("devices").arg("--json").args(self.roots()),
            None,
        )
        .await
    }

    /// What the host can do.
    ///
    /// # Errors
    /// No answer came back.
    pub async fn doctor(&self) -> Result<Doctor, RunnerError> {
        let mut command = self.command("doctor");
        self.answer(
            command
                .arg("--json")
                .arg("--data-dir")
                .arg(&self.data_dir)
                .args(self.roots()),
            None,
        )
        .await
    }

    /// The host as found.
    ///
    /// # Errors
    /// No facts came back.
    pub async fn facts(&self) -> Result<HostFacts, RunnerError> {
        self.answer(self.command("host").arg("--json"), None).await
    }

    /// Starts a run.
    ///
    /// # Errors
    /// The program cannot be started.
    pub fn start(&self, run: &Value) -> std::io::Result<Running> {
        let mut command = self.command("run");
        command
            .args(["-", "--events", "--stop-when-orphaned"])
            .args(self.roots());
        let mut child = command.spawn()?;
        feed(&mut child, Some(run));
        let (tell, heard) = mpsc::channel(AHEAD);
        if let Some(stdout) = child.stdout.take() {
            tokio::spawn(hear(BufReader::new(stdout), tell));
        }
        let messages = Arc::new(Mutex::new(Vec::new()));
        let listening = child
            .stderr
            .take()
            .map(|stderr| tokio::spawn(keep_end(stderr, messages.clone())));
        Ok(Running {
            child,
            heard,
            messages,
            listening,
        })
    }

    fn command(&self, verb: &str) -> Command {
        let mut command = Command::new(&self.program);
        command
            .arg(verb)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        // So that the runner can say when results are written to the disk under test.
        command.env("LEADLINE_DATA_DIR", &self.data_dir);
        // Ctrl-C on the terminal is for the server, which stops its runners in order.
        command.process_group(0);
        command
    }

    fn roots(&self) -> impl Iterator<Item = &std::ffi::OsStr> {
        self.target_roots
            .iter()
            .flat_map(|root| ["--target-root".as_ref(), root.as_os_str()])
    }

    async fn answer<T: DeserializeOwned>(
        &self,
        command: &mut Command,
        input: Option<&Value>,
    ) -> Result<T, RunnerError> {
        let _turn = self
            .questions
            .acquire()
            .await
            .map_err(|error| RunnerError(error.to_string()))?;
        let output = timeout(ANSWER, ask(command, input)).await;
        let output = match output {
            Err(_) => {
                return Err(RunnerError(format!(
                    "{} gave no answer within {} s",
                    self.program.display(),
                    ANSWER.as_secs()
                )));
            }
            Ok(Err(error)) => {
                return Err(RunnerError(format!(
                    "{} cannot be started: {error}",
                    self.program.display()
                )));
            }
            Ok(Ok(output)) => output,
        };
        serde_json::from_slice(&output.stdout)
            .map_err(|error| RunnerError(no_answer(&output, &error)))
    }
}

async fn ask(command: &mut Command, input: Option<&Value>) -> std::io::Result<Output> {
    let mut child = command.spawn()?;
    feed(&mut child, input);
    child.wait_with_output().await
}

fn no_answer(output: &Output, error: &serde_json::Error) -> String {
    let messages = String::from_utf8_lossy(&output.stderr);
    match messages.lines().rfind(|line| !line.trim().is_empty()) {
        Some(last) => format!("{last} ({})", output.status),
        None => format!("what it wrote is no answer: {error} ({})", output.status),
    }
}

/// Hands the input over and closes it. A child that does not read it shows that by its exit.
fn feed(child: &mut Child, input: Option<&Value>) {
    let Some(mut stdin) = child.stdin.take() else {
        return;
    };
    let Some(bytes) = input.map(|input| input.to_string().into_bytes()) else {
        return;
    };
    tokio::spawn(async move { stdin.write_all(&bytes).await });
}

/// Reads events until the end, or until something else is said.
async fn hear(
    mut stdout: impl tokio::io::AsyncBufRead + Unpin,
    tell: mpsc::Sender<Result<Event, String>>,
) {
    let mut line = Vec::new();
    loop {
        line.clear();
        let heard = match (&mut stdout)
            .take(MAX_LINE)
            .read_until(b'\n', &mut line)
            .await
        {
            Ok(0) => return,
            Ok(_) if line.ends_with(b"\n") => understand(&line),
            // This is what a death in the middle of a line looks like; the exit tells the rest.
            Ok(read) if (read as u64) < MAX_LINE => return,
            Ok(_) => Err(format!("it told a line of more than {MAX_LINE} bytes")),
            Err(error) => Err(format!("its events cannot be read: {error}")),
        };
        let over = heard.is_err();
        if tell.send(heard).await.is_err() || over {
            return;
        }
    }
}

fn understand(line: &[u8]) -> Result<Event, String> {
    match serde_json::from_slice::<Event>(line) {
        Ok(Event {
            body: EventBody::Status(_),
            ..
        }) => Err("it told a status, which only the server may".into()),
        Ok(event) => Ok(event),
        Err(error) => {
            let shown: String = String::from_utf8_lossy(line).chars().take(200).collect();
            Err(format!(
                "it told what is no event ({error}): {}",
                shown.trim_end()
            ))
        }
    }
}

/// How long the end of what a runner wrote may take to be read: it lies in a pipe, unless somebody else holds it open.
const LAST_WORDS: Duration = Duration::from_millis(500);

async fn keep_end(mut stderr: impl AsyncRead + Unpin, messages: Arc<Mutex<Vec<u8>>>) {
    let mut buffer = [0; 1024];
    while let Ok(read @ 1..) = stderr.read(&mut buffer).await {
        let mut kept = messages.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&buffer[..read]);
        let excess = kept.len().saturating_sub(MESSAGES);
        kept.drain(..excess);
    }
}

/// A runner at work. Dropping it kills it.
pub struct Running {
    child: Child,
    heard: mpsc::Receiver<Result<Event, String>>,
    messages: Arc<Mutex<Vec<u8>>>,
    listening: Option<JoinHandle<()>>,
}

impl Running {
    /// The next event, what was wrong with what it said instead, or `None` when it says no more. May be dropped while
    /// it waits.
    pub async fn hear(&mut self) -> Option<Result<Event, String>> {
        self.heard.recv().await
    }

    /// Asks it to stop: it prints the report of what was measured until then.
    pub fn ask_to_stop(&self) {
        self.signal(Signal::TERM);
    }

    /// Ends it at once.
    pub fn kill(&self) {
        self.signal(Signal::KILL);
    }

    /// Waits until it is gone. May be dropped while it waits.
    pub async fn exit(&mut self) -> Exit {
        match self.child.wait().await {
            Ok(status) => exit_of(status),
            Err(error) => Exit::NotStarted(error.to_string()),
        }
    }

    /// The last line it wrote to standard error, if any. To be asked when it is gone: what it wrote is then read to the end.
    pub async fn last_words(&mut self) -> Option<String> {
        if let Some(listening) = self.listening.take() {
            let _ = timeout(LAST_WORDS, listening).await;
        }
        let kept = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&kept)
            .lines()
            .rfind(|line| !line.trim().is_empty())
            .map(|line| line.trim().to_owned())
    }

    fn signal(&self, signal: Signal) {
        // Its number is still its own: it is only given away once we have waited for it.
        if let Some(pid) = self
            .child
            .id()
            .and_then(|pid| Pid::from_raw(pid.cast_signed()))
        {
            let _ = rustix::process::kill_process(pid, signal);
        }
    }
}

fn exit_of(status: ExitStatus) -> Exit {
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, Some(signal)) => Exit::Signal(signal),
        (None, None) => Exit::Code(-1),
    }
}
