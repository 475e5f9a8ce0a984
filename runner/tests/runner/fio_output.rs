//! Tests `--output-format`: the same job runs with fio and with the runner. The outputs must have
//! the same fields, and fio's own tools must be able to read them.

use crate::scratch;
use serde_json::{Value, json};
use std::{collections::BTreeMap, fs, path::Path, process::Command};

/// Fields of fio's output that the runner cannot provide (docs/fio-output.md).
const NOT_COUNTED: [&str; 3] = ["iodepth_level", "iodepth_submit", "iodepth_complete"];

struct Directory(tempfile::TempDir);

impl Directory {
    /// Returns `None` if fio is not installed.
    fn new() -> Option<Self> {
        match scratch::run("fio", &["--version"]) {
            Ok(_) => Some(Self(scratch::directory())),
            Err(error) => {
                scratch::skip(&error);
                None
            }
        }
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Returns the runner's output.
    fn runner(&self, document: &Value, format: &str) -> String {
        let format = format!("--output-format={format}");
        let output = scratch::document::run(document, self.path(), &[&format]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{errors}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Returns fio's output for a job with the same options.
    fn fio(&self, job: &Value, format: &str) -> String {
        let options = job.as_object().unwrap().iter().map(|(name, value)| {
            let value = value.as_str().map_or(value.to_string(), str::to_owned);
            format!("--{name}={value}")
        });
        let output = Command::new("fio")
            .current_dir(self.path())
            .args(options)
            .args(["--group_reporting", &format!("--output-format={format}")])
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }
}

fn mixed_job() -> Value {
    json!({
        "name": "mixed",
        "filename": "mixed.bin",
        "size": "16m",
        "rw": "randrw",
        "bs": "4k",
        "iodepth": 4,
        "numjobs": 2,
        "fsync": 64,
        "ioengine": "io_uring",
        "direct": 0,
        "runtime": "1",
        "time_based": 1,
    })
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Collects JSON types by path. All elements of a list share a path, as do all bins of a histogram.
fn collect_types(value: &Value, path: &str, found: &mut BTreeMap<String, &'static str>) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                let name = if path.ends_with("bins") { "*" } else { name };
                collect_types(field, &format!("{path}/{name}"), found);
            }
        }
        Value::Array(items) => items
            .iter()
            .for_each(|item| collect_types(item, path, found)),
        Value::Number(number) if number.is_f64() => {
            found.insert(path.into(), "float");
        }
        Value::Number(_) => {
            found.insert(path.into(), "integer");
        }
        Value::String(_) => {
            found.insert(path.into(), "string");
        }
        _ => {
            found.insert(path.into(), "other");
        }
    }
}

fn types_of(document: &Value) -> BTreeMap<String, &'static str> {
    let mut found = BTreeMap::new();
    collect_types(document, "", &mut found);
    found.retain(|path, _| !NOT_COUNTED.iter().any(|field| path.contains(field)));
    // fio's option list does not include flags.
    found.retain(|path, _| !path.ends_with("/job options/time_based"));
    found
}

#[test]
fn json_has_the_fields_and_types_of_fio() {
    let Some(directory) = Directory::new() else {
        return;
    };
    for format in ["json", "json+"] {
        let fio_output = parsed(&directory.fio(&mixed_job(), format));
        fs::remove_file(directory.path().join("mixed.bin")).unwrap();
        let leadline = parsed(&directory.runner(&mixed_job(), format));
        assert_eq!(types_of(&leadline), types_of(&fio_output), "{format}");
        let job = &leadline["jobs"][0];
        assert_eq!(job["job options"]["numjobs"], "2");
        assert_eq!(job["job options"]["runtime"], "1");
        let read = &job["read"];
        assert_eq!(
            read["io_bytes"],
            json!(read["total_ios"].as_u64().unwrap() * 4096)
        );
        assert_eq!(read["clat_ns"]["N"], read["total_ios"]);
        assert!(job["sync"]["total_ios"].as_u64().unwrap() > 0);
    }
}

