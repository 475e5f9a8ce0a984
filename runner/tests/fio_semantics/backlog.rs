//! Tests `verify_backlog`: both programs read back the same blocks after the same number of writes.
//! The jobs use direct I/O, because the runner reads cached blocks again after the measurement.

use crate::{
    counts, coverage,
    scratch::{
        self,
        program::{JSON, report_of, runner},
    },
    trace,
};
use serde_json::{Value, json};
use std::{collections::BTreeMap, fs, path::Path};

/// What must match: the order of all reads and writes, or only which blocks are accessed. The
/// latter applies if the runner reads the rest in larger chunks or uses different random offsets.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Equal {
    Sequence,
    Coverage,
}
use Equal::{Coverage, Sequence};

const CASES: [(Equal, &str); 15] = [
    (Sequence, "rw=write size=256k verify_backlog=16"),
    (Sequence, "rw=write size=256k verify_backlog=1"),
    (
        Sequence,
        "rw=write size=256k verify_backlog=16 verify_backlog_batch=32",
    ),
    (Sequence, "rw=write size=256k verify_backlog=16 loops=2"),
    (
        Sequence,
        "rw=write size=512k bs=16k verify_interval=4k verify_backlog=8",
    ),
    (Sequence, "rw=write size=256k verify_backlog=16 do_verify=0"),
    (
        Sequence,
        "rw=write size=256k verify_backlog=32 number_ios=64",
    ),
    (
        Coverage,
        "rw=write size=256k verify_backlog=16 verify_backlog_batch=4",
    ),
    (Coverage, "rw=write size=256k verify_backlog=10"),
    (Coverage, "rw=write size=256k verify_backlog=1000"),
    (Coverage, "rw=write size=256k verify_backlog_batch=4"),
    (
        Coverage,
        "rw=write size=256k verify_backlog=16 number_ios=40",
    ),
    (Coverage, "rw=randwrite size=256k verify_backlog=16"),
    (
        Coverage,
        "rw=randwrite size=256k verify_backlog=7 verify_backlog_batch=3",
    ),
    (Coverage, "rw=randwrite size=256k verify_backlog=9 loops=2"),
];

fn options(text: &str) -> BTreeMap<String, String> {
    let fixed = "verify=crc32c direct=1 fallocate=native";
    let words = text.split(' ').chain(fixed.split(' '));
    let pairs = words.map(|word| word.split_once('=').unwrap());
    pairs
        .map(|(name, value)| (name.into(), value.into()))
        .collect()
}

fn job(text: &str, file: &Path) -> Value {
    let mut job = json!(options(text));
    job["filename"] = json!(file);
    job["ioengine"] = json!("psync");
    job["probes"] = json!(0);
    job
}

#[test]
fn verify_backlog_reads_the_same_blocks_as_in_fio() {
    for program in ["fio", "strace"] {
        if let Err(error) = scratch::run(program, &["--version"]) {
            return scratch::skip(&error);
        }
    }
    let directory = scratch::directory();
    let file = directory.path().join("f");
    for (equal, text) in CASES {
        let _ = fs::remove_file(&file);
        let mut leadline = trace::runner(&job(text, &file), &file, directory.path()).unwrap();
        let _ = fs::remove_file(&file);
        let mut fio = trace::fio(&options(text), &file, directory.path());
        for trace in [&mut leadline, &mut fio] {
            trace.ios.retain(|io| io.len > 0);
        }
        assert!(!fio.ios.is_empty(), "{text}");
        match equal {
            Sequence => assert_eq!(leadline.ios, fio.ios, "{text}"),
            Coverage => assert_eq!(coverage(&leadline, true), coverage(&fio, true), "{text}"),
        }
        assert_eq!(
            counts(&leadline).get("write"),
            counts(&fio).get("write"),
            "{text}"
        );
    }
}

/// As in fio, the read statistics of every engine include the verification reads between writes.
#[test]
fn reads_are_counted_as_in_fio() {
    let directory = scratch::directory();
    let file = directory.path().join("f");
    for (engine, direct) in [("psync", 0), ("psync", 1), ("io_uring", 1), ("libaio", 1)] {
        let text = "rw=randwrite size=256k verify_backlog=16";
        let mut job = job(text, &file);
        job["ioengine"] = json!(engine);
        job["direct"] = json!(direct);
        job["iodepth"] = json!(if engine == "psync" { 1 } else { 4 });
        job["file_state"] = json!("overwrite");
        job.as_object_mut().unwrap().remove("fallocate");
        let result = report_of(runner().args(JSON), &job);
        let report = &result["report"];
        for direction in ["read", "write"] {
            let counted = [&report[direction]["ios"], &report[direction]["bytes"]];
            assert_eq!(counted, [64, 262_144], "{engine} {direction}: {report}");
        }
        let verify = &report["jobs"][0]["verify"];
        assert_eq!(
            (&verify["checked_blocks"], &verify["bad_blocks"]),
            (&json!(64), &json!(0)),
            "{engine}"
        );
    }
}
