//! A run on storage that may hang, and what it reports.

use super::scratch::{self, program, uml};
use serde_json::Value;
use std::{
    fmt::Debug,
    io::{BufRead, BufReader, Read},
    ops::{Range, RangeInclusive},
    process::Child,
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

const RUN_TIMEOUT: Duration = Duration::from_secs(30);
const EXIT_TIMEOUT: Duration = Duration::from_secs(20);

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

    /// Waits for an event; returns false at the end of the run.
    pub(crate) fn wait_for(&mut self, predicate: impl Fn(&Value) -> bool) -> bool {
        let limit = Instant::now() + RUN_TIMEOUT;
        loop {
            let wait = limit.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(wait) {
                Ok((at, event)) => {
                    let found = predicate(&event);
                    self.events.push((at, event));
                    if found {
                        return true;
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return false,
                Err(RecvTimeoutError::Timeout) => {
                    panic!(
                        "no matching event within {RUN_TIMEOUT:?}: {:?}",
                        self.events.last()
                    )
                }
            }
        }
    }

    pub(crate) fn wait_for_a_sample(&mut self) {
        assert!(
            self.wait_for(|event| event["type"] == "sample"),
            "no sample"
        );
    }

    pub(crate) fn signal(&self, name: &str) -> Instant {
        scratch::run("kill", &["-s", name, &self.child.id().to_string()]).unwrap();
        Instant::now()
    }

    /// Waits for the report, then for the process to exit. Before that, `release` must end all
    /// hangs, because the process may not exit until the kernel completes its I/O.
    pub(crate) fn finish(mut self, release: impl FnOnce()) -> Outcome {
        let has_ended = self.wait_for(|event| {
            ["report", "failed"]
                .iter()
                .any(|kind| event["type"] == *kind)
        });
        release();
        let limit = Instant::now() + EXIT_TIMEOUT;
        let code = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status.code();
            }
            assert!(Instant::now() < limit, "the runner did not exit");
            thread::sleep(Duration::from_millis(10));
        };
        let stderr = self.stderr.take().unwrap().join().unwrap();
        let events = std::mem::take(&mut self.events);
        assert!(has_ended, "no report, exit code {code:?}: {stderr}");
        Outcome {
            events,
            code,
            stderr,
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        // Do not wait for the process: with hung I/O, it exits only after the storage is released.
        let _ = self.child.kill();
        let _ = self.child.try_wait();
    }
}

/// A stall.
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

pub(crate) fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

impl Outcome {
    /// The `report` event.
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

    /// Time of the first event.
    pub(crate) fn started_at(&self) -> Instant {
        self.events[0].0
    }

    pub(crate) fn job(&self, index: usize) -> &Value {
        &self.report()["jobs"][index]
    }

    /// Start of the measured window in ms.
    pub(crate) fn measure_start(&self) -> f64 {
        let phases = self.report()["phases"].as_array().unwrap();
        let measure = phases.iter().find(|phase| phase["phase"] == "measure");
        number(&measure.unwrap()["start_ms"])
    }

    pub(crate) fn stalls(&self, job: usize) -> Vec<Span> {
        let start = self.measure_start();
        let spans = self.job(job)["stalls"]["spans"].as_array().unwrap();
        spans
            .iter()
            .map(|span| Span {
                start: (number(&span["start_ms"]) - start) / 1e3,
                seconds: number(&span["duration_ms"]) / 1e3,
            })
            .collect()
    }

    pub(crate) fn pauses(&self) -> Vec<&Value> {
        self.report()["pauses"].as_array().unwrap().iter().collect()
    }

    /// Severity of a finding.
    pub(crate) fn finding(&self, code: &str) -> Option<&str> {
        let findings = self.result()["findings"].as_array().unwrap();
        let found = findings.iter().find(|finding| finding["code"] == code);
        found.and_then(|finding| finding["severity"].as_str())
    }

    pub(crate) fn samples(&self) -> Vec<&(Instant, Value)> {
        self.events
            .iter()
            .filter(|(_, event)| event["type"] == "sample" && event["phase"] == "measure")
            .collect()
    }

    /// Values related to missing time, for failure messages.
    fn summary(&self) -> String {
        let report = self.report();
        let latencies = |direction: &str| {
            let stats = &report[direction];
            format!(
                "{direction}: ios {}, unfinished {}, min {}, max {}, at_least {}, percentiles {}",
                stats["ios"],
                stats["unfinished"],
                stats["lat_ns"]["min"],
                stats["lat_ns"]["max"],
                stats["lat_ns"]["at_least"],
                stats["lat_ns"]["percentiles"]
            )
        };
        let jobs = report["jobs"].as_array().unwrap();
        let stalls: Vec<_> = jobs.iter().map(|job| job["stalls"].to_string()).collect();
        let findings = self.result()["findings"].as_array().unwrap();
        let codes: Vec<_> = findings
            .iter()
            .map(|finding| finding["code"].to_string())
            .collect();
        format!(
            "exit {:?}, window {} ms from {} ms, stalls {}, pauses {}, findings {}\n{}\n{}\nsync: {}\n{}",
            self.code,
            report["duration_ms"],
            self.measure_start(),
            stalls.join(" "),
            report["pauses"],
            codes.join(" "),
            latencies("read"),
            latencies("write"),
            report["sync"]["unfinished"],
            self.stderr
        )
    }
}

/// Expectations about an outcome. On drop, panics with all unmet expectations and the observed
/// values.
pub(crate) struct Claims<'a> {
    case: &'a str,
    outcome: &'a Outcome,
    wrong: Vec<String>,
}

