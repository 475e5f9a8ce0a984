//! Where the runner spends its processor time: perf(1) takes stacks of its threads in the measured window, by the event
//! cpu-clock, which needs no hardware counters. perf is started before the clones, so that they inherit its events, and
//! switched on and off by its control pipe; its data stays in memory (memfd), so that no target's disk sees it.
//!
//! Only when asked for: 199 stacks a second and thread take some processor time, and folding them does afterwards.

use inferno::collapse::Collapse;
use inferno::collapse::perf::Folder;
use leadline_protocol::evidence::Profile;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::pipe::pipe;
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Stacks a second and thread: a prime, so that it does not beat with ticks.
const FREQUENCY_HZ: u32 = 199;
/// How long perf may take to begin or to obey.
const PATIENCE: Duration = Duration::from_secs(3);
/// The most that perf may keep in memory (0.1 MB a second and busy thread): there it ends itself, and the profile is of the time
/// before.
const MOST_DATA: &str = "512M";
/// The most lines of the folded form, and the most bytes: beyond, a flame graph has no pixel for them.
const MOST_LINES: usize = 20_000;
const MOST_BYTES: usize = 2 << 20;
/// The frame at the root of every stack.
const ROOT: &str = "leadline-runner";

/// perf at work.
#[derive(Debug)]
pub struct Profiler {
    perf: Child,
    control: File,
    answers: File,
    data: OwnedFd,
}

impl Profiler {
    /// Starts perf on this process, switched off.
    ///
    /// # Errors
    /// Why there will be no profile, and what to do about it.
    pub fn begin() -> Result<Self, String> {
        let system = |error: rustix::io::Errno| {
            format!("perf cannot be started: {}", std::io::Error::from(error))
        };
        let data = memfd_create("leadline-profile", MemfdFlags::empty()).map_err(system)?;
        // Not closed on exec: perf has them under the same numbers.
        let ((orders, control), (answers, acks)) =
            (pipe().map_err(system)?, pipe().map_err(system)?);
        let perf = Command::new("perf")
            .args([
                "record",
                "--quiet",
                "--event",
                "cpu-clock",
                "--freq",
                &FREQUENCY_HZ.to_string(),
                "--call-graph",
                "fp",
            ])
            .args(["--max-size", MOST_DATA])
            .args([
                "--delay",
                "-1",
                "--control",
                &format!("fd:{},{}", orders.as_raw_fd(), acks.as_raw_fd()),
            ])
            .args([
                "--pid",
                &std::process::id().to_string(),
                "--output",
                &place(&data),
            ])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| {
                format!("perf cannot be started: {error}. Install it (Debian: linux-perf)")
            })?;
        drop((orders, acks));
        let mut profiling = Self {
            perf,
            control: control.into(),
            answers: answers.into(),
            data,
        };
        if profiling.order("ping") {
            Ok(profiling)
        } else {
            Err(profiling.last_words())
        }
    }

    /// The window begins.
    pub fn start(&mut self) {
        self.order("enable");
    }

    /// The window ended.
    pub fn end(&mut self) {
        self.order("disable");
    }

    /// Whether perf obeyed in time.
    fn order(&mut self, order: &str) -> bool {
        let patience = Timespec {
            tv_sec: PATIENCE.as_secs() as i64,
            tv_nsec: 0,
        };
        let told = writeln!(self.control, "{order}").is_ok();
        let mut answer = [PollFd::new(&self.answers, PollFlags::IN)];
        // Its answer is `ack\n`; a perf that is gone hangs up.
        let came = told
            && poll(&mut answer, Some(&patience)).is_ok_and(|ready| ready > 0)
            && answer[0].revents().contains(PollFlags::IN);
        came && self
            .answers
            .read(&mut [0; 16])
            .is_ok_and(|length| length > 0)
    }

    fn stop(&mut self) {
        // Only a perf that was not waited for has its number for itself.
        let runs = matches!(self.perf.try_wait(), Ok(None));
        if let Some(pid) = Pid::from_raw(self.perf.id() as i32).filter(|_| runs) {
            let _ = kill_process(pid, Signal::INT);
        }
    }

    fn last_words(&mut self) -> String {
        self.stop();
        let mut said = String::new();
        if let Some(errors) = &mut self.perf.stderr {
            let _ = errors.read_to_string(&mut said);
        }
        let line = said
            .lines()
            .map(str::trim)
            .find(|line| !line.is_empty())
            .unwrap_or("it said nothing");
        format!("perf does not work here: {line} (kernel.perf_event_paranoid may forbid it)")
    }

    /// What was taken in the window.
    ///
    /// # Errors
    /// Why nothing can be made of it.
    pub fn finish(mut self) -> Result<Profile, String> {
        self.stop();
        let _ = self.perf.wait();
        let mut script = Command::new("perf")
            .args([
                "script",
                "--fields",
                "comm,pid,tid,time,event,ip,sym,dso",
                "--input",
                &place(&self.data),
            ])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("perf script: {error}"))?;
        let mut folded = Vec::new();
        let stacks = BufReader::new(script.stdout.take().ok_or("perf script says nothing")?);
        let collapsed = Folder::default()
            .collapse(stacks, &mut folded)
            .map_err(|error| format!("folding stacks: {error}"));
        let _ = script.wait();
        collapsed?;
        Ok(bounded(&String::from_utf8_lossy(&folded)))
    }
}

