//! Verified writes on storage that damages data. Each damaged block must be reported with its kind
//! and offset, and healthy storage must not cause false alarms. The oracle is the list of damaged
//! blocks, which does not come from the runner.

#[path = "../scratch/mod.rs"]
mod scratch;

mod fio;
mod healthy;
mod injected;
mod killed;
mod offline;
mod outcome;
mod random;
mod rejected;
mod storage;

use scratch::program::with;
use serde_json::{Value, json};
use std::path::Path;

const LENGTH: u64 = 4 << 20;
const BLOCK: u64 = 4096;

/// Random 4 KiB writes to a whole file of `LENGTH` bytes, read back afterward.
fn job(file: &Path, changes: Value) -> Value {
    let plain = json!({"name": "job", "filename": file, "size": LENGTH, "rw": "randwrite", "bs": BLOCK,
        "direct": 1, "overwrite": 1, "verify": "crc32c"});
    let mut job = with(&plain, changes);
    if job["bsrange"].is_string() || job["bssplit"].is_string() {
        job.as_object_mut().unwrap().remove("bs");
    }
    job
}
