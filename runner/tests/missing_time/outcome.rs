//! A run of the runner on storage that may hang, and what came of it.

use super::scratch::{self, program};
use serde_json::Value;
use std::{
    io::{BufRead, BufReader, Read},
    process::Child,
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

const LONGEST_RUN: Duration = Duration::from_secs(60);
const LONGEST_EXIT: Duration = Duration::from_secs(20);

pub(crate) struct Run {
    child: Child,
    lines: Receiver<(Instant, Value)>,
    stderr: Option<JoinHandle<String>>,
    events: Vec<(Instant, Value)>,
}

impl Run {
    pub(crate) fn start(job: &Value, args: &[&str]) -> Self {
        let mut child = program::start(job, &[&["--events"], args].concat());
        let (sender, lines) = channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let event = serde_json::from_str(&line).unwrap_or(Value::String(line));
                let _ = sender.send((Instant::now(), event));
            }
        });
        let mut stderr = child.stderr.take().unwrap();
        let stderr = thread::spawn(move || {
            let mut text = String::new();
            let _ = stderr.read_to_string(&mut text);
            text
        });
        Self {
            child,
            lines,
            stderr: Some(stderr),
            events: Vec::new(),
        }
    }

    /// Waits for an event; false at the end of the run.
    pub(crate) fn wait_for(&mut self, wanted: impl Fn(&Value) -> bool) -> bool {
        let limit = Instant::now() + LONGEST_RUN;
        loop {
            let wait = limit.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(wait) {
                Ok((at, event)) => {
                    let found = wanted(&event);
                    self.events.push((at, event));
                    if found {
                        return true;
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return false,
                Err(RecvTimeoutError::Timeout) => {
                    panic!("no such event in {LONGEST_RUN:?}: {:?}", self.events.last())
                }
            }
        }
    }

    pub(crate) fn wait_for_a_sample(&mut self) {
        assert!(self.wait_for(|event| event["type"] == "sample"), "no sample");
    }

    pub(crate) fn signal(&self, name: &str) -> Instant {
        scratch::run("kill", &["-s", name, &self.child.id().to_string()]).unwrap();
        Instant::now()
    }

    /// Waits for the report, then for the exit. The exit may take until the kernel returns the I/O,
    /// so `release` must end all hangs.
    pub(crate) fn finish(mut self, release: impl FnOnce()) -> Outcome {
        let last = self.wait_for(|event| ["report", "failed"].iter().any(|kind| event["type"] == *kind));
        release();
        let limit = Instant::now() + LONGEST_EXIT;
        let code = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status.code();
            }
            assert!(Instant::now() < limit, "the runner does not exit");
            thread::sleep(Duration::from_millis(10));
        };
        let stderr = self.stderr.take().unwrap().join().unwrap();
        let events = std::mem::take(&mut self.events);
        assert!(last, "no report, exit code {code:?}: {stderr}");
        Outcome {
            events,
            code,
            stderr,
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        // A process with hung I/O exits only after the release: not waited for.
        let _ = self.child.kill();
        let _ = self.child.try_wait();
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    /// Seconds since the start of the measured window.
    pub start: f64,
    pub seconds: f64,
}

pub(crate) struct Outcome {
    pub events: Vec<(Instant, Value)>,
    pub code: Option<i32>,
    pub stderr: String,
}

impl Outcome {
    /// The event with the result.
    pub(crate) fn result(&self) -> &Value {
        let result = &self.events.last().unwrap().1;
        assert_eq!(result["type"], "report", "{result} {}", self.stderr);
        result
    }

    pub(crate) fn report(&self) -> &Value {
        &self.result()["report"]
    }

    pub(crate) fn reported_at(&self) -> Instant {
        self.events.last().unwrap().0
    }

    pub(crate) fn job(&self, index: usize) -> &Value {
        &self.report()["jobs"][index]
    }

    /// Code and severity of each finding.
    pub(crate) fn findings(&self) -> Vec<(String, String)> {
        let findings = self.result()["findings"].as_array().unwrap();
        let text = |finding: &Value, field: &str| finding[field].as_str().unwrap().to_string();
        findings
            .iter()
            .map(|finding| (text(finding, "code"), text(finding, "severity")))
            .collect()
    }

    pub(crate) fn samples(&self) -> impl Iterator<Item = &(Instant, Value)> {
        self.events
            .iter()
            .filter(|(_, event)| event["type"] == "sample" && event["phase"] == "measure")
    }
}
