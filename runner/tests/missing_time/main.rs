//! Storage that hangs, slows down and recovers at known times: the report must account for the
//! missing time. The storage is a FUSE filesystem in the test process, a loop device on that
//! filesystem, a frozen ext4, or a dm device in user-mode Linux.

mod controls;
mod device_mapper;
mod disks;
mod hangs;
mod latencies;
mod outcome;
mod recoveries;
#[path = "../scratch/mod.rs"]
mod scratch;
mod signals;
mod storage;

use scratch::program::with;
use serde_json::{Value, json};
use std::{path::Path, thread};
use storage::{Completion, HEALTHY, Io, Kind};

type Case = (&'static str, fn(&str));

fn run_all(cases: &[Case]) {
    let failed = failing(cases);
    let names: Vec<_> = failed.iter().map(|(name, _)| *name).collect();
    assert!(failed.is_empty(), "failed: {}", names.join(", "));
}

/// Runs the cases and returns those that failed. The cases mostly wait, so all of them run in
/// parallel, regardless of the number of CPUs.
fn failing(cases: &[Case]) -> Vec<Case> {
    thread::scope(|scope| {
        let started: Vec<_> = cases
            .iter()
            .map(|(name, case)| scope.spawn(move || case(name)))
            .collect();
        let ended = cases.iter().zip(started);
        ended
            .filter_map(|(case, thread)| thread.join().is_err().then_some(*case))
            .collect()
    })
}

/// Direct random reads of 4 KiB from a file of `LENGTH` bytes.
fn job(file: &Path, changes: Value) -> Value {
    let plain = json!({"name": "job", "filename": file, "size": LENGTH, "rw": "randread", "bs": "4k", "direct": 1,
        "time_based": 1});
    with(&plain, changes)
}

const LENGTH: u64 = 16 << 20;

/// A script in which I/Os that start `seconds` after the first one, or later, do not complete until
/// the test ends.
fn hang_from(seconds: f64) -> impl Fn(&Io) -> Completion {
    move |io| {
        if io.at.as_secs_f64() < seconds || io.kind == Kind::Unlink {
            Completion::After(HEALTHY)
        } else {
            Completion::Never
        }
    }
}
