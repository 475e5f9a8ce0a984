//! fio's example job files (Debian package fio-examples). Files that need neither special hardware
//! nor an unsupported engine must run, with reduced sizes and times, and with files instead of
//! devices. All others must be rejected with a line, a column and a reason.
//!
//! `LEADLINE_FIO_EXAMPLES=DIR` selects the files of another version, such as the `examples` folder
//! of fio's source, and `LEADLINE_FIO_EXAMPLES_TABLE=FILE` writes a table with one result per file.

use crate::scratch;
use crate::scratch::program;
use leadline_protocol::import::{Import, ImportNote, ImportRequest, ImportSeverity};
use leadline_runner::dialect::{HostFacts, PathKind, import};
use serde_json::{Map, Value, json};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

const DEBIAN: &str = "/usr/share/doc/fio/examples";

/// Name prefixes of files that require special storage or an unsupported engine, and what they
/// require. Regular files and block devices do not count as special.
const SPECIAL: &[(&str, &str)] = &[
    ("atomic-verify", "a device with atomic writes"),
    ("cpp_null", "an engine in a library"),
    ("cpuio", "the engine cpuio, which does no I/O"),
    ("dev-dax", "persistent memory"),
    ("dfs", "DAOS"),
    ("dircreate-", "the engine dircreate"),
    ("dirdelete-", "the engine dirdelete"),
    ("dirstat-", "the engine dirstat"),
    ("e4defrag", "the engine e4defrag"),
    ("exec", "the engine exec, which runs commands"),
    ("falloc", "the engine falloc"),
    ("filecreate-", "the engine filecreate"),
    ("filedelete-", "the engine filedelete"),
    ("filestat-", "the engine filestat"),
    ("ftruncate", "the engine ftruncate"),
    ("gfapi", "GlusterFS"),
    ("gpudirect-", "RDMA and a GPU"),
    ("http-", "an HTTP server"),
    ("ime", "DDN IME"),
    ("libblkio-", "libblkio"),
    ("libcufile-", "a GPU"),
    ("libhdfs", "HDFS"),
    ("libhipfile-", "a GPU"),
    ("libiscsi", "an iSCSI target"),
    ("libpmem", "persistent memory"),
    ("librpma_", "RDMA and persistent memory"),
    ("libzbc-", "a zoned device"),
    ("mtd", "a flash device without a block layer"),
    ("nbd", "an NBD server"),
    ("netio", "a network connection"),
    ("nfs", "an NFS server"),
    ("numa", "two NUMA nodes"),
    ("page_fault", "the engine page_fault"),
    ("pmemblk", "persistent memory"),
    ("rados", "Ceph"),
    ("rbd", "Ceph"),
    ("rdmaio-", "RDMA"),
    ("sg_", "a SCSI device"),
    ("uring-cmd-", "an NVMe character device"),
    ("xnvme-fdp", "an NVMe device without its driver"),
    ("xnvme-pi", "an NVMe device with protection information"),
    ("xnvme-zoned", "a zoned device"),
    ("zbd-", "a zoned device"),
];

/// Files without special requirements that use an unsupported option, and the option.
const UNSUPPORTED: &[(&str, &str)] = &[("sprandom", "sprandom"), ("surface-scan", "verify")];

/// Files that are imported but whose jobs are rejected, and part of the message.
const REJECTED: &[(&str, &str)] = &[("enospc-pressure", "trims require a block device")];

/// Values of environment variables, by name prefix.
const VARIABLES: &[(&str, &str)] = &[("FIO_RW", "read"), ("FIO_BS", "4k"), ("", "1")];

/// Size options, which are all scaled by the same factor.
const SIZES: [&str; 7] = [
    "size",
    "filesize",
    "io_size",
    "offset_increment",
    "offset",
    "zonesize",
    "zoneskip",
];

/// Limits in a test run. Larger values are reduced.
const SIZE: u64 = 4 << 20;
const MAX_IODEPTH: u64 = 16;
const MAX_NUMJOBS: u64 = 2;
const MAX_IOS: u64 = 100;
const MAX_LOOPS: u64 = 2;

