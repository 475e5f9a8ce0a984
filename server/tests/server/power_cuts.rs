//! Power cuts while runs are queued, started and stored. The server and its database run in
//! User-mode Linux (UML), which is killed at random times and boots again with the same disk.

use crate::program::{Program, command, job};
use leadline_lab::{Linux, Machine, is_inside};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use reqwest::StatusCode;
use serde_json::json;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    process::Command,
    sync::Arc,
    thread::sleep,
    time::Duration,
};

/// Default for `LEADLINE_POWER_CUTS`.
const POWER_CUTS: usize = 4;
const DISK: &str = "/dev/ubda";
/// Printed after the server has started and listed the runs of earlier boots.
const READY: &str = "ready";
/// Printed after this boot's first run was acknowledged.
const QUEUED: &str = "queued";
const BOOT: Duration = Duration::from_secs(90);

#[test]
fn acknowledged_runs_survive_power_cuts_and_start_once() {
    if is_inside() {
        return serve_until_power_cut();
    }
    let cuts = std::env::var("LEADLINE_POWER_CUTS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(POWER_CUTS);
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let machine = Machine {
        test: "power_cuts::acknowledged_runs_survive_power_cuts_and_start_once",
        disks: vec![("ubda", 256 << 20)],
        modules: &[],
        timeout: Duration::from_secs(600),
    };
    let mut random = StdRng::seed_from_u64(20_261_123);
    let mut history = History::default();
    for cut in 0..=cuts {
        let Some(mut linux) = Linux::boot(&machine, directory.path()) else {
            return;
        };
        linux.wait_for(QUEUED, BOOT);
        sleep(Duration::from_millis(random.random_range(0..1500)));
        history.add(&linux.cut_power(), cut);
    }
    history.check(cuts);
}

/// Console output of all boots.
#[derive(Default)]
struct History {
    acknowledged: BTreeSet<String>,
    /// Number of times that each run's runner was started.
    starts: BTreeMap<String, usize>,
    /// Statuses of each run, one per boot, in boot order.
    statuses: BTreeMap<String, Vec<String>>,
}

impl History {
    fn add(&mut self, console: &str, cut: usize) {
        let mut listed = BTreeSet::new();
        for line in console.lines().map(str::trim) {
            // The last line may be truncated.
            match line.split(' ').collect::<Vec<_>>()[..] {
                ["acknowledged", name] => drop(self.acknowledged.insert(name.into())),
                ["listed", name, status] => {
                    listed.insert(name.to_owned());
                    let statuses = self.statuses.entry(name.into()).or_default();
                    statuses.push(status.into());
                }
                [name] if name.starts_with("run-") => {
                    *self.starts.entry(name.into()).or_default() += 1;
                }
                _ => {}
            }
            if line == READY {
                let lost: Vec<_> = self.acknowledged.difference(&listed).collect();
                assert!(lost.is_empty(), "after cut {cut}: lost {lost:?}");
            }
        }
        assert!(!console.contains("panicked"), "{console}");
    }

    #[expect(clippy::print_stdout, reason = "test results")]
    fn check(&self, cuts: usize) {
        let twice: Vec<_> = self
            .starts
            .iter()
            .filter(|(_, starts)| **starts > 1)
            .collect();
        assert!(twice.is_empty(), "started more than once: {twice:?}");
        for (name, statuses) in &self.statuses {
            let is_final = |status: &str| matches!(status, "done" | "interrupted");
            let first = statuses.iter().position(|status| is_final(status));
            let changes = first.map_or(0, |first| {
                statuses[first..]
                    .iter()
                    .filter(|status| **status != statuses[first])
                    .count()
            });
            assert_eq!(changes, 0, "{name} changed after it ended: {statuses:?}");
        }
        println!(
            "{cuts} power cuts: {} runs acknowledged, {} started",
            self.acknowledged.len(),
            self.starts.len()
        );
        assert!(self.acknowledged.len() > cuts && !self.starts.is_empty());
    }
}

/// The console is standard output.
fn serve_until_power_cut() {
    run("ip", &["link", "set", "lo", "up"]);
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    std::fs::create_dir(&data).unwrap();
    mount(&data);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(serve(directory));
}

/// Formats the disk on the first boot.
fn mount(data: &Path) {
    let data = data.to_str().unwrap();
    let is_formatted = Command::new("mount").args([DISK, data]).status().unwrap();
    if !is_formatted.success() {
        run("mkfs.ext4", &["-q", DISK]);
        run("mount", &[DISK, data]);
    }
}

fn run(program: &str, arguments: &[&str]) {
    let status = Command::new(program).args(arguments).status().unwrap();
    assert!(status.success(), "{program} {arguments:?}");
}

#[expect(clippy::print_stdout, reason = "the test on the host reads it")]
async fn serve(directory: tempfile::TempDir) {
    let mut command = command(directory.path());
    // Runners print the names of started runs to the console.
    command.env("LEADLINE_FAKE_STARTS", "/dev/console");
    let server = Program::start_command(command, Arc::new(directory)).await;
    // Ends the line that the test harness has started.
    println!();
    let mut cursor = String::new();
    let mut runs = 0;
    loop {
        let list = server.get(&format!("/runs?limit=200{cursor}")).await;
        for run in list["runs"].as_array().unwrap() {
            let name = run["name"].as_str().unwrap();
            println!("listed {name} {}", run["status"].as_str().unwrap());
            runs += 1;
        }
        match list["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    println!("{READY}");
    for number in runs.. {
        let name = format!("run-{number}");
        let runtime = ["10ms", "50ms", "300ms"][number % 3];
        let body = json!({"jobs": [job(&name, runtime)], "sample_ms": 20});
        let (status, _) = server.post("/runs", &body).await;
        assert_eq!(status, StatusCode::CREATED);
        println!("acknowledged {name}");
        if number == runs {
            println!("{QUEUED}");
        }
    }
}
