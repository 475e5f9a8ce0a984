//! The steps of a test, as documents that are parsed like submitted steps.

use crate::{
    study::snia::{
        PRECONDITIONING_PASSES, SATURATION_PASSES, SniaRun, SniaTest, SniaTestName, cell_name,
    },
    units,
};
use serde_json::{Map, Value, json};

/// Size of the BLKDISCARD requests, which the kernel splits as needed.
const DISCARD_BLOCK: &str = "1m";

/// Returns the document of each run. `base`: the job of the study's step.
pub(crate) fn documents(test: &SniaTest, base: &Map<String, Value>) -> Vec<Value> {
    // Only the last run removes the file. If the study ends earlier, the cleanup removes it.
    let mut kept = base.clone();
    kept.shift_remove("unlink");
    let runs = test.runs();
    let last = runs.len().saturating_sub(1);
    let runs = runs.into_iter().enumerate();
    runs.map(|(index, run)| document(test, run, if index == last { base } else { &kept }))
        .collect()
}

fn document(test: &SniaTest, run: SniaRun, base: &Map<String, Value>) -> Value {
    let (name, jobs) = match run {
        SniaRun::Purge => {
            let job = job(
                base,
                json!({"name": "discard", "rw": "trim", "bs": DISCARD_BLOCK, "numjobs": 1, "iodepth": 1}),
            );
            ("Discard instead of a purge".to_owned(), vec![job])
        }
        SniaRun::Precondition => (
            "Preconditioning".to_owned(),
            vec![preconditioning(test, base)],
        ),
        SniaRun::Round { round, mix } => {
            let mix = test.mixes[mix];
            let blocks = (0..).zip(&test.blocks);
            let cells = blocks.map(|(index, block)| cell(test, round, mix, index, *block, base));
            (format!("Round {round} RW{mix}"), cells.collect())
        }
        SniaRun::Saturate => ("Write saturation".to_owned(), vec![saturation(test, base)]),
    };
    json!({"name": name, "jobs": jobs})
}

/// Sequential writes with one worker, because multiple workers would write the same blocks. Its
/// depth is the total depth of all workers.
fn preconditioning(test: &SniaTest, base: &Map<String, Value>) -> Value {
    let number = |name: &str| base.get(name).and_then(integer).unwrap_or(1);
    let depth = number("numjobs").saturating_mul(number("iodepth"));
    let changes = json!({
        "name": "precondition",
        "rw": "write",
        "bs": units::size(test.preconditioning_block()),
        "loops": PRECONDITIONING_PASSES,
        "numjobs": 1,
        "iodepth": depth.max(1),
    });
    job(base, changes)
}

/// Returns the job for a cell, which starts when the previous cell ends. Offsets repeat, because
/// cells are limited by time; the seed differs between rounds, so that each round writes different
/// blocks.
fn cell(
    test: &SniaTest,
    round: u32,
    mix: u8,
    index: u32,
    block: u64,
    base: &Map<String, Value>,
) -> Value {
    let is_sequential = test.test == SniaTestName::Throughput;
    let rw = match (is_sequential, mix) {
        (true, 100) => "read",
        (true, 0) => "write",
        (true, _) => "rw",
        (false, 100) => "randread",
        (false, 0) => "randwrite",
        (false, _) => "randrw",
    };
    let mut changes = json!({
        "name": cell_name(mix, block),
        "rw": rw,
        "bs": units::size(block),
        "runtime": test.cell_seconds,
        "time_based": 1,
        "startdelay": index * test.cell_seconds,
        "randseed": u64::from(round) * 1000 + u64::from(mix),
    });
    if !matches!(mix, 0 | 100) {
        changes["rwmixread"] = mix.into();
    }
    if !is_sequential {
        changes["norandommap"] = 1.into();
    }
    job(base, changes)
}

fn saturation(test: &SniaTest, base: &Map<String, Value>) -> Value {
    let changes = json!({
        "name": "saturate",
        "rw": "randwrite",
        "bs": units::size(test.blocks[0]),
        "loops": SATURATION_PASSES,
        "runtime": test.cell_seconds,
        "norandommap": 1,
    });
    job(base, changes)
}

fn job(base: &Map<String, Value>, changes: Value) -> Value {
    let mut job = base.clone();
    if let Value::Object(changes) = changes {
        job.extend(changes);
    }
    Value::Object(job)
}

/// Reads an integer, which may be a string in a job file.
fn integer(value: &Value) -> Option<u64> {
    value
        .as_u64()
        .or_else(|| value.as_str()?.trim().parse().ok())
}
