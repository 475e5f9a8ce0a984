//! Cases that try to mislead a verdict based on a sample of the I/Os: unequal workers, phases, very
//! few or very many I/Os, other programs that race with the job, and stacks whose layers change or
//! are hidden.

mod neighbors;
mod partial_pages;
mod reads;
mod stacked;
mod writes;

use crate::{
    case::{Case, Expected, Situation, Truth},
    reads::setup::{self, Prepared},
    writes::builders::{MIB, ios, reads_of, split},
};
use serde_json::Value;
use std::{
    any::Any,
    fs,
    path::Path,
    sync::{Arc, Mutex},
    thread::{JoinHandle, sleep, spawn},
    time::Duration,
};

pub(crate) fn cases() -> Vec<Case> {
    [
        reads::CASES,
        neighbors::CASES,
        partial_pages::CASES,
        writes::CASES,
        stacked::CASES,
    ]
    .concat()
}

/// Locks `length` bytes of a file in memory at every multiple of `period`.
fn lock_stripes(file: &Path, bytes: u64, period: u64, length: u64) -> Box<dyn Any> {
    let offsets = (0..bytes).step_by(period as usize);
    let locked: Vec<_> = offsets
        .map(|offset| setup::lock(file, offset, length))
        .collect();
    Box::new(locked)
}

/// Direct reads of at most a page each: those that did not reach the device were served from holes.
fn counted_holes(device: String) -> Expected {
    let before = reads_of(&device);
    Box::new(move |result| {
        let share = ((reads_of(&device) - before) as f64 / ios(result, "read")).min(1.0);
        vec![split("read", 0.0, 1.0 - share, share)]
    })
}

/// Independently counts the pages that the process itself read from storage, by polling
/// `read_bytes` in /proc/PID/io until the process exits. Valid for reads of one page each, without
/// readahead.
struct OwnReads(Arc<Mutex<u64>>);

impl OwnReads {
    /// Reads the program into the page cache first, so that loading it causes no reads from
    /// storage.
    fn new() -> Self {
        fs::read(env!("CARGO_BIN_EXE_leadline-runner")).unwrap();
        Self(Arc::default())
    }

    fn follow(&self, pid: u32) -> JoinHandle<()> {
        let last = Arc::clone(&self.0);
        let path = format!("/proc/{pid}/io");
        spawn(move || {
            set_realtime_priority();
            while let Some(bytes) = read_bytes(&path) {
                *last.lock().unwrap() = bytes;
                sleep(Duration::from_millis(1));
            }
        })
    }

    /// Starts polling the process, then performs the action.
    fn situation(
        self,
        job: Value,
        resources: Vec<Box<dyn Any>>,
        action: impl FnOnce() + 'static,
    ) -> Prepared {
        let last = Arc::clone(&self.0);
        let during_run = move |pid| {
            drop(self.follow(pid));
            action();
        };
        Ok(Situation {
            job,
            during_run: Some(Box::new(during_run)),
            truth: Box::new(move |result| vec![own_share(*last.lock().unwrap(), result)]),
            resources,
        })
    }
}

/// Gives the calling thread real-time priority so that it does not miss a process's exit.
fn set_realtime_priority() {
    let priority = libc::sched_param { sched_priority: 1 };
    // SAFETY: the parameter is valid; 0 is the calling thread.
    let result = unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const priority) };
    assert_eq!(result, 0);
}

fn own_share(bytes: u64, result: &Value) -> Truth {
    let share = ((bytes / setup::PAGE) as f64 / ios(result, "read")).min(1.0);
    split("read", 1.0 - share, 0.0, share)
}

fn read_bytes(path: &str) -> Option<u64> {
    let text = fs::read_to_string(path).ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("read_bytes: "));
    line?.parse().ok()
}

const KIB: u64 = MIB >> 10;
