//! Jobs generated from combinations of options.

use crate::{
    Case,
    Equal::{Coverage, CoverageOnly, Sequence},
};

const PATTERNS: [&str; 4] = ["read", "write", "randread", "randwrite"];
const BLOCKS: [&str; 4] = ["bs=4k", "bs=16k", "bs=1k", "bsrange=4k-16k"];
const REGIONS: [&str; 3] = [
    "size=256k",
    "size=128k offset=64k",
    "size=256k filesize=256k",
];
const ENDS: [&str; 4] = ["loops=1", "loops=2", "io_size=512k", "number_ios=1000"];

/// 384 jobs whose I/Os match fio's, up to the order of random offsets.
pub(crate) fn all() -> impl Iterator<Item = Case> {
    let mut jobs = vec![String::from("file=256")];
    jobs = combine(&jobs, &PATTERNS.map(|rw| format!("rw={rw}")));
    jobs = combine(&jobs, &BLOCKS.map(String::from));
    jobs = combine(&jobs, &REGIONS.map(String::from));
    jobs = combine(&jobs, &ENDS.map(String::from));
    jobs = combine(&jobs, &["fsync=0", "fsync=5"].map(String::from));
    jobs.into_iter().map(|job| {
        let equal = match () {
            // The sizes in a range are random, and so is the number of syncs.
            () if job.contains("bsrange") => CoverageOnly,
            () if job.contains("rand") => Coverage,
            () => Sequence,
        };
        Case::new(equal, &job)
    })
}

fn combine(jobs: &[String], options: &[String]) -> Vec<String> {
    let with_each = |job: &String| -> Vec<String> {
        let options = options.iter();
        options.map(|option| format!("{job} {option}")).collect()
    };
    jobs.iter().flat_map(with_each).collect()
}
