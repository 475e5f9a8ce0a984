//! Jobs with multiple files in fio and in the runner: the order and names of the files, and the
//! most frequently accessed block for distributions with a center.

use crate::{
    scratch,
    scratch::program::{JSON, spawn},
    trace,
};
use serde_json::{Value, json};
use std::{collections::BTreeMap, fs, path::Path, process::Command};

const KIB: u64 = 1024;

/// File name and offset of each read.
type Reads = Vec<(String, u64)>;

/// Creates the files, so that neither program has to lay them out.
fn prepare(directory: &Path, names: &[String], kib: u64) {
    for name in names {
        scratch::image(&directory.join(name), kib * KIB);
    }
}

fn fio(directory: &Path, options: &[(&str, &str)]) -> Reads {
    let fixed = [("rw", "read"), ("directory", directory.to_str().unwrap())];
    let options = options.iter().copied();
    let text = trace::fio_log(fixed.into_iter().chain(options), directory);
    let reads = text.lines().filter_map(|line| {
        let fields: Vec<&str> = line.split(' ').collect();
        let at = fields.iter().position(|field| *field == "read")?;
        let offset = fields[at + 1].parse().ok()?;
        Some((name(fields[at - 1]), offset))
    });
    reads.collect()
}

fn name(path: &str) -> String {
    path.rsplit('/').next().unwrap().to_owned()
}

fn leadline(directory: &Path, options: &[(&str, &str)]) -> Reads {
    let mut job: Value = json!({"name": "job", "ioengine": "psync", "rw": "read", "direct": 0,
        "probes": 0, "directory": directory});
    for (name, value) in options {
        job[*name] = json!(value);
    }
    let plan = trace::plan(&job);
    assert_eq!(plan["problems"], json!([]), "{options:?}");
    let log = directory.join("leadline.log");
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-y", "-s", "0", "-e", "trace=pread64", "-o"]);
    command.arg(&log).arg(env!("CARGO_BIN_EXE_leadline-runner"));
    let output = spawn(command.args(JSON), &job).wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{options:?}: {errors}");
    let text = fs::read_to_string(&log).unwrap();
    let marker = format!("<{}/", directory.display());
    let reads = text.lines().filter_map(|line| {
        let (_, call) = line.split_once(&marker)?;
        let (path, arguments) = call.split_once('>')?;
        let arguments = arguments.split([')', '<']).next()?;
        let offset = arguments
            .trim_end()
            .trim_end_matches(',')
            .rsplit(", ")
            .next()?;
        Some((name(path), offset.parse().ok()?))
    });
    reads.collect()
}

fn has_programs() -> bool {
    for program in ["fio", "strace"] {
        if let Err(error) = scratch::run(program, &["--version"]) {
            scratch::skip(&error);
            return false;
        }
    }
    true
}

fn names(format: impl Fn(u32) -> String) -> Vec<String> {
    (0..3).map(format).collect()
}

#[test]
fn files_are_accessed_in_the_same_order_as_in_fio() {
    if !has_programs() {
        return;
    }
    let directory = scratch::directory();
    let directory = fs::canonicalize(directory.path()).unwrap();
    prepare(&directory, &names(|file| format!("job.0.{file}")), 32);
    for order in ["roundrobin", "roundrobin:3", "sequential"] {
        for bs in ["4k", "8k"] {
            let options = [
                ("nrfiles", "3"),
                ("size", "96k"),
                ("bs", bs),
                ("file_service_type", order),
            ];
            assert_eq!(
                leadline(&directory, &options),
                fio(&directory, &options),
                "{order} {bs}"
            );
        }
    }
    let options = [
        ("nrfiles", "3"),
        ("size", "96k"),
        ("file_service_type", "random:2"),
    ];
    let [leadline, fio] = [leadline(&directory, &options), fio(&directory, &options)];
    let counts = |reads: &Reads| {
        let mut counts = BTreeMap::new();
        reads
            .iter()
            .for_each(|read| *counts.entry(read.clone()).or_insert(0) += 1);
        counts
    };
    assert_eq!(counts(&leadline), counts(&fio));
    for reads in [&leadline, &fio] {
        assert!(
            reads.chunks(2).all(|pair| pair[0].0 == pair[1].0),
            "{reads:?}"
        );
    }
}

#[test]
fn generated_names_match_fio() {
    if !has_programs() {
        return;
    }
    for format in [
        "$jobname.$jobnum.$filenum",
        "x-$filenum",
        "$filenum$jobnum-$jobname",
    ] {
        let directory = scratch::directory();
        let directory = fs::canonicalize(directory.path()).unwrap();
        let file_names = names(|file| {
            let name = format.replace("$jobname", "job").replace("$jobnum", "0");
            name.replace("$filenum", &file.to_string())
        });
        prepare(&directory, &file_names, 4);
        let options = [
            ("nrfiles", "3"),
            ("size", "12k"),
            ("filename_format", format),
        ];
        let leadline = leadline(&directory, &options);
        assert_eq!(leadline.len(), 3, "{format}");
        assert_eq!(leadline, fio(&directory, &options), "{format}");
    }
}

#[test]
fn the_most_probable_block_is_the_same_as_in_fio() {
    if !has_programs() {
        return;
    }
    let directory = scratch::directory();
    let directory = fs::canonicalize(directory.path()).unwrap();
    prepare(&directory, &["job.0.0".to_owned()], 400);
    let hottest = |reads: &Reads| {
        let mut counts = BTreeMap::new();
        reads
            .iter()
            .for_each(|read| *counts.entry(read.1).or_insert(0) += 1);
        counts
            .into_iter()
            .max_by_key(|(_, count)| *count)
            .unwrap()
            .0
    };
    for distribution in ["zipf:2:0.25", "zipf:2:0", "zipf:2:0.75", "pareto:0.05:0.5"] {
        let options = [
            ("size", "400k"),
            ("io_size", "4m"),
            ("rw", "randread"),
            ("random_distribution", distribution),
        ];
        let [leadline, fio] = [leadline(&directory, &options), fio(&directory, &options)];
        assert_eq!(hottest(&leadline), hottest(&fio), "{distribution}");
        assert_eq!(leadline.len(), fio.len());
    }
}
