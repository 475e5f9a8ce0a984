//! If the host permits it, each run has its own cgroup, so that its I/O can be counted even while
//! another program uses the same disk. This requires cgroup v2 with the io controller, so the test
//! runs in user-mode Linux.

use crate::scratch::{
    self, Mounted,
    mapped::Mapped,
    program::{report, start, with},
    run,
    uml::{self, Machine},
};
use rustix::fs::{XattrFlags, setxattr};
use serde_json::{Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Child,
    thread::sleep,
    time::Duration,
};

const MIB: u64 = 1 << 20;
const SIZE: u64 = 8 * MIB;
/// I/O rate of the other program, in bytes per second.
const RATE: u64 = 4 * MIB;
const UNIT: &str = "/run/cgroup/unit";

#[test]
fn a_host_without_delegation_is_reported_with_a_reason() {
    if uml::is_inside() {
        return;
    }
    let file = scratch::directory();
    let job = job(&file.path().join("file"), json!({"rw": "randread"}));
    let report = &report(&job)["report"];
    assert_eq!(
        report["cgroup"].is_null(),
        !report["absent"]["cgroup"].is_null()
    );
    let reason = report["absent"]["cgroup"].as_str().unwrap_or_default();
    assert!(
        report["cgroup"].is_object() || reason.contains("Delegate=yes"),
        "{reason}"
    );
}

/// On the host, this boots user-mode Linux, whose init runs the same test.
#[test]
fn only_the_runs_own_bytes_are_counted() {
    if !uml::is_inside() {
        return uml::run(&Machine {
            test: "control_group::only_the_runs_own_bytes_are_counted",
            disks: vec![("ubda", 128 * MIB), ("ubdb", 64 * MIB), ("ubdc", 128 * MIB)],
            modules: &["dm-thin-pool"],
            timeout: Duration::from_secs(300),
        });
    }
    delegate();
    files_on_one_disk();
    let thin = half_provisioned();
    mapped(&thin);
    // This run removes the last neighbor's cgroup.
    report(&job(Path::new(&thin[0].node), json!({"rw": "randread"})));
    let left = fs::read_dir(UNIT).unwrap().flatten();
    let left = left.filter(|entry| entry.file_name().to_string_lossy().starts_with("leadline"));
    assert_eq!(
        left.count(),
        0,
        "leftover cgroups of finished and killed runs"
    );
}

/// Creates cgroups as systemd does for a unit with Delegate=yes and DelegateSubgroup=main.
fn delegate() {
    fs::create_dir("/run/cgroup").unwrap();
    run("mount", &["-t", "cgroup2", "none", "/run/cgroup"]).unwrap();
    fs::write("/run/cgroup/cgroup.subtree_control", "+io +memory").unwrap();
    let main = Path::new(UNIT).join("main");
    fs::create_dir_all(&main).unwrap();
    fs::create_dir(Path::new(UNIT).join("leadline-run-1")).unwrap();
    setxattr(UNIT, "user.delegate", b"1", XattrFlags::empty()).unwrap();
    fs::write(main.join("cgroup.procs"), "0").unwrap();
}

fn job(file: &Path, changes: Value) -> Value {
    let plain = json!({"name": "job", "filename": file, "size": SIZE, "bs": "4k", "direct": 1});
    with(&plain, changes)
}

/// Another run that uses the same disk; killed on drop.
struct Neighbor(Child);

impl Neighbor {
    fn start(file: &Path, rw: &str) -> Self {
        let limited =
            json!({"rw": rw, "bs": "64k", "rate": RATE, "time_based": 1, "runtime": "60s"});
        let neighbor = Self(start(&job(file, limited), &[]));
        let group = format!("{UNIT}/leadline-run-{}/io.stat", neighbor.0.id());
        let moved = || fs::read_to_string(&group).is_ok_and(|text| text.contains("rbytes"));
        while !moved() {
            sleep(Duration::from_millis(50));
        }
        // Wait for the neighbor's layout.
        sleep(Duration::from_secs(3));
        neighbor
    }
}

impl Drop for Neighbor {
    /// A killed run does not remove its cgroup.
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
        let group = PathBuf::from(format!("{UNIT}/leadline-run-{}", self.0.id()));
        assert!(group.exists());
    }
}