impl Drop for Profiler {
    fn drop(&mut self) {
        // Nobody wants its data any more. One that was waited for gets no signal.
        let _ = self.perf.kill();
        let _ = self.perf.wait();
    }
}

/// The path under which perf finds a descriptor of ours.
fn place(data: &OwnedFd) -> String {
    format!("/proc/{}/fd/{}", std::process::id(), data.as_raw_fd())
}

/// The most frequent stacks, as many as are kept, in order.
fn bounded(folded: &str) -> Profile {
    let stacks = stacks(folded);
    let mut lines: Vec<(u64, String)> = stacks
        .iter()
        .map(|(stack, count)| (*count, format!("{stack} {count}")))
        .collect();
    lines.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    lines.truncate(MOST_LINES);
    let mut room = MOST_BYTES;
    let fits = |(_, line): &&(u64, String)| {
        room.checked_sub(line.len() + 1)
            .inspect(|rest| room = *rest)
            .is_some()
    };
    let mut kept: Vec<&str> = lines
        .iter()
        .take_while(fits)
        .map(|(_, line)| line.as_str())
        .collect();
    kept.sort_unstable();
    let omitted_stacks = (stacks.len() - kept.len()) as u64;
    Profile {
        frequency_hz: FREQUENCY_HZ,
        samples: stacks.values().sum(),
        omitted_stacks,
        folded: kept.join("\n"),
    }
}

/// Each stack once. All threads are ours, and perf does not know the names of those that began while it was switched off: one
/// name stands at the root, so that two runs can be held against each other.
fn stacks(folded: &str) -> BTreeMap<String, u64> {
    let mut stacks = BTreeMap::new();
    for (stack, count) in folded.lines().filter_map(|line| line.rsplit_once(' ')) {
        let frames = stack.split_once(';').map_or("", |(_, frames)| frames);
        *stacks.entry(format!("{ROOT};{frames}")).or_default() += count.parse::<u64>().unwrap_or(0);
    }
    stacks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_one_and_the_most_frequent_stacks_are_kept() {
        let profile = bounded(":77;b 2\n:78;b 1\nleadline-runner;c 5\n");
        assert_eq!((profile.samples, profile.omitted_stacks), (8, 0));
        assert_eq!(profile.folded, "leadline-runner;b 3\nleadline-runner;c 5");
        let many: String = (0..MOST_LINES + 10)
            .map(|line| format!("comm;{line:06} {}\n", if line < 10 { 1 } else { 2 }))
            .collect();
        let profile = bounded(&many);
        assert_eq!(
            (profile.omitted_stacks, profile.folded.lines().count()),
            (10, MOST_LINES)
        );
        assert!(
            profile.folded.lines().all(|line| line.ends_with(" 2"))
                && profile.folded.len() <= MOST_BYTES
        );
        let long = format!("comm;{} 1\ncomm;short 9\n", "x".repeat(MOST_BYTES));
        assert_eq!(bounded(&long).folded, "leadline-runner;short 9");
    }
}
