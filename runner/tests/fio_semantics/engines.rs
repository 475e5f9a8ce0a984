//! For the same job, every engine issues the same system calls as fio's engine of the same name.
//! strace traces both programs. Accesses to memory mappings cause no system calls, so their counts
//! come from the results.

use crate::{
    scratch,
    scratch::program::{JSON, spawn},
};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

const CALLS: &str = "trace=pread64,pwrite64,lseek,read,write,preadv,pwritev,preadv2,pwritev2,io_submit,fsync,fdatasync,msync";
const JOBS: [&str; 8] = [
    "rw=read size=256k",
    "rw=write size=256k bs=16k fsync=4",
    "rw=randread size=256k",
    "rw=randwrite size=256k fdatasync=8",
    "rw=write size=256k end_fsync=1",
    "rw=write size=256k io_size=512k",
    "rw=randwrite size=1m bs=64k numjobs=1 iodepth=8",
    "rw=randrw size=256k rwmixread=50 norandommap=1",
];

/// System calls on the file: the number of calls and bytes by name, and how often each 512-byte
/// sector is accessed.
#[derive(Debug, Default, Eq, PartialEq)]
pub(crate) struct Calls {
    pub counts: BTreeMap<String, (u64, u64)>,
    pub coverage: BTreeMap<(String, u64), u32>,
}

impl Calls {
    fn parse(log: &str, file: &Path) -> Self {
        let marker = format!("<{}>", file.display());
        let mut calls = Self::default();
        let mut position = 0;
        for line in log.lines() {
            let Some((name, rest)) = line.split_once('(') else {
                continue;
            };
            if name == "io_submit" {
                calls.submit(rest, &marker);
                continue;
            }
            // A mapping has no descriptor.
            if name == "msync" {
                calls.count("msync", 0);
                continue;
            }
            if !rest.contains(&marker) {
                continue;
            }
            let arguments = rest
                .rsplit_once(')')
                .map_or(rest, |(arguments, _)| arguments);
            let fields: Vec<&str> = arguments.split(", ").collect();
            let field = |back: usize| -> u64 {
                let text = fields[fields.len() - 1 - back];
                let digits = text.trim_end_matches([']', '}']);
                let digits = digits.rsplit_once('=').map_or(digits, |(_, digits)| digits);
                digits.parse().unwrap_or_else(|_| panic!("{line}"))
            };
            let moved = || -> u64 {
                let result = line.rsplit("= ").next().unwrap();
                result.parse().unwrap_or_else(|_| panic!("{line}"))
            };
            match name {
                "lseek" if fields.last() == Some(&"SEEK_SET") => {
                    position = field(1);
                    calls.count("lseek", 0);
                }
                "read" | "write" => {
                    calls.transfer(name, position, moved());
                    position += moved();
                }
                "pread64" | "pwrite64" | "preadv" | "pwritev" => {
                    calls.transfer(name, field(0), moved());
                }
                "preadv2" | "pwritev2" => calls.transfer(name, field(1), moved()),
                "fsync" | "fdatasync" => calls.count(name, 0),
                _ => {}
            }
        }
        calls
    }

    /// Example: `[{aio_data=0, aio_lio_opcode=IOCB_CMD_PREAD, aio_fildes=5</f>, aio_buf=...,
    /// aio_nbytes=4096, aio_offset=0}, ...]`. The programs submit different batches, so count the
    /// I/Os.
    fn submit(&mut self, arguments: &str, marker: &str) {
        for iocb in arguments.split("aio_lio_opcode=IOCB_CMD_").skip(1) {
            if !iocb.contains(marker) {
                continue;
            }
            let number = |name: &str| -> u64 {
                let text = iocb.split_once(name).map_or("", |(_, text)| text);
                let end = text.find(|c: char| !c.is_ascii_digit());
                text[..end.unwrap_or(text.len())].parse().unwrap_or(0)
            };
            let name = iocb.split(',').next().unwrap_or_default();
            match name {
                "FSYNC" | "FDSYNC" => self.count(name, 0),
                name => self.transfer(name, number("aio_offset="), number("aio_nbytes=")),
            }
        }
    }