#[test]
fn synchronous_engines_have_completion_latencies_as_in_fio() {
    let Some(directory) = Directory::new() else {
        return;
    };
    let mut job = mixed_job();
    job["ioengine"] = json!("psync");
    job["iodepth"] = json!(1);
    let fio_output = parsed(&directory.fio(&job, "json"));
    fs::remove_file(directory.path().join("mixed.bin")).unwrap();
    let leadline = parsed(&directory.runner(&job, "json"));
    for result in [&fio_output, &leadline] {
        let read = &result["jobs"][0]["read"];
        assert_eq!(read["slat_ns"]["N"], 0, "{read}");
        assert_eq!(read["clat_ns"]["N"], read["total_ios"]);
        let p50 = read["clat_ns"]["percentile"]["50.000000"].as_u64();
        assert!(p50.is_some_and(|ns| ns > 0), "{read}");
    }
}

#[test]
fn terse_output_matches_fio() {
    let Some(directory) = Directory::new() else {
        return;
    };
    let fio_output = directory.fio(&mixed_job(), "terse");
    fs::remove_file(directory.path().join("mixed.bin")).unwrap();
    let leadline = directory.runner(&mixed_job(), "terse");
    let names = |line: &str| -> Vec<String> {
        let fields = line.trim_end().split(';');
        // Field names and units, without the values.
        let name = |field: &str| match field.split_once('=') {
            Some((percentile, _)) => percentile.into(),
            None => field
                .trim_start_matches(|c: char| c.is_ascii_digit() || c == '.')
                .to_owned(),
        };
        let mut names: Vec<String> = fields.map(name).collect();
        names[1] = "version".into();
        names
    };
    let fio_output = fio_output.lines().last().unwrap();
    assert_eq!(
        names(&leadline),
        names(fio_output),
        "{leadline}\n{fio_output}"
    );
}

#[test]
fn text_output_matches_fio() {
    let Some(directory) = Directory::new() else {
        return;
    };
    let fio_output = directory.fio(&mixed_job(), "normal");
    fs::remove_file(directory.path().join("mixed.bin")).unwrap();
    let leadline = directory.runner(&mixed_job(), "normal");
    // Labels that scripts search for.
    for label in [
        "mixed: (groupid=0, jobs=2): err= 0: pid=",
        "  read: IOPS=",
        "  write: IOPS=",
        "    slat (",
        "    clat percentiles (",
        "   bw (  KiB/s): min=",
        "   iops        : min=",
        "  lat (usec)   : ",
        "  fsync/fdatasync/sync_file_range:",
        "  cpu          : usr=",
        "     issued rwts: total=",
        "Run status group 0 (all jobs):",
        "   READ: bw=",
        "Disk stats (read/write):",
    ] {
        let has_line = |text: &str| text.lines().any(|line| line.starts_with(label));
        assert!(
            has_line(&fio_output),
            "fio has no line {label:?}: {fio_output}"
        );
        assert!(has_line(&leadline), "no line {label:?}: {leadline}");
    }
}