fn examples() -> Option<BTreeMap<String, String>> {
    let directory = std::env::var_os("LEADLINE_FIO_EXAMPLES").map(PathBuf::from);
    let directory = directory.unwrap_or_else(|| DEBIAN.into());
    let Ok(entries) = fs::read_dir(&directory) else {
        scratch::skip(&format!(
            "{} does not exist: install fio-examples",
            directory.display()
        ));
        return None;
    };
    let paths = entries.map(|entry| entry.unwrap().path());
    let files = paths.filter(|path| path.extension().is_some_and(|end| end == "fio"));
    let named = files.map(|path| {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        (name, fs::read_to_string(path).unwrap())
    });
    Some(named.collect())
}

fn read(text: &str) -> Import {
    let host = HostFacts {
        cpus: 2,
        page_size: 4096,
        memory_mib: 4096,
        path_kind: &|path| match path.starts_with("/dev/") {
            true => PathKind::Other,
            false => PathKind::Missing,
        },
    };
    let mut request = ImportRequest {
        text: text.into(),
        variables: None,
    };
    let questions = import(&request, &host).questions;
    let answers = questions.iter().map(|question| {
        let is_for = |(start, _): &&(&str, &str)| question.name.starts_with(start);
        let (_, answer) = VARIABLES.iter().find(is_for).unwrap();
        (question.name.clone(), (*answer).to_owned())
    });
    request.variables = Some(answers.collect());
    import(&request, &host)
}

fn is_special(name: &str) -> bool {
    SPECIAL.iter().any(|(start, _)| name.starts_with(start))
}

#[test]
fn unsupported_files_are_rejected_with_a_position_and_a_reason() {
    for (name, text) in examples().unwrap_or_default() {
        let import = read(&text);
        let errors: Vec<_> = import
            .notes
            .iter()
            .filter(|note| note.severity == ImportSeverity::Error)
            .collect();
        let rejected = UNSUPPORTED.iter().find(|(file, _)| *file == name);
        assert_eq!(
            import.document.is_none(),
            is_special(&name) || rejected.is_some(),
            "{name}: {errors:?}"
        );
        for error in &errors {
            assert!(
                error.span.line > 0 && error.span.column > 0 && !error.sentence.is_empty(),
                "{name}: {error:?}"
            );
            assert!(!error.remedy.is_empty(), "{name}: {error:?}");
        }
        if let Some((_, option)) = rejected {
            let is_for_option = |error: &&_| error_option(error) == Some(*option);
            assert!(errors.iter().any(is_for_option), "{name}: {errors:?}");
        }
    }
}

fn error_option(note: &ImportNote) -> Option<&str> {
    note.option.as_deref()
}

/// Result of importing and running a file.
enum Outcome {
    Runs,
    /// The special requirement, and the first error of the import.
    Special(&'static str, String),
    Rejected(String),
}

impl Outcome {
    fn kind(&self) -> &'static str {
        match self {
            Self::Runs => "runs",
            Self::Special(..) => "special",
            Self::Rejected(_) => "rejected",
        }
    }

    fn row(&self, name: &str) -> String {
        let (result, reason) = match self {
            Self::Runs => ("runs", String::new()),
            Self::Special(need, error) => ("special", format!("{need}; {error}")),
            Self::Rejected(error) => ("rejected", error.clone()),
        };
        format!("| `{name}` | {result} | {} |\n", reason.replace('|', "\\|"))
    }
}

/// Returns `line 3, column 1: ...`, or an empty string if there is no error.
fn first_error(import: &Import) -> String {
    let mut notes = import.notes.iter();
    let error = notes.find(|note| note.severity == ImportSeverity::Error);
    error.map_or_else(String::new, |note| {
        format!(
            "line {}, column {}: {}",
            note.span.line, note.span.column, note.sentence
        )
    })
}

