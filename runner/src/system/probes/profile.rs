//! CPU profile of the runner: perf(1) samples the stacks of its threads during the measured window
//! with the cpu-clock event, which needs no hardware counters. perf is started before the workers,
//! so they inherit its events, and is enabled and disabled through its control pipe. Its output
//! stays in memory (memfd) to avoid disk writes.
//!
//! Optional, because recording 199 stacks per second per thread, and folding them afterward, costs
//! CPU time.

use inferno::collapse::{
    Collapse,
    perf::{Folder, Options},
};
use leadline_protocol::evidence::Profile;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::{MemfdFlags, memfd_create},
    pipe::pipe,
    process::{Pid, Signal, kill_process},
};
use std::{
    cmp::Reverse,
    collections::BTreeMap,
    fs::File,
    io::{self, BufReader, Read, Write},
    os::fd::{AsRawFd, OwnedFd},
    process::{Child, Command, Stdio},
};

const EVENT: &str = "cpu-clock";
/// A prime number, so samples do not coincide with periodic work.
const FREQUENCY_HZ: u32 = 199;
/// Timeout for starting perf and for each control command.
const CONTROL_TIMEOUT: Timespec = Timespec {
    tv_sec: 3,
    tv_nsec: 0,
};
/// Maximum output of perf, which records 0.1 MB per second per busy thread. perf exits at the
/// limit, so the profile ends at that time.
const MAX_DATA: &str = "512M";
/// Size limits of the folded stacks. A flame graph cannot show more.
const MAX_LINES: usize = 20_000;
const MAX_BYTES: usize = 2 << 20;
/// Root frame of every stack.
const ROOT: &str = "leadline-runner";

/// A running perf process.
#[derive(Debug)]
pub(crate) struct Profiler {
    perf: Child,
    control: File,
    acks: File,
    data: OwnedFd,
}

impl Profiler {
    /// Starts perf on this process, with its events disabled.
    ///
    /// # Errors
    /// Returns why profiling is not possible, with a remedy.
    pub(crate) fn begin() -> Result<Self, String> {
        let mut profiler = Self::spawn().map_err(|error| {
            format!("perf cannot be started: {error}. Install it (Debian: linux-perf)")
        })?;
        if profiler.send("ping") {
            Ok(profiler)
        } else {
            Err(profiler.failure_message())
        }
    }

    fn spawn() -> io::Result<Self> {
        let data = memfd_create("leadline-profile", MemfdFlags::empty())?;
        // Without O_CLOEXEC, perf inherits both descriptors under the same numbers. The runner's
        // copies are closed on return, so the pipes close when perf exits.
        let (control_read, control) = pipe()?;
        let (acks, acks_write) = pipe()?;
        let arguments = format!(
            "record --quiet --event {EVENT} --freq {FREQUENCY_HZ} --call-graph fp --max-size {MAX_DATA} \
             --delay -1 --control fd:{},{} --pid {} --output {}",
            control_read.as_raw_fd(),
            acks_write.as_raw_fd(),
            std::process::id(),
            path_for_perf(&data)
        );
        Ok(Self {
            perf: perf(&arguments).stderr(Stdio::piped()).spawn()?,
            control: control.into(),
            acks: acks.into(),
            data,
        })
    }

    pub(crate) fn start(&mut self) {
        self.send("enable");
    }

    pub(crate) fn end(&mut self) {
        self.send("disable");
    }

    /// Sends a control command and waits for `ack\n`. Returns false after a timeout, or if perf has
    /// exited.
    fn send(&mut self, command: &str) -> bool {
        if writeln!(self.control, "{command}").is_err() {
            return false;
        }
        let mut ready = [PollFd::new(&self.acks, PollFlags::IN)];
        let has_ack = poll(&mut ready, Some(&CONTROL_TIMEOUT)).is_ok()
            && ready[0].revents().contains(PollFlags::IN);
        has_ack && matches!(self.acks.read(&mut [0; 16]), Ok(1..))
    }

    fn stop(&mut self) {
        // Once perf has been reaped, its process ID may be reused by another process.
        let is_running = matches!(self.perf.try_wait(), Ok(None));
        if let Some(pid) = Pid::from_raw(self.perf.id() as i32)
            && is_running
        {
            let _ = kill_process(pid, Signal::INT);
        }
    }

    fn failure_message(&mut self) -> String {
        self.stop();
        let mut stderr = String::new();
        if let Some(pipe) = &mut self.perf.stderr {
            let _ = pipe.read_to_string(&mut stderr);
        }
        let mut lines = stderr.lines().map(str::trim);
        let line = lines.find(|line| !line.is_empty()).unwrap_or("no message");
        format!("perf failed: {line} (kernel.perf_event_paranoid may prevent it)")
    }

    /// Stops perf, and folds the stacks of the window.
    ///
    /// # Errors
    /// Returns why there is no profile.
    pub(crate) fn finish(mut self) -> Result<Profile, String> {
        self.stop();
        let _ = self.perf.wait();
        let fields = "comm,pid,tid,time,event,ip,sym,dso";
        let data = path_for_perf(&self.data);
        let mut script = perf(&format!("script --fields {fields} --input {data}"))
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("perf script: {error}"))?;
        let stdout = script.stdout.take().ok_or("perf script has no output")?;
        let profile = fold(stdout);
        let _ = script.wait();
        profile.map_err(|error| format!("the stacks cannot be folded: {error}"))
    }
}

