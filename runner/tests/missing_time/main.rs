//! Storage that hangs, delays and recovers at known times, and what the report makes of it.

mod outcome;
#[path = "../scratch/mod.rs"]
mod scratch;
mod storage;

use outcome::Run;
use serde_json::json;
use std::time::Duration;
use storage::{Answer, HEALTHY, Storage};

#[test]
fn explore() {
    for (engine, depth) in [("psync", 1), ("io_uring", 32)] {
        let Some(storage) = Storage::new(&["t1"], 16 << 20, |io| {
            if io.at >= Duration::from_millis(500) {
                Answer::Never
            } else {
                Answer::After(HEALTHY)
            }
        }) else {
            return;
        };
        let job = json!({"name": "hang", "filename": storage.file("t1"), "size": "16m", "rw": "randread", "bs": "4k", "direct": 1,
            "iodepth": depth, "ioengine": engine, "runtime": "3s", "time_based": 1});
        let mut run = Run::start(&job, &[]);
        run.wait_for_a_sample();
        let outcome = run.finish(|| storage.release());
        std::fs::write(format!("/tmp/w/stall-explore-{engine}.json"), serde_json::to_string(outcome.result()).unwrap()).unwrap();
        for (at, sample) in outcome.samples() {
            eprintln!("{:?} {} {} {} inflight {}", *at - storage.first_io().unwrap(), sample["t_ms"], sample["silent_ms"], sample["read"]["ios"], sample["in_flight"]);
        }
        eprintln!("{:?} {:?} {:?}", outcome.reported_at() - storage.first_io().unwrap(), outcome.code, outcome.findings());
        eprintln!("{} {} {}", outcome.job(0)["stalls"], outcome.job(0)["read"]["unfinished"], outcome.report()["phases"]);
        let mut lat = outcome.report()["read"]["lat_ns"].clone(); lat["buckets"]=json!(0);
        eprintln!("{lat} {} {}", outcome.report()["pauses"], outcome.stderr);
    }
}
