//! Counts the loop's instructions per I/O with the `null` engine. The loop is single-stepped
//! (ptrace(2)), so the clock, caches and other processes do not affect the result. `returns` counts
//! function returns across system calls in the same way. `instructions.json` stores the counts by
//! profile; the test fails if a count grows by more than 5 %. To update them, run `cargo test -p
//! leadline-runner --lib instructions -- --ignored`, with and without `--release`.
//!
//! Skipped if the compiler or CPU architecture is different.

pub(crate) mod returns;
pub(crate) mod single_step;

use crate::{
    load::{
        engine::null::Null,
        measure::{Loop, exit::LoopExit},
        pattern::Pattern,
        rate::RateLimiter,
        source::{Source, Unlimited, rate_limited::RateLimited},
        stats::WorkerStats,
        worker::instructions::single_step::count_steps,
    },
    plan::fixture::{resolved, same, target},
    system::{buffers::BufferPool, clock::fixture::VirtualClock, host::fixture::skip},
};
use leadline_protocol::job::engine::BufferPages;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{collections::BTreeMap, io, process::Command, sync::atomic::AtomicU64};

/// Number of I/Os per count: two batches of the source. A step takes about 10 µs.
const IOS: u64 = 128;
/// Allowed growth of a count, as a factor.
const MAX_GROWTH: f64 = 1.05;
const STORED: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/src/load/worker/instructions.json"
);

#[derive(Default, Deserialize, Serialize)]
struct Counts {
    /// Compiler and architecture for which the counts were measured.
    compiler: String,
    /// Profile → job → instructions per I/O.
    profiles: BTreeMap<String, BTreeMap<String, f64>>,
}

impl Counts {
    fn load_stored() -> Self {
        serde_json::from_slice(&std::fs::read(STORED).unwrap()).unwrap()
    }
}

/// Names, depths and options of the measured jobs.
fn jobs() -> Vec<(&'static str, u32, Value)> {
    let random = json!({"rw": "randread"});
    let limited = json!({"rw": "randread", "rate_iops": same(&json!(1u64 << 40))});
    let mixed = json!({"rw": "randrw", "rwmixread": 70, "fsync": 32});
    vec![
        ("read, depth 32", 32, json!({"rw": "read"})),
        ("randread, depth 1", 1, random.clone()),
        ("randread, depth 32", 32, random),
        ("randread, rate_iops, depth 32", 32, limited),
        ("randrw 70/30, fsync=32, depth 32", 32, mixed),
    ]
}

fn count(depth: u32, mut options: Value) -> io::Result<f64> {
    const BYTES: u64 = 256 << 20;
    options["targets"] = json!([target(0, BYTES)]);
    options["size"] = json!(BYTES);
    options["io_size"] = json!(BYTES);
    options["number_ios"] = json!(IOS);
    let job = resolved(options);
    let stats = WorkerStats::default();
    let pattern = Pattern::new(&job, 0);
    match RateLimiter::new(&job, 0) {
        None => count_loop(depth, Unlimited(pattern), &stats),
        Some(limiter) => {
            let source = RateLimited::new(pattern, limiter, depth as usize, &stats);
            count_loop(depth, source, &stats)
        }
    }
}

fn count_loop<S: Source>(depth: u32, source: S, stats: &WorkerStats) -> io::Result<f64> {
    let engine = Null::new(depth);
    let pool = BufferPool::new(depth as usize, 1, BufferPages::Mmap)?;
    let mut work = Loop::new(engine, VirtualClock::stepping(100), source, pool, None, 1);
    let run = || {
        let exit = work.run(&AtomicU64::new(u64::MAX), stats);
        matches!(exit, Ok(LoopExit::Finished))
    };
    Ok(count_steps(run, |_| ())? as f64 / IOS as f64)
}

fn profile() -> &'static str {
    if cfg!(debug_assertions) {
        "dev"
    } else {
        "release"
    }
}

/// Such as `rustc 1.95.0 (59807616e 2026-04-14) x86_64`.
fn compiler() -> String {
    let version = Command::new("rustc").arg("--version").output();
    let version = version.map(|output| output.stdout).unwrap_or_default();
    let version = String::from_utf8_lossy(&version);
    format!("{} {}", version.trim(), std::env::consts::ARCH)
}

fn current() -> io::Result<BTreeMap<String, f64>> {
    let instructions = jobs()
        .into_iter()
        .map(|(name, depth, options)| (name.to_owned(), count(depth, options)));
    instructions
        .chain(returns::counts())
        .map(|(name, count)| Ok((name, count?)))
        .collect()
}

#[test]
fn instructions_per_io_do_not_grow() {
    let stored = Counts::load_stored();
    let compiler = compiler();
    let profile = profile();
    let is_same_compiler = stored.compiler == compiler;
    let Some(before) = stored.profiles.get(profile).filter(|_| is_same_compiler) else {
        let counted = stored.compiler;
        return skip(&format!(
            "stored counts were recorded with {counted}; this build uses {compiler} ({profile})"
        ));
    };
    let now = match current() {
        Ok(now) => now,
        Err(error) => return skip(&format!("cannot single-step here: {error}")),
    };
    let mut grown = Vec::new();
    for (job, count) in &now {
        let before = before.get(job).copied();
        if before.is_none_or(|before| *count > before * MAX_GROWTH) {
            grown.push(format!("{job}: {before:?} → {count:.1}"));
        }
    }
    assert!(
        grown.is_empty(),
        "instructions per I/O ({profile}): {grown:?}"
    );
}

#[test]
#[ignore = "stores new counts: cargo test -p leadline-runner --lib instructions -- --ignored, and the same with --release"]
fn store_instructions_per_io() {
    let mut counts = Counts::load_stored();
    let compiler = compiler();
    if counts.compiler != compiler {
        counts = Counts {
            compiler,
            ..Counts::default()
        };
    }
    let mut now = current().unwrap();
    for count in now.values_mut() {
        *count = (*count * 10.0).round() / 10.0;
    }
    counts.profiles.insert(profile().into(), now);
    let json = serde_json::to_string_pretty(&counts).unwrap();
    std::fs::write(STORED, json + "\n").unwrap();
}