#[test]
fn files_without_special_hardware_run() {
    let mut failures = Vec::new();
    let files = examples().unwrap_or_default();
    let mut outcomes = BTreeMap::new();
    for (name, text) in &files {
        let import = read(text);
        let error = first_error(&import);
        let Some(mut document) = import.document else {
            let mut special = SPECIAL.iter();
            let outcome = match special.find(|(start, _)| name.starts_with(start)) {
                Some((_, need)) => Outcome::Special(need, error),
                None => Outcome::Rejected(error),
            };
            outcomes.insert(name, outcome);
            continue;
        };
        let directory = scratch::directory();
        each_job(&mut document, |job| {
            shrink(job, directory.path());
            create_target(job, directory.path());
        });
        let output = program::run(&document, &["--json"]);
        let message = String::from_utf8_lossy(&output.stderr);
        match output.status.code() {
            Some(0) => {
                outcomes.insert(name, Outcome::Runs);
            }
            Some(2) if is_rejected(name, &message) => {
                let first = message.lines().next().unwrap_or_default();
                let first = first.trim_start_matches("leadline-runner: ");
                let first = first.replace(directory.path().to_str().unwrap(), "DIR");
                outcomes.insert(name, Outcome::Rejected(first));
            }
            code => failures.push(format!("{name}: {code:?} {message}\n{document}")),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    let of_kind = |kind| {
        outcomes
            .values()
            .filter(|outcome| outcome.kind() == kind)
            .count()
    };
    let (runs, special) = (of_kind("runs"), of_kind("special"));
    let ordinary = files.len() - special;
    eprintln!("{runs} of {ordinary} files run; {special} have special requirements");
    assert!(runs * 10 >= ordinary * 9, "{runs} of {ordinary}");
    if let Some(path) = std::env::var_os("LEADLINE_FIO_EXAMPLES_TABLE") {
        let rows = outcomes.iter().map(|(name, outcome)| outcome.row(name));
        fs::write(path, rows.collect::<String>()).unwrap();
    }
}

fn is_rejected(name: &str, message: &str) -> bool {
    let mut rejected = REJECTED.iter();
    rejected.any(|(file, part)| *file == name && message.contains(part))
}

fn each_job(document: &mut Value, mut change: impl FnMut(&mut Map<String, Value>)) {
    let steps = match document.get("steps") {
        Some(_) => document["steps"]
            .as_array_mut()
            .unwrap()
            .iter_mut()
            .collect(),
        None => vec![document],
    };
    for step in steps {
        let jobs = step["jobs"].as_array_mut().unwrap();
        jobs.iter_mut()
            .for_each(|job| change(job.as_object_mut().unwrap()));
    }
}

/// Creates a target for jobs with `allow_file_create=0`, which expect the user to specify a device.
fn create_target(job: &mut Map<String, Value>, directory: &Path) {
    if job.get("allow_file_create") == Some(&json!(0)) && !job.contains_key("filename") {
        let device = directory.join("device");
        scratch::image(&device, SIZE);
        job.remove("directory");
        job.insert("filename".into(), json!(device));
        job.insert("size".into(), json!(SIZE));
    }
}

/// Replaces devices and directories, and scales sizes and times.
fn shrink(job: &mut Map<String, Value>, directory: &Path) {
    if job.get("ioengine") != Some(&json!("null")) {
        if let Some(name) = job.get("filename").and_then(Value::as_str) {
            let name = name.rsplit('/').next().unwrap().to_owned();
            job.insert("filename".into(), json!(directory.join(name)));
            job.remove("directory");
        } else {
            job.insert("directory".into(), json!(directory));
        }
    }
    let largest = SIZES
        .iter()
        .filter_map(|option| bytes(job.get(*option)?))
        .max();
    let ratio = largest.unwrap_or(0).div_ceil(SIZE).max(1);
    for option in SIZES {
        if let Some(bytes) = job.get(option).and_then(bytes) {
            let scaled = (bytes / ratio).next_multiple_of(1 << 20);
            let scaled = if bytes == 0 { 0 } else { scaled };
            job.insert(option.into(), json!(scaled));
        }
    }
    if !job.contains_key("size") && !job.contains_key("filesize") {
        job.insert("size".into(), json!(SIZE));
    }
    for (option, max) in [
        ("iodepth", MAX_IODEPTH),
        ("numjobs", MAX_NUMJOBS),
        ("number_ios", MAX_IOS),
        ("loops", MAX_LOOPS),
    ] {
        if job.get(option).and_then(Value::as_u64) > Some(max) {
            job.insert(option.into(), json!(max));
        }
    }
    job.entry("runtime").or_insert(json!(0));
    for (option, value) in [
        ("runtime", "1s"),
        ("ramp_time", "0"),
        ("startdelay", "0"),
        ("steadystate_duration", "2s"),
        ("steadystate_check_interval", "1s"),
        ("steadystate_ramp_time", "0"),
        ("latency_window", "100ms"),
    ] {
        if job.contains_key(option) {
            job.insert(option.into(), json!(value));
        }
    }
}

/// Size in bytes; `None` for percentages.
fn bytes(value: &Value) -> Option<u64> {
    let Some(text) = value.as_str() else {
        return value.as_u64();
    };
    let digits = text.trim_end_matches(|unit: char| unit.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        _ => 0,
    };
    digits.parse::<u64>().ok().map(|number| number << unit)
}