fn files_on_one_disk() {
    run(
        "mkfs.ext4",
        &[
            "-q",
            "-F",
            "-E",
            "lazy_itable_init=0,lazy_journal_init=0",
            "/dev/ubda",
        ],
    )
    .unwrap();
    let at = Path::new("/run/ext4");
    fs::create_dir(at).unwrap();
    let _mounted = Mounted::new("/dev/ubda", at);
    let [file, neighbor_file] = ["file", "neighbor_file"].map(|name| at.join(name));
    let long = json!({"time_based": 1, "runtime": "4s", "rate_iops": 500});
    for rw in ["randread", "randwrite"] {
        let direction = rw.trim_start_matches("rand");
        let _neighbor = Neighbor::start(&neighbor_file, rw);
        let found = report(&job(&file, with(&json!({"rw": rw}), long.clone())));
        let own = charged(&found, "ubda", direction);
        assert_near(own, issued(&found, direction), 0.001, rw);
        let device = found["report"]["device"][format!("{direction}_bytes")]
            .as_u64()
            .unwrap();
        let seconds = found["report"]["duration_ms"].as_f64().unwrap() / 1e3;
        assert_near(device - own, (RATE as f64 * seconds) as u64, 0.1, rw);
        let modifiers = &found["verdict"][direction]["modifiers"];
        assert!(
            modifiers.to_string().contains("foreign"),
            "{rw}: {modifiers}"
        );
        let proof = &found["verdict"][direction]["proof"];
        assert!(proof.to_string().contains("by this run on ubda"), "{rw}");
    }
    let buffered = json!({"rw": "randwrite", "direct": 0, "fsync": 32});
    let found = report(&job(&file, buffered));
    let (own, issued) = (charged(&found, "ubda", "write"), issued(&found, "write"));
    assert!(own <= issued + MIB && own > issued / 2, "{own} of {issued}");
}

/// Creates a thin volume, half of whose blocks are provisioned on ubdc. The neighbor uses the same
/// disk.
fn half_provisioned() -> [Mapped; 5] {
    let metadata = Mapped::new("metadata", 16 * MIB, "linear /dev/ubdb 0");
    let data = Mapped::new("data", 64 * MIB, "linear /dev/ubdc 0");
    let other = Mapped::new("other", 64 * MIB, "linear /dev/ubdc 131072");
    let pool = format!("thin-pool {} {} 128 0", metadata.node, data.node);
    let pool = Mapped::new("pool", 64 * MIB, &pool);
    run("dmsetup", &["message", "pool", "0", "create_thin 0"]).unwrap();
    let thin = Mapped::new("thin", SIZE, &format!("thin {} 0", pool.node));
    write_half(&thin, 0);
    [thin, pool, other, data, metadata]
}

fn write_half(thin: &Mapped, half: u64) {
    let to = format!("of={}", thin.node);
    let skipped = format!("seek={}", 4 * half);
    let plain = ["if=/dev/urandom", "bs=1M", "count=4", "oflag=direct"];
    run("dd", &[&plain[..], &[&to, &skipped]].concat()).unwrap();
}

fn mapped([thin, _, other, ..]: &[Mapped; 5]) {
    let _neighbor = Neighbor::start(Path::new(&other.node), "randread");
    let found = report(&job(Path::new(&thin.node), json!({"rw": "randread"})));
    let name = thin.node.trim_start_matches("/dev/");
    assert_near(charged(&found, name, "read"), SIZE, 0.001, "thin");
    assert_near(
        charged(&found, "ubdc", "read"),
        SIZE / 2,
        0.001,
        "the disk below thin",
    );
    assert_eq!(found["verdict"]["read"]["class"], "unknown");
    write_half(thin, 1);
    let found = report(&job(Path::new(&thin.node), json!({"rw": "randread"})));
    assert_near(
        charged(&found, "ubdc", "read"),
        SIZE,
        0.001,
        "the whole thin volume",
    );
    assert_eq!(
        found["verdict"]["read"]["class"], "device",
        "with a neighbor"
    );
}

fn issued(found: &Value, direction: &str) -> u64 {
    found["report"][direction]["bytes"].as_u64().unwrap()
}

fn charged(found: &Value, name: &str, direction: &str) -> u64 {
    let group = &found["report"]["cgroup"];
    let devices = group["devices"].as_array();
    let devices = devices.unwrap_or_else(|| panic!("{}", found["report"]["absent"]));
    let device = devices.iter().find(|device| device["device"] == name);
    device.unwrap()[format!("{direction}_bytes")]
        .as_u64()
        .unwrap()
}

fn assert_near(found: u64, expected: u64, tolerance: f64, what: &str) {
    eprintln!("{what}: {found} bytes, {expected} expected");
    let difference = (found as f64 - expected as f64).abs();
    assert!(
        difference <= tolerance * expected as f64,
        "{what}: {found}, not {expected}"
    );
}