impl<'a> Claims<'a> {
    pub(crate) fn about(case: &'a str, outcome: &'a Outcome) -> Self {
        Self {
            case,
            outcome,
            wrong: Vec::new(),
        }
    }

    pub(crate) fn equal<T: PartialEq + Debug>(&mut self, name: &str, found: T, expected: T) {
        if found != expected {
            let message = format!("{name} is {found:?}, expected {expected:?}");
            self.wrong.push(message);
        }
    }

    /// For values such as times in seconds and counts.
    pub(crate) fn within(&mut self, name: &str, found: f64, range: RangeInclusive<f64>) {
        let slack = if uml::is_inside() { UML_SLACK } else { 0.0 };
        let range = range.start() - slack..=range.end() + slack;
        if !range.contains(&found) {
            self.wrong
                .push(format!("{name} is {found}, expected {range:?}"));
        }
    }

    pub(crate) fn holds(&mut self, name: &str, holds: bool) {
        if !holds {
            self.wrong.push(format!("false: {name}"));
        }
    }

    /// The run failed because of its stalls.
    pub(crate) fn failed(&mut self) {
        self.equal("exit code", self.outcome.code, Some(1));
        self.equal("stalled", self.outcome.finding("stalled"), Some("serious"));
    }

    /// The storage recovered before the stalls were long enough to fail the run.
    pub(crate) fn warned(&mut self) {
        self.equal("exit code", self.outcome.code, Some(0));
        self.equal("stalled", self.outcome.finding("stalled"), Some("warning"));
    }

    /// The run is healthy: no job was stalled.
    pub(crate) fn healthy(&mut self) {
        self.equal("exit code", self.outcome.code, Some(0));
        self.equal("stalled", self.outcome.finding("stalled"), None);
        for job in self.outcome.report()["jobs"].as_array().unwrap() {
            self.no_stall(job);
        }
    }

    pub(crate) fn no_stall(&mut self, job: &Value) {
        let stalls = &job["stalls"];
        let found = (
            stalls["count"].as_u64(),
            number(&stalls["total_ms"]),
            number(&stalls["share"]),
            stalls["spans"].as_array().map(Vec::len),
        );
        self.equal("stalls", found, (Some(0), 0.0, 0.0, Some(0)));
    }