#[test]
fn study_steps_are_groups() {
    let directory = scratch::directory();
    let step = |name: &str| json!({"name": name, "jobs": [{"name": name, "filename": "s.bin", "size": "1m", "rw": "read", "direct": 0}]});
    let document = json!({"name": "two", "steps": [step("first"), step("second")]});
    let output = scratch::document::run(&document, directory.path(), &["--output-format=json"]);
    let document = parsed(&String::from_utf8(output.stdout).unwrap());
    let jobs = document["jobs"].as_array().unwrap();
    let groups: Vec<_> = jobs
        .iter()
        .map(|job| {
            (
                job["jobname"].as_str().unwrap(),
                job["groupid"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(groups, [("first", 0), ("second", 1)]);
}

#[test]
fn fio_histogram_tool_reads_json_plus() {
    let Some(directory) = Directory::new() else {
        return;
    };
    let text = directory.runner(&mixed_job(), "json+");
    let input = directory.path().join("out.json");
    fs::write(&input, &text).unwrap();
    let output = Command::new("fio_jsonplus_clat2csv")
        .current_dir(directory.path())
        .args(["out.json", "table.csv"])
        .output();
    match output {
        Err(error) => return scratch::skip(&format!("fio_jsonplus_clat2csv: {error}")),
        Ok(output) => assert!(output.status.success(), "{output:?}"),
    }
    let table = fs::read_to_string(directory.path().join("table_job0.csv")).unwrap();
    let mut lines = table
        .lines()
        .map(|line| line.split(", ").collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let column = |name| header.iter().position(|cell| *cell == name).unwrap();
    let counts = column("read_clat_ns_count");
    let sum: u64 = lines
        .filter_map(|cells| cells[counts].trim().parse::<u64>().ok())
        .sum();
    assert_eq!(parsed(&text)["jobs"][0]["read"]["clat_ns"]["N"], json!(sum));
}

#[test]
fn logs_match_fio() {
    let Some(directory) = Directory::new() else {
        return;
    };
    let mut job = mixed_job();
    let prefix = directory.path().join("leadline");
    let argument = format!("--write-logs={}", prefix.display());
    let document = json!({"jobs": [job], "sample_ms": 200});
    let output = scratch::document::run(&document, directory.path(), &["--json", &argument]);
    let report = parsed(&String::from_utf8(output.stdout).unwrap());
    fs::remove_file(directory.path().join("mixed.bin")).unwrap();
    let options = job.as_object_mut().unwrap();
    options.insert("numjobs".into(), json!(1));
    for log in [
        "write_bw_log",
        "write_iops_log",
        "write_lat_log",
        "write_hist_log",
    ] {
        options.insert(log.into(), json!("fio_output"));
    }
    options.insert("log_avg_msec".into(), json!(200));
    options.insert("log_hist_msec".into(), json!(200));
    directory.fio(&job, "json");
    for log in ["bw", "iops", "lat", "clat_hist"] {
        let read = |name: &str| {
            let path = directory.path().join(format!("{name}_{log}.1.log"));
            fs::read_to_string(path).unwrap()
        };
        let columns = |text: &str| -> Vec<usize> {
            let counts = text.lines().map(|line| line.split(", ").count());
            let mut counts: Vec<usize> = counts.collect();
            counts.dedup();
            counts
        };
        let (leadline, fio_output) = (read("leadline"), read("fio_output"));
        assert_eq!(columns(&leadline), columns(&fio_output), "{log}");
        // 5 windows of 200 ms. Each contains reads and writes.
        assert_eq!(leadline.lines().count(), 10, "{log}: {leadline}");
    }
    let histogram = fs::read_to_string(directory.path().join("leadline_clat_hist.1.log")).unwrap();
    let bins = histogram.lines().map(|line| {
        let cells = line.split(", ").skip(3);
        cells.map(|cell| cell.parse::<u64>().unwrap()).sum::<u64>()
    });
    let count = |direction: &str| report["report"][direction]["ios"].as_u64().unwrap();
    assert_eq!(bins.sum::<u64>(), count("read") + count("write"));
}

#[test]
fn accepted_runs_replace_only_logs() {
    let directory = scratch::directory();
    let log = directory.path().join("kept_bw.1.log");
    fs::write(&log, "kept").unwrap();
    let run = |job: &Value, prefix: &str| {
        let argument = format!("--write-logs={}", directory.path().join(prefix).display());
        scratch::document::run(job, directory.path(), &[&argument])
    };
    let missing = json!({"filename": "missing.bin", "rw": "read", "direct": 0});
    assert_eq!(run(&missing, "kept").status.code(), Some(2));
    assert_eq!(fs::read_to_string(&log).unwrap(), "kept");
    let link = directory.path().join("link_iops.1.log");
    std::os::unix::fs::symlink(&log, &link).unwrap();
    for prefix in ["kept", "link"] {
        let output = run(&mixed_job(), prefix);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.contains("not a log of an earlier run"), "{errors}");
        assert_eq!(fs::read_to_string(&log).unwrap(), "kept");
    }
    for _ in 0..2 {
        assert_eq!(run(&mixed_job(), "again").status.code(), Some(0));
    }
    fs::remove_file(directory.path().join("mixed.bin")).unwrap();
    assert!(!directory.path().join("kept_iops.1.log").exists());
    let output = run(&mixed_job(), "no/such/directory");
    assert_eq!(output.status.code(), Some(2));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("is not a writable directory"), "{errors}");
    assert!(!directory.path().join("mixed.bin").exists());
}