impl Drop for Profiler {
    fn drop(&mut self) {
        let _ = self.perf.kill();
        let _ = self.perf.wait();
    }
}

fn perf(arguments: &str) -> Command {
    let mut command = Command::new("perf");
    command
        .args(arguments.split_whitespace())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// Path through which perf can open one of this process's descriptors.
fn path_for_perf(data: &OwnedFd) -> String {
    format!("/proc/{}/fd/{}", std::process::id(), data.as_raw_fd())
}

/// Folds the output of `perf script`.
pub(crate) fn fold(script: impl Read) -> io::Result<Profile> {
    let mut options = Options::default();
    // Without this filter, inferno would require an event line before the first stack.
    options.event_filter = Some(EVENT.into());
    let mut folded = Vec::new();
    Folder::from(options).collapse(BufReader::new(Ascii(script)), &mut folded)?;
    Ok(most_frequent(&String::from_utf8_lossy(&folded)))
}

/// Replaces non-ASCII characters in thread and function names, because inferno truncates names at
/// fixed lengths, which panics in the middle of a character.
struct Ascii<R>(R);

impl<R: Read> Read for Ascii<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.0.read(buffer)?;
        for byte in buffer[..length].iter_mut().filter(|byte| !byte.is_ascii()) {
            *byte = b'?';
        }
        Ok(length)
    }
}

/// Keeps the most frequent stacks within the limits, sorted by name.
fn most_frequent(folded: &str) -> Profile {
    let stacks = merge_threads(folded);
    let mut by_count: Vec<(&String, &u64)> = stacks.iter().collect();
    by_count.sort_by_key(|(_, count)| Reverse(**count));
    let mut kept = Vec::new();
    let mut bytes = 0;
    for (stack, count) in by_count.into_iter().take(MAX_LINES) {
        let line = format!("{stack} {count}");
        bytes += line.len() + 1;
        if bytes > MAX_BYTES {
            break;
        }
        kept.push(line);
    }
    kept.sort_unstable();
    Profile {
        frequency_hz: FREQUENCY_HZ,
        samples: stacks
            .values()
            .fold(0, |sum, count| sum.saturating_add(*count)),
        omitted_stacks: (stacks.len() - kept.len()) as u64,
        folded: kept.join("\n"),
    }
}

/// Replaces the thread name at the root of each stack, so the profiles of two runs can be compared.
/// perf also lacks the names of threads that started while it was disabled.
fn merge_threads(folded: &str) -> BTreeMap<String, u64> {
    let mut stacks = BTreeMap::new();
    for (stack, count) in folded.lines().filter_map(|line| line.rsplit_once(' ')) {
        let frames = stack.split_once(';').map_or("", |(_, frames)| frames);
        let sum: &mut u64 = stacks.entry(format!("{ROOT};{frames}")).or_default();
        *sum = sum.saturating_add(count.parse().unwrap_or(0));
    }
    stacks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_are_folded() {
        let stack = |name: &str| {
            format!(
                " my job.0  1234/1235     5.123: cpu-clock: \n\t    7f01 {name} (/bin/runner)\n\t    7f00 main (/bin/runner)\n\n"
            )
        };
        let folded = |text: &str| fold(text.as_bytes()).unwrap().folded;
        let twice = folded(&[stack("read"), stack("read")].concat());
        assert_eq!(twice, "leadline-runner;main;read 2");
        assert_eq!(folded(""), "");
        // The output may start in the middle of a stack, and may contain arbitrary names.
        let after_end = folded(&format!("\n{}", stack("read")));
        assert_eq!(after_end, "leadline-runner;main;read 1");
        let name = format!("{}17h0123456789abcdef", "ä".repeat(9));
        assert!(folded(&stack(&name)).starts_with("leadline-runner;main;??"));
    }

    #[test]
    fn merges_threads_and_keeps_the_most_frequent_stacks() {
        let profile = most_frequent(":77;b 2\n:78;b 1\nleadline-runner;c 5\n");
        assert_eq!((profile.samples, profile.omitted_stacks), (8, 0));
        assert_eq!(profile.folded, "leadline-runner;b 3\nleadline-runner;c 5");
        let many: String = (0..MAX_LINES + 10)
            .map(|line| format!("comm;{line:06} {}\n", if line < 10 { 1 } else { 2 }))
            .collect();
        let profile = most_frequent(&many);
        assert_eq!(
            (profile.omitted_stacks, profile.folded.lines().count()),
            (10, MAX_LINES)
        );
        assert!(
            profile.folded.lines().all(|line| line.ends_with(" 2"))
                && profile.folded.len() <= MAX_BYTES
        );
        let long = format!("comm;{} 1\ncomm;short 9\n", "x".repeat(MAX_BYTES));
        assert_eq!(most_frequent(&long).folded, "leadline-runner;short 9");
    }
}
