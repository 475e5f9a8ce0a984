//! Twelve representative jobs in both programs: six with direct I/O on a block device, and six
//! CPU-bound ones on a small cached file. System calls, bytes, offsets and syncs must be equal.

use crate::{
    engines::{fio_calls, leadline_calls, results},
    scratch,
};
use std::{fs, path::Path};

const DEVICE_BOUND: [(&str, &str); 6] = [
    ("psync", "rw=read bs=64k size=8m"),
    ("psync", "rw=write bs=16k size=2m fsync=8"),
    ("libaio", "rw=randread bs=4k size=2m iodepth=16"),
    (
        "libaio",
        "rw=randwrite bs=4k size=2m iodepth=8 fdatasync=16",
    ),
    ("libaio", "rw=randwrite bs=64k size=4m iodepth=4 loops=2"),
    (
        "psync",
        "rw=read bs=16k size=2m zonemode=strided zonesize=64k zoneskip=192k",
    ),
];
const CPU_BOUND: [(&str, &str); 6] = [
    ("psync", "rw=read bs=4k size=1m loops=8"),
    ("psync", "rw=randread bs=4k size=1m loops=4"),
    ("psync", "rw=write bs=4k size=1m loops=4 end_fsync=0"),
    ("pvsync2", "rw=randwrite bs=512 size=256k"),
    (
        "psync",
        "rw=randread bs=4k size=1m numjobs=2 group_reporting=1",
    ),
    ("libaio", "rw=read bs=16k size=1m iodepth=8"),
];
const BYTES: u64 = 16 << 20;

fn difference(
    target: &Path,
    directory: &Path,
    (engine, job): (&str, &str),
    identity: Option<&str>,
) -> Option<String> {
    let (fio_calls, fio) = fio_calls(target, directory, engine, job);
    let (mut leadline_calls, leadline) = leadline_calls(target, directory, engine, job, identity);
    if engine == "libaio" {
        leadline_calls.rename_syncs();
    }
    if !job.contains("rw=read") && !job.contains("rw=randread") {
        // Ignore the guard's reads: before a run, it examines the data that the job would
        // overwrite.
        leadline_calls.counts.remove("pread64");
        leadline_calls
            .coverage
            .retain(|(name, _), _| name != "pread64");
    }
    let [fio_result, leadline_result] = results(&fio, &leadline);
    let has_ios = fio_result.iter().any(|count| *count > 0);
    let is_equal = has_ios && fio_calls == leadline_calls && fio_result == leadline_result;
    (!is_equal).then(|| {
        format!(
            "{engine} {job}\n  fio  {:?} {fio_result:?}\n  leadline {:?} {leadline_result:?}, same offsets: {}",
            fio_calls.counts,
            leadline_calls.counts,
            fio_calls.coverage == leadline_calls.coverage
        )
    })
}

fn has_programs() -> bool {
    let has_both =
        scratch::run("fio", &["--version"]).is_ok() && scratch::run("strace", &["-V"]).is_ok();
    if !has_both {
        scratch::skip("requires fio and strace");
    }
    has_both
}

#[test]
fn device_bound_jobs_have_the_same_ios_as_in_fio() {
    if !has_programs() {
        return;
    }
    let directory = scratch::directory();
    let image = fs::canonicalize(directory.path()).unwrap().join("image");
    scratch::image(&image, BYTES);
    let Some(device) = scratch::Loop::attach(&image, &[]) else {
        return;
    };
    let identity = format!("loop:{}", image.display());
    let differences: Vec<String> = DEVICE_BOUND
        .into_iter()
        .filter_map(|shape| {
            let shape = (shape.0, format!("{} direct=1", shape.1));
            let shape = (shape.0, shape.1.as_str());
            difference(
                Path::new(&device.0),
                directory.path(),
                shape,
                Some(&identity),
            )
        })
        .collect();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn cpu_bound_jobs_have_the_same_ios_as_in_fio() {
    if !has_programs() {
        return;
    }
    let directory = scratch::directory();
    let directory = fs::canonicalize(directory.path()).unwrap();
    let file = directory.join("f");
    scratch::image(&file, 1 << 20);
    let differences: Vec<String> = CPU_BOUND
        .into_iter()
        .filter_map(|(engine, job)| {
            let job = format!("{job} direct=0 invalidate=0");
            difference(&file, &directory, (engine, &job), None)
        })
        .collect();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