    /// With libaio, fio 3.33 calls fsync and fdatasync.
    pub(crate) fn rename_syncs(&mut self) {
        for (leadline, fio) in [("FSYNC", "fsync"), ("FDSYNC", "fdatasync")] {
            if let Some((count, _)) = self.counts.remove(leadline) {
                self.counts.entry(fio.into()).or_default().0 += count;
            }
        }
    }

    fn count(&mut self, name: &str, bytes: u64) {
        let count = self.counts.entry(name.into()).or_default();
        count.0 += 1;
        count.1 += bytes;
    }

    fn transfer(&mut self, name: &str, offset: u64, bytes: u64) {
        self.count(name, bytes);
        for unit in offset / 512..(offset + bytes) / 512 {
            *self.coverage.entry((name.into(), unit)).or_default() += 1;
        }
    }
}

/// Writes one trace per thread, `log.PID`.
fn strace(engine: &str, log: &Path) -> Command {
    let mut command = Command::new("strace");
    // strace's string limit also applies to arrays, which are needed for libaio. For other engines,
    // strings are omitted, because their contents could be mistaken for arguments.
    let length = if engine == "libaio" { "32" } else { "0" };
    command
        .args(["-ff", "-qq", "-y", "-s", length, "-e", CALLS, "-o"])
        .arg(log);
    command
}

/// Reads and removes the traces of all threads.
fn take_logs(directory: &Path) -> String {
    let mut text = String::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.to_string_lossy().contains(".log.") {
            text += &fs::read_to_string(&path).unwrap();
            fs::remove_file(path).unwrap();
        }
    }
    text
}

/// Parses job options for both programs.
fn options(text: &str) -> Vec<(String, String)> {
    let options = text.split_whitespace();
    let pair = |option: &str| {
        let (name, value) = option.split_once('=').unwrap();
        (name.to_owned(), value.to_owned())
    };
    options.map(pair).collect()
}

struct Comparison {
    directory: tempfile::TempDir,
}

impl Comparison {
    /// Both programs overwrite an existing file, so that neither lays it out.
    fn prepare(&self) -> PathBuf {
        let file = self.directory.path().join("f");
        let _ = fs::remove_file(&file);
        scratch::image(&file, 1 << 20);
        file
    }

    fn fio(&self, engine: &str, job: &str) -> (Calls, Value) {
        fio_calls(&self.prepare(), self.directory.path(), engine, job)
    }

    fn leadline(&self, engine: &str, job: &str) -> (Calls, Value) {
        leadline_calls(&self.prepare(), self.directory.path(), engine, job, None)
    }
}

/// Runs a job with fio on a target, and returns its calls and its result.
pub(crate) fn fio_calls(
    target: &Path,
    directory: &Path,
    engine: &str,
    job: &str,
) -> (Calls, Value) {
    let options = options(job);
    let options = options
        .iter()
        .map(|(name, value)| format!("--{name}={value}"));
    let output = strace(engine, &directory.join("fio.log"))
        .args(["fio", "--name=job", "--thread", "--output-format=json"])
        .arg(format!("--ioengine={engine}"))
        .arg(format!("--filename={}", target.display()))
        .args(options)
        .current_dir(directory)
        .stderr(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "fio {engine} {job}");
    // fio may print notes before the result.
    let begin = output.stdout.iter().position(|byte| *byte == b'{').unwrap();
    let result: Value = serde_json::from_slice(&output.stdout[begin..]).unwrap();
    let log = take_logs(directory);
    (Calls::parse(&log, target), result["jobs"][0].clone())
}

/// Runs a job on a target, and returns its calls and its result. If `identity` is set, writes to
/// the device with this identity are permitted.
pub(crate) fn leadline_calls(
    target: &Path,
    directory: &Path,
    engine: &str,
    job: &str,
    identity: Option<&str>,
) -> (Calls, Value) {
    let mut run = json!({"filename": target, "ioengine": engine, "direct": 0, "probes": 0});
    for (name, value) in options(job) {
        run[name] = json!(value);
    }
    let mut command = strace(engine, &directory.join("leadline.log"));
    command
        .arg(env!("CARGO_BIN_EXE_leadline-runner"))
        .args(JSON);
    if let Some(identity) = identity {
        command.args(["--allow-raw-write", identity]);
    }
    let output = spawn(&mut command, &run).wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{engine} {job}: {errors}");
    let result = serde_json::from_slice(&output.stdout).unwrap();
    let log = take_logs(directory);
    (Calls::parse(&log, target), result)
}

