//! Imports commands from articles about storage benchmarks, verbatim with prompts and, in some
//! cases, output. Each command must be interpreted correctly, and its jobs must be valid after
//! devices and directories have been replaced.
//!
//! - Sequential reads with and without direct I/O (an introduction to fio, 2023)
//! - Initial writes, overwrites and appends (a comparison of fio options)
//! - The page cache on block devices and files (notes, 2024)
//! - diskspd with files and disks, with and without software cache

use crate::scratch;
use crate::scratch::program::{runner, spawn};
use leadline_protocol::import::{Import, ImportRequest, ImportSeverity};
use leadline_runner::dialect::{HostFacts, PathKind, import};
use serde_json::{Map, Value, json};
use std::path::Path;

const FILE_BYTES: u64 = 4 << 20;
/// diskspd targets, for which the import returns questions.
const TARGETS: [&str; 2] = ["F:\\testfile4.dat", "#5"];

/// Job text, and the equivalent options of each step.
fn texts() -> Vec<(String, Vec<Value>)> {
    let read =
        json!({"rw": "read", "bs": "4k", "size": "1g", "ioengine": "sync", "name": "test-read-io"});
    let buffered = with(&read, json!({"direct": 0}));
    let direct = with(&read, json!({"direct": 1}));
    let write = json!({"ioengine": "libaio", "bs": "4k", "rw": "randwrite", "directory": "/mnt/bench1",
        "nrfiles": 1, "size": "1g", "end_fsync": 1, "numjobs": 1, "direct": 1, "name": "test"});
    let command = "$ fio --name=test --ioengine=libaio --blocksize=4k --readwrite=randwrite \
        --directory=/mnt/bench1 --nrfiles=1 --size=1g --end_fsync=1 --numjobs=1 --direct=1";
    let random_read = command.replace("randwrite", "randread");
    let large = json!({"rw": "write", "size": "32g", "bs": "1m", "ioengine": "psync"});
    let on_device = |direct: u8| {
        with(
            &large,
            json!({"direct": direct, "filename": "/dev/nvme1n1p2"}),
        )
    };
    let on_file = with(
        &large,
        json!({"direct": 0, "iodepth": 1, "filename": "test", "numjobs": 1, "invalidate": 0}),
    );
    vec![
        (
            "fio --readwrite=read --size=1g --blocksize=4k --ioengine=sync --name=test-read-io".into(),
            vec![buffered.clone()],
        ),
        (
            ">>>> fio --readwrite=read --size=1g --blocksize=4k --ioengine=sync --name=test-read-io\n\n\
             1.  test-read-io: (g=0): rw=read, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, \
             ioengine=sync, iodepth=1\n\
             2.  fio-3.33\n\
             3.  Starting 1 process\n\
             4.  Jobs: 1 (f=1): [R(1)][100.0%][r=58.9MiB/s][r=15.1k IOPS][eta 00m:00s]\n\
             6.    read: IOPS=16.8k, BW=65.6MiB/s (68.7MB/s)(1024MiB/15620msec)\n\
             10.      |  1.00th=[    3],  5.00th=[    4], 10.00th=[    5], 20.00th=[   10],\n"
                .into(),
            vec![buffered],
        ),
        (
            ">>>> fio --direct=1 --readwrite=read --ioengine=sync --size=1g --blocksize=4k \
             --name=test-read-io\n\n...\n\
             6.   read: IOPS=14.9k, BW=58.3MiB/s (61.2MB/s)(1024MiB/17552msec)\n...\n"
                .into(),
            vec![direct],
        ),
        (
            format!(
                "{command}\n{command}\n{command} --overwrite=1\n{command} --file_append=1\n{random_read}\n"
            ),
            vec![
                write.clone(),
                write.clone(),
                with(&write, json!({"overwrite": 1})),
                with(&write, json!({"file_append": 1})),
                with(&write, json!({"rw": "randread"})),
            ],
        ),
        (
            "```\n$ fio --direct=0 --rw=write --size=32G --bs=1M --filename=/dev/nvme1n1p2\n2952MiB/s\n\n\
             $ fio --direct=1 --rw=write --size=32G --bs=1M --filename=/dev/nvme1n1p2\n6587MiB/s\n```\n"
                .into(),
            vec![on_device(0), on_device(1)],
        ),
        (
            "```\n$ echo 3 | sudo tee /proc/sys/vm/drop_caches\n\
             $ fio --direct=0 --rw=write --size=32G --bs=1M --iodepth=1 --filename=test --numjobs=1 \
             --invalidate=0 # First run (Nothing in page cache)\n3795MiB/s\n```\n"
                .into(),
            vec![on_file.clone()],
        ),
        (
            "$ fio --direct=0 --rw=write --size=32G --bs=1M --iodepth=1 --filename=test --numjobs=1 \
             --invalidate=0 # Second run (All in page cache)\n10.9GiB/s\n"
                .into(),
            vec![on_file],
        ),
    ]
}