    /// A job was stalled exactly once, during `hang`. Times are in seconds since the start of a
    /// measured window of `window` seconds.
    pub(crate) fn one_stall(&mut self, job: usize, hang: Range<f64>, window: f64) {
        let stalls = &self.outcome.job(job)["stalls"];
        let seconds = hang.end - hang.start;
        self.equal("number of stalls", stalls["count"].as_u64(), Some(1));
        let total = number(&stalls["total_ms"]) / 1e3;
        self.within("stalled seconds", total, seconds - EARLY..=seconds + LATE);
        self.equal("longest_ms", &stalls["longest_ms"], &stalls["total_ms"]);
        self.within(
            "share",
            number(&stalls["share"]),
            total / window - 0.03..=total / window + 0.03,
        );
        for span in self.outcome.stalls(job) {
            self.within(
                "start of the stall",
                span.start,
                hang.start - LATE..=hang.start + EARLY,
            );
            let end = span.start + span.seconds;
            self.within("end of the stall", end, hang.end - EARLY..=hang.end + LATE);
        }
        self.equal("spans", self.outcome.stalls(job).len(), 1);
    }

    /// `ios` I/Os of a direction were in flight at the end. The oldest one was `seconds` old.
    pub(crate) fn unfinished(&mut self, stats: &Value, ios: u64, seconds: f64) {
        let unfinished = &stats["unfinished"];
        self.equal("unfinished ios", unfinished["ios"].as_u64(), Some(ios));
        let oldest = number(&unfinished["oldest_ns"]) / 1e9;
        self.within("age", oldest, seconds - EARLY..=seconds + LATE);
        let latency = &stats["lat_ns"];
        let max = number(&latency["max"]) / 1e9;
        self.within("max", max, oldest - 1e-6..=oldest + LATE);
        self.holds(
            "max is a lower bound",
            lower_bounds(latency).contains(&"max"),
        );
    }

    /// During the hang, samples arrive at the sample interval and their `silent_ms` increases.
    pub(crate) fn silence_is_shown(&mut self, first_io: Instant, hang: Range<f64>) {
        let all: Vec<(f64, f64)> = self
            .outcome
            .samples()
            .into_iter()
            .map(|(at, sample)| {
                let at = at.saturating_duration_since(first_io).as_secs_f64();
                (at, number(&sample["silent_ms"]) / 1e3)
            })
            .collect();
        let (from, to) = (hang.start + EARLY, hang.end - 0.05);
        let silent: Vec<_> = all
            .iter()
            .filter(|(at, _)| (from..to).contains(at))
            .collect();
        let min = (to - from) / 0.2;
        self.within(
            "samples during the hang",
            silent.len() as f64,
            min..=f64::MAX,
        );
        for pair in silent.windows(2) {
            let ((before, shorter), (after, longer)) = (pair[0], pair[1]);
            self.within("interval between samples", after - before, 0.0..=0.6);
            let name = format!("silent_ms grows from {shorter} to {longer} at {after}");
            self.holds(&name, longer > shorter);
        }
        for (at, seconds) in silent {
            let expected = at - hang.start;
            self.within(
                "silent_ms",
                *seconds,
                expected - EARLY - LATE..=expected + LATE,
            );
        }
    }
}

/// A stall may be reported up to two sample intervals too short, and the host may be busy.
pub(crate) const EARLY: f64 = 0.3;
pub(crate) const LATE: f64 = 0.15;

/// UML has only one CPU, which it shares with the host's programs.
const UML_SLACK: f64 = 0.5;

/// Names of the latency values that are lower bounds.
pub(crate) fn lower_bounds(latency: &Value) -> Vec<&str> {
    let names = latency["at_least"].as_array();
    names.map_or(Vec::new(), |names| {
        names.iter().filter_map(Value::as_str).collect()
    })
}

impl Drop for Claims<'_> {
    fn drop(&mut self) {
        if !self.wrong.is_empty() && !thread::panicking() {
            let wrong = self.wrong.join("\n  ");
            panic!("{}:\n  {wrong}\n{}", self.case, self.outcome.summary());
        }
    }
}
