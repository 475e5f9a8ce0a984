//! Per-I/O priorities: fio and the runner send the same priorities to the kernel's block layer, as
//! traced by block_rq_issue on a loop device.

use crate::scratch::{self, Loop, fio_link::Programs, skip};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

const IMAGE_BYTES: u64 = 8 << 20;
/// Requests by class, hint and level.
type Requests = BTreeMap<String, u64>;

/// A tracing instance for the requests to one device, removed on drop.
struct Instance(PathBuf);

impl Instance {
    fn new(device: &Loop) -> Option<Self> {
        let root = Path::new("/sys/kernel/tracing/instances");
        let instance = Self(root.join(format!("leadline-test-{}", std::process::id())));
        if let Err(error) = fs::create_dir(&instance.0) {
            skip(&format!("no tracing instance: {error}"));
            std::mem::forget(instance);
            return None;
        }
        let numbers =
            fs::read_to_string(format!("/sys/class/block/{}/dev", device.name())).unwrap();
        let (major, minor) = numbers.trim().split_once(':').unwrap();
        let number = major.parse::<u32>().unwrap() << 20 | minor.parse::<u32>().unwrap();
        let event = instance.0.join("events/block/block_rq_issue");
        let filter = format!("dev == {number} && bytes > 0");
        fs::write(event.join("filter"), filter).unwrap();
        fs::write(event.join("enable"), "1").unwrap();
        Some(instance)
    }

    /// Returns the requests since the last call. A trace line ends with
    /// `+ SECTORS CLASS,HINT,LEVEL [COMMAND]`.
    fn take(&self) -> Requests {
        let trace = self.0.join("trace");
        let text = fs::read_to_string(&trace).unwrap();
        fs::write(&trace, "").unwrap();
        let mut requests = Requests::new();
        for line in text.lines().filter(|line| line.contains("block_rq_issue:")) {
            let (start, _) = line.rsplit_once(" [").unwrap();
            let priority = start.rsplit(' ').next().unwrap().to_owned();
            // Kernels before about 6.18 do not print the priority.
            if priority.contains(',') {
                *requests.entry(priority).or_default() += 1;
            }
        }
        requests
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        let _ = fs::write(self.0.join("events/enable"), "0");
        let _ = fs::remove_dir(&self.0);
    }
}

fn share(requests: &Requests, priority: &str) -> f64 {
    let all: u64 = requests.values().sum();
    let count = requests.get(priority).copied().unwrap_or(0);
    count as f64 / all as f64
}

/// Class and level of each priority in fio's JSON output, with the number of its I/Os.
fn reported(output: &[u8], direction: &str) -> BTreeMap<(u64, u64), u64> {
    let document: Value = serde_json::from_slice(output).unwrap();
    let priorities = document["jobs"][0][direction]["prios"].as_array();
    let number = |value: &Value| value.as_u64().unwrap();
    let entry = |found: &Value| {
        let latency = found.get("clat_ns").unwrap_or(&found["lat_ns"]);
        let priority = (number(&found["prioclass"]), number(&found["prio"]));
        (priority, number(&latency["N"]))
    };
    priorities.into_iter().flatten().map(entry).collect()
}

/// Options, and the expected percentage of requests with each `CLASS,HINT,LEVEL`.
const JOBS: &[(&str, &[(&str, f64)])] = &[
    (
        "--ioengine=io_uring --cmdprio_percentage=20 --cmdprio_class=3",
        &[("none,0,0", 80.0), ("idle,0,0", 20.0)],
    ),
    (
        "--ioengine=libaio --cmdprio_percentage=30 --cmdprio=5 --prioclass=2 --prio=6",
        &[("be,0,6", 70.0), ("rt,0,5", 30.0)],
    ),
    (
        "--ioengine=io_uring --bssplit=4k/50:8k/50 --cmdprio_bssplit=4k/20/1/1:4k/60/3/2:8k/100 \
         --cmdprio_class=2 --cmdprio=3",
        &[
            ("none,0,0", 10.0),
            ("rt,0,1", 10.0),
            ("idle,0,2", 30.0),
            ("be,0,3", 50.0),
        ],
    ),
    (
        "--ioengine=io_uring --fixedbufs --cmdprio_percentage=50,0 --cmdprio_class=2 --cmdprio=7",
        &[("none,0,0", 50.0), ("be,0,7", 50.0)],
    ),
];

#[test]
fn requests_have_the_same_priorities_as_in_fio() {
    if Command::new("fio").arg("--version").output().is_err() {
        return skip("fio is not installed");
    }
    let programs = Programs::new();
    let image = programs.path().join("image");
    scratch::image(&image, IMAGE_BYTES);
    let Some(device) = Loop::attach(&image, &["--direct-io=on"]) else {
        return;
    };
    let Some(instance) = Instance::new(&device) else {
        return;
    };
    for (options, expected) in JOBS {
        let common = format!(
            "--output-format=json --name=a --filename={} --direct=1 --rw=randread --bs=4k \
             --iodepth=4 --norandommap {options}",
            device.0
        );
        let arguments: Vec<&str> = common.split_whitespace().collect();
        for program in [Path::new("fio"), &programs.runner] {
            instance.take();
            let output = programs.start(program, &arguments, "");
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{program:?} {options}: {errors}");
            let requests = instance.take();
            if requests.is_empty() {
                return skip("the kernel does not report request priorities");
            }
            for (priority, percent) in *expected {
                // Without an explicit priority, the kernel derives one from the nice value.
                let others = expected.iter().filter(|(other, _)| other != priority);
                let found = match *priority {
                    "none,0,0" => {
                        1.0 - others
                            .map(|(other, _)| share(&requests, other))
                            .sum::<f64>()
                    }
                    _ => share(&requests, priority),
                } * 100.0;
                // fio draws each priority at random, and other programs may probe the device.
                let is_close = (found - percent).abs() < 6.0;
                assert!(is_close, "{program:?} {options}: {requests:?}");
            }
            let reported = reported(&output.stdout, "read");
            assert_eq!(reported.len(), expected.len(), "{program:?} {options}");
            let ios: u64 = reported.values().sum();
            for (priority, percent) in *expected {
                let mut parts = priority.split(',');
                let class = match parts.next() {
                    Some("rt") => 1,
                    Some("be") => 2,
                    Some("idle") => 3,
                    _ => 0,
                };
                let level = parts.nth(1).unwrap().parse().unwrap();
                let count = reported[&(class, level)] as f64;
                let found = count * 100.0 / ios as f64;
                assert!(
                    (found - percent).abs() < 6.0,
                    "{program:?} {options}: {reported:?}"
                );
            }
        }
    }
}
