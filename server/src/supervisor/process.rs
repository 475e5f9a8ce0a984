//! A runner process: a child that reads a run from stdin and writes one event per line. If it
//! crashes, the run fails; the server is not affected.

use crate::scheduler::outcome::RunnerExit;
use leadline_protocol::event::{Event, EventBody};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::{
    os::unix::process::ExitStatusExt,
    process::ExitStatus,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::{
    io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader},
    process::{Child, Command},
    sync::mpsc,
    task::JoinHandle,
    time::timeout,
};

/// Maximum size of an event, in bytes. A report of 64 jobs with full histograms is far smaller.
const MAX_LINE: u64 = 64 * 1024 * 1024;
/// Number of events to buffer for the journal. If the buffer is full, the runner's pipe fills up.
const MAX_UNREAD: usize = 256;
/// Number of bytes to keep from the end of stderr.
const STDERR_TAIL: usize = 8 * 1024;
/// Timeout for reading the remaining stderr output after the process exits. If another process
/// holds the pipe open, EOF never arrives.
const STDERR_TIMEOUT: Duration = Duration::from_millis(500);

/// An event, or the reason why a line is invalid.
pub(super) type EventResult = Result<Event, String>;

/// Kills the process when dropped.
pub(crate) struct RunnerProcess {
    child: Child,
    events: mpsc::Receiver<EventResult>,
    stderr: Arc<Mutex<Vec<u8>>>,
    stderr_task: Option<JoinHandle<()>>,
}

impl RunnerProcess {
    pub(super) fn spawn(command: &mut Command, run: &Value) -> std::io::Result<Self> {
        let mut child = command.spawn()?;
        write_stdin(&mut child, run);
        let (sender, events) = mpsc::channel(MAX_UNREAD);
        if let Some(stdout) = child.stdout.take() {
            tokio::spawn(forward_events(BufReader::new(stdout), sender));
        }
        let stderr = Arc::new(Mutex::new(Vec::new()));
        let pipe = child.stderr.take();
        let stderr_task = pipe.map(|pipe| tokio::spawn(keep_tail(pipe, stderr.clone())));
        Ok(Self {
            child,
            events,
            stderr,
            stderr_task,
        })
    }

    /// Returns the next event, or `None` after the last one. Cancel safe.
    pub(crate) async fn next_event(&mut self) -> Option<EventResult> {
        self.events.recv().await
    }

    /// Requests a stop. The runner then sends a report of the results so far.
    pub(crate) fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    pub(crate) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    /// Waits for the process to exit. Cancel safe.
    pub(crate) async fn wait(&mut self) -> RunnerExit {
        match self.child.wait().await {
            Ok(status) => runner_exit(status),
            Err(error) => RunnerExit::NotStarted(error.to_string()),
        }
    }

    /// Returns the last line of stderr, which is complete once the process has exited.
    pub(crate) async fn stderr_tail(&mut self) -> Option<String> {
        if let Some(task) = self.stderr_task.take() {
            let _ = timeout(STDERR_TIMEOUT, task).await;
        }
        let tail = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&tail)
            .lines()
            .map(str::trim)
            .rfind(|line| !line.is_empty())
            .map(str::to_owned)
    }

    fn signal(&self, signal: Signal) {
        // The kernel does not reuse the process ID until `wait` returns. After that, `id` is
        // `None`.
        let id = self.child.id();
        if let Some(pid) = id.and_then(|id| Pid::from_raw(id.cast_signed())) {
            let _ = kill_process(pid, signal);
        }
    }
}

/// Writes the input and closes the pipe. Ignores errors: a child that cannot read its input reports
/// the failure itself.
pub(super) fn write_stdin(child: &mut Child, input: &Value) {
    if let Some(mut stdin) = child.stdin.take() {
        let bytes = input.to_string().into_bytes();
        tokio::spawn(async move { stdin.write_all(&bytes).await });
    }
}

/// Forwards events until the end of the output or an invalid line.
async fn forward_events(mut stdout: impl AsyncBufRead + Unpin, sender: mpsc::Sender<EventResult>) {
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut limited = (&mut stdout).take(MAX_LINE);
        let event = match limited.read_until(b'\n', &mut line).await {
            Ok(0) => return,
            Ok(_) if line.ends_with(b"\n") => parse_event(&line),
            // The last line is incomplete because the runner was killed while writing it.
            Ok(read) if (read as u64) < MAX_LINE => return,
            Ok(_) => Err(format!("event longer than {MAX_LINE} bytes")),
            Err(error) => Err(format!("cannot read events: {error}")),
        };
        let is_last = event.is_err();
        if sender.send(event).await.is_err() || is_last {
            return;
        }
    }
}

fn parse_event(line: &[u8]) -> EventResult {
    let event: Event = serde_json::from_slice(line).map_err(|error| {
        let text = String::from_utf8_lossy(line);
        let start: String = text.trim_end().chars().take(200).collect();
        format!("invalid event ({error}): {start}")
    })?;
    match event.body {
        EventBody::Status(_) => Err("status events are reserved for the server".into()),
        _ => Ok(event),
    }
}

async fn keep_tail(mut stderr: impl AsyncRead + Unpin, tail: Arc<Mutex<Vec<u8>>>) {
    let mut buffer = [0; 1024];
    while let Ok(read @ 1..) = stderr.read(&mut buffer).await {
        let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        tail.extend_from_slice(&buffer[..read]);
        let excess = tail.len().saturating_sub(STDERR_TAIL);
        tail.drain(..excess);
    }
}

fn runner_exit(status: ExitStatus) -> RunnerExit {
    match status.signal() {
        Some(signal) => RunnerExit::Signal(signal),
        None => RunnerExit::Code(status.code().unwrap_or(-1)),
    }
}