/// I/Os and bytes of reads and writes in both results.
pub(crate) fn results(fio: &Value, leadline: &Value) -> [[u64; 4]; 2] {
    let number = |value: &Value| value.as_u64().unwrap_or(0);
    let fio = ["read", "write"].map(|direction| {
        let direction = &fio[direction];
        [
            number(&direction["total_ios"]),
            number(&direction["io_bytes"]),
        ]
    });
    let leadline = ["read", "write"].map(|direction| {
        let direction = &leadline["report"][direction];
        [number(&direction["ios"]), number(&direction["bytes"])]
    });
    [fio, leadline].map(|[read, write]| [read[0], read[1], write[0], write[1]])
}

/// Asserts that both programs issue the same system calls.
fn check(engine: &str) {
    if scratch::run("fio", &["--version"]).is_err() || scratch::run("strace", &["-V"]).is_err() {
        return scratch::skip("requires fio and strace");
    }
    let comparison = Comparison {
        directory: scratch::directory(),
    };
    let mut differences = Vec::new();
    for job in JOBS {
        let (mut fio_calls, fio) = comparison.fio(engine, job);
        let (mut leadline_calls, leadline) = comparison.leadline(engine, job);
        let is_random = job.contains("rw=rand");
        let is_mixed = job.contains("rw=randrw");
        if is_mixed {
            // The direction and the offsets are random.
            fio_calls = Calls::default();
            leadline_calls = Calls::default();
        }
        if engine == "sync" && is_random {
            // A random offset may happen to follow the previous one, which needs no lseek.
            for calls in [&mut fio_calls, &mut leadline_calls] {
                calls.counts.remove("lseek");
            }
        }
        if engine == "sync" && !is_random {
            // The runner seeks before the first pass, outside the measurement.
            let seeks = leadline_calls
                .counts
                .remove("lseek")
                .map_or(0, |count| count.0);
            // fio does not seek for the second pass, because it opens the file again.
            if seeks > 1 && !job.contains("io_size") {
                leadline_calls.counts.insert("lseek".into(), (seeks - 1, 0));
            }
        }
        if engine == "sync" && job.contains("io_size") {
            // After fio has opened the file again, its position is unknown.
            fio_calls.coverage.clear();
            leadline_calls.coverage.clear();
        }
        // The final flush is not issued by the engine.
        if engine == "mmap"
            && job.contains("end_fsync")
            && let Some(count) = leadline_calls.counts.remove("fsync")
        {
            leadline_calls.counts.insert("msync".into(), count);
        }
        if engine == "libaio" {
            leadline_calls.rename_syncs();
        }
        let [mut fio_result, mut leadline_result] = results(&fio, &leadline);
        if is_mixed {
            for result in [&mut fio_result, &mut leadline_result] {
                *result = [result[0] + result[2], result[1] + result[3], 0, 0];
            }
        }
        if fio_calls != leadline_calls || fio_result != leadline_result {
            differences.push(format!(
                "{engine} {job}\n  fio  {:?} {fio_result:?}\n  leadline {:?} {leadline_result:?}",
                fio_calls.counts, leadline_calls.counts
            ));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn psync_issues_the_same_system_calls_as_in_fio() {
    check("psync");
}

#[test]
fn sync_issues_the_same_system_calls_as_in_fio() {
    check("sync");
}

#[test]
fn pvsync_issues_the_same_system_calls_as_in_fio() {
    check("pvsync");
}

#[test]
fn pvsync2_issues_the_same_system_calls_as_in_fio() {
    check("pvsync2");
}

#[test]
fn libaio_issues_the_same_system_calls_as_in_fio() {
    check("libaio");
}

#[test]
fn mmap_issues_the_same_system_calls_as_in_fio() {
    check("mmap");
}

#[test]
fn sequential_sync_seeks_once() {
    let directory = scratch::directory();
    if scratch::run("strace", &["-V"]).is_err() {
        return scratch::skip("requires strace");
    }
    let comparison = Comparison { directory };
    let (calls, _) = comparison.leadline("sync", "rw=read size=256k loops=2");
    // One seek before the first pass, outside the measurement, and one before the second pass.
    assert_eq!(calls.counts["lseek"].0, 2);
    assert_eq!(calls.counts["read"], (128, 512 << 10));
}
