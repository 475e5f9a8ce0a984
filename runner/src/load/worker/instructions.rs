//! What an I/O costs the runner in instructions: the loop over `null`, single-stepped (ptrace(2)), so that neither clock nor
//! cache nor neighbour changes the figure. Likewise its returns across system calls, which cost more than they look
//! (`returns`). `instructions.json` keeps the counts by profile; one that grows by more than 5 % fails. To keep new ones: `cargo test -p leadline-runner --lib instructions -- --ignored`, the same with `--release`.
//!
//! Another compiler or processor family makes other code: there the test is skipped, aloud.

pub(crate) mod returns;
pub(crate) mod stepping;

use crate::load::engine::null::Null;
use crate::load::ledger::Ledger;
use crate::load::measure::{Loop, Source, Stop};
use crate::load::pace::Pace;
use crate::load::pattern::Pattern;
use crate::load::worker::{Paced, Unpaced};
use crate::plan::fixture::{resolved, same, target};
use crate::system::buffers::BufferPool;
use crate::system::clock::Virtual;
use crate::system::host::fixture::skip;
use leadline_protocol::job::value::BufferPages;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io;
use std::process::Command;
use std::sync::atomic::AtomicU64;

/// I/Os of a count: two rounds of what the loop draws at once. A step costs some 10 µs, so that more would only take longer.
const IOS: u64 = 128;
/// How much a count may grow, as a factor.
const GROWTH: f64 = 1.05;
const KEPT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/src/load/worker/instructions.json"
);

/// Instructions per I/O: profile → job → count.
#[derive(Default, Deserialize, Serialize)]
struct Counts {
    /// Compiler and processor family that they are of.
    compiler: String,
    profiles: BTreeMap<String, BTreeMap<String, f64>>,
}

/// The jobs that are counted.
fn jobs() -> Vec<(&'static str, u32, Value)> {
    let sequential = json!({"rw": "read"});
    let random = json!({"rw": "randread"});
    let mixed = json!({"rw": "randrw", "rwmixread": 70, "fsync": 32});
    let paced = json!({"rw": "randread", "rate_iops": same(&json!(1u64 << 40))});
    vec![
        ("read, depth 32", 32, sequential),
        ("randread, depth 1", 1, random.clone()),
        ("randread, depth 32", 32, random),
        ("randread, rate_iops, depth 32", 32, paced),
        ("randrw 70/30, fsync=32, depth 32", 32, mixed),
    ]
}

fn count(depth: u32, mut different: Value) -> io::Result<f64> {
    const MIB: u64 = 1 << 20;
    different["targets"] = json!([target(0, 256 * MIB)]);
    for (name, value) in [
        ("size", json!(256 * MIB)),
        ("io_size", json!(256 * MIB)),
        ("number_ios", json!(IOS)),
    ] {
        different[name] = value;
    }
    let job = resolved(different);
    let (pattern, ledger) = (Pattern::new(&job, 0), Ledger::default());
    match Pace::new(&job, 0) {
        None => count_loop(depth, Unpaced(pattern), &ledger),
        Some(pace) => count_loop(
            depth,
            Paced::new(pattern, pace, depth as usize, &ledger),
            &ledger,
        ),
    }
}

fn count_loop<S: Source>(depth: u32, source: S, ledger: &Ledger) -> io::Result<f64> {
    let pool = BufferPool::new(depth as usize, 1, BufferPages::Mmap)?;
    let mut work = Loop::new(
        Null::new(depth),
        Virtual::stepping(100),
        source,
        pool,
        None,
        1,
    );
    let all_done = || {
        matches!(
            work.run(&AtomicU64::new(u64::MAX), ledger),
            Ok(Stop::Finished)
        )
    };
    Ok(stepping::steps(all_done, |_| ())? as f64 / IOS as f64)
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
    let version = Command::new("rustc")
        .arg("--version")
        .output()
        .map(|output| output.stdout)
        .unwrap_or_default();
    format!(
        "{} {}",
        String::from_utf8_lossy(&version).trim(),
        std::env::consts::ARCH
    )
}

fn kept() -> Counts {
    serde_json::from_slice(&std::fs::read(KEPT).unwrap()).unwrap()
}

fn counted() -> io::Result<BTreeMap<String, f64>> {
    let instructions = jobs()
        .into_iter()
        .map(|(name, depth, different)| (name.to_owned(), count(depth, different)));
    instructions
        .chain(returns::counted())
        .map(|(name, count)| Ok((name, count?)))
        .collect()
}

#[test]
fn an_io_costs_no_more_instructions_than_before() {
    let kept = kept();
    let Some(before) = kept
        .profiles
        .get(profile())
        .filter(|_| kept.compiler == compiler())
    else {
        return skip(&format!(
            "instructions were counted with {}, and this is {} ({})",
            kept.compiler,
            compiler(),
            profile()
        ));
    };
    let now = match counted() {
        Ok(now) => now,
        Err(error) => return skip(&format!("nothing can be single-stepped here: {error}")),
    };
    let grown: Vec<String> = now
        .iter()
        .filter(|(job, count)| {
            before
                .get(*job)
                .is_none_or(|before| **count > before * GROWTH)
        })
        .map(|(job, count)| format!("{job}: {:.1} → {count:.1}", before.get(job).unwrap_or(&0.0)))
        .collect();
    assert!(
        grown.is_empty(),
        "instructions per I/O ({}) grew: {grown:?}",
        profile()
    );
}

#[test]
#[ignore = "keeps new counts: cargo test -p leadline-runner --lib instructions -- --ignored, and the same with --release"]
fn keep_what_an_io_costs_now() {
    let mut counts = kept();
    if counts.compiler != compiler() {
        counts = Counts {
            compiler: compiler(),
            ..Counts::default()
        };
    }
    let now = counted()
        .unwrap()
        .into_iter()
        .map(|(job, count)| (job, (count * 10.0).round() / 10.0))
        .collect();
    counts.profiles.insert(profile().into(), now);
    std::fs::write(KEPT, serde_json::to_string_pretty(&counts).unwrap() + "\n").unwrap();
}