/// diskspd commands, and the equivalent job options.
fn diskspd() -> Vec<(String, Value)> {
    let read =
        json!({"rw": "randread", "bs": "8k", "iodepth": 32, "runtime": "10s", "time_based": 1});
    let write = with(&read, json!({"rw": "randwrite"}));
    let mut commands = vec![(
        "diskspd.exe -w100 -Zr #5".to_owned(),
        json!({"rw": "write", "bs": "64k", "direct": 0, "runtime": "10s"}),
    )];
    for target in TARGETS {
        for (text, job) in [
            (
                "-w0 -r -b8k -Su -d10 -o32",
                with(&read, json!({"direct": 1})),
            ),
            ("-w0 -r -b8k -d10 -o32", with(&read, json!({"direct": 0}))),
            (
                "-w100 -r -b8k -Su -Zr -d10 -o32",
                with(&write, json!({"direct": 1})),
            ),
            (
                "-w100 -r -b8k -Zr -d10 -o32",
                with(&write, json!({"direct": 0})),
            ),
        ] {
            commands.push((format!("diskspd.exe {text} {target}"), job));
        }
    }
    // For writes to a file, the article bypasses the software cache only with -Su, which this
    // command does not use.
    commands.push((
        "diskspd.exe -w100 -r -b8k -d10 -o32 F:\\testfile4.dat".into(),
        with(&write, json!({"direct": 0})),
    ));
    commands
}

fn with(job: &Value, changes: Value) -> Value {
    scratch::program::with(job, changes)
}

fn import_text(text: &str, variables: &[(&str, &Path)]) -> Import {
    let host = HostFacts {
        cpus: 2,
        page_size: 4096,
        memory_mib: 4096,
        path_kind: &|_| PathKind::Missing,
    };
    let pairs = variables.iter();
    let pairs = pairs.map(|(name, path)| ((*name).to_owned(), path.to_str().unwrap().to_owned()));
    let request = ImportRequest {
        text: text.into(),
        variables: Some(pairs.collect()),
    };
    import(&request, &host)
}

/// The job of each step. Each step must have exactly one job.
fn jobs(import: &Import, text: &str) -> Vec<Value> {
    let errors = import
        .notes
        .iter()
        .filter(|note| note.severity == ImportSeverity::Error);
    let errors: Vec<_> = errors.collect();
    let document = import
        .document
        .clone()
        .unwrap_or_else(|| panic!("{text}: {errors:?}"));
    let steps = match document["steps"].as_array() {
        Some(steps) => steps.clone(),
        None => vec![document],
    };
    steps.iter().map(|step| step["jobs"][0].clone()).collect()
}

fn assert_contains(job: &Value, expected: &Value, text: &str) {
    for (option, value) in expected.as_object().unwrap() {
        assert_eq!(&job[option], value, "{text}: {option} in {job}");
    }
}

/// Replaces devices and directories, and reduces sizes to fit on a small disk.
fn with_local_paths(job: &Value, directory: &Path) -> Value {
    let mut job: Map<String, Value> = job.as_object().unwrap().clone();
    if job.remove("directory").is_some() {
        job.insert("directory".into(), json!(directory));
    } else {
        job.insert("filename".into(), json!(directory.join("target")));
    }
    if job.contains_key("size") {
        job.insert("size".into(), json!(FILE_BYTES));
    }
    job.into()
}

fn assert_planned(job: &Value, text: &str) {
    let child = spawn(runner().args(["plan", "-", "--json"]), job);
    let output = child.wait_with_output().unwrap();
    let plan: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(plan["problems"], json!([]), "{text}: {job}");
    assert_eq!(output.status.code(), Some(0), "{text}");
}

#[test]
fn fio_commands_keep_their_meaning_and_can_be_planned() {
    let directory = scratch::directory();
    for (text, expected) in texts() {
        let import = import_text(&text, &[]);
        let found = jobs(&import, &text);
        assert_eq!(found.len(), expected.len(), "{text}");
        for (job, expected) in found.iter().zip(&expected) {
            assert_contains(job, expected, &text);
            assert_planned(&with_local_paths(job, directory.path()), &text);
        }
    }
}

#[test]
fn diskspd_commands_keep_their_meaning_and_can_be_planned() {
    let directory = scratch::directory();
    let file = directory.path().join("target");
    scratch::image(&file, FILE_BYTES);
    for (text, expected) in diskspd() {
        let questions = import_text(&text, &[]).questions;
        let target = text.rsplit(' ').next().unwrap();
        let names: Vec<&str> = questions
            .iter()
            .map(|question| question.name.as_str())
            .collect();
        assert_eq!(names, [target], "{text}");
        let found = jobs(&import_text(&text, &[(target, &file)]), &text);
        assert_eq!(found.len(), 1, "{text}");
        assert_contains(&found[0], &expected, &text);
        assert_planned(&found[0], &text);
    }
    let all: Vec<String> = diskspd().into_iter().map(|(text, _)| text).collect();
    let together = import_text(
        &all.join("\n"),
        &TARGETS.map(|target| (target, file.as_path())),
    );
    assert_eq!(jobs(&together, "all commands").len(), all.len());
}
