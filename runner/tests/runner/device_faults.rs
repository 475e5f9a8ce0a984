//! Disk faults that require user-mode Linux. Each test is a row in docs/lab/faults.md.

use crate::scratch::{
    mapped::{self, Mapped},
    program::{last_event, measuring, run, runner, spawn_unconfirmed},
    uml::{self, Machine},
};
use serde_json::json;
use std::{
    path::Path,
    thread::sleep,
    time::{Duration, Instant},
};

/// Asserts that a write to `device` is rejected because `holder` uses it, and changes no byte.
fn check_holder(device: &str, holder: &str) {
    let before = std::fs::read(device).unwrap();
    let job = json!({"name": "raw", "filename": device, "rw": "write", "bs": "4k", "direct": 1, "ioengine": "psync"});
    let mut command = runner();
    command.args(["run", "-", "--json"]);
    let child = spawn_unconfirmed(&mut command, &job);
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{device}: {stderr}");
    assert!(stderr.contains(holder), "{device}: {stderr}");
    assert!(std::fs::read(device).unwrap() == before, "{device}");
}

#[test]
fn disks_below_dm_and_md_are_rejected_and_unchanged() {
    const BYTES: u64 = 16 << 20;
    if !uml::is_inside() {
        return uml::run(&Machine {
            test: "device_faults::disks_below_dm_and_md_are_rejected_and_unchanged",
            disks: ["ubda", "ubdb", "ubdc", "ubdd", "ubde"]
                .map(|name| (name, BYTES))
                .into(),
            modules: &["raid1", "dm-crypt", "xts"],
            timeout: Duration::from_secs(60),
        });
    }
    let low = Mapped::new("low", BYTES, "linear /dev/ubda 0");
    let _high = Mapped::new("high", BYTES, &format!("linear {} 0", low.node));
    check_holder("/dev/ubda", "dm-0");
    check_holder(&low.node, "dm-1");
    let key = "00".repeat(64);
    let crypt = format!("crypt aes-xts-plain64 {key} 0 /dev/ubdd 0");
    let _crypt = Mapped::new("secret", BYTES, &crypt);
    check_holder("/dev/ubdd", "secret");
    // The mapping of a logical volume. Its physical volume begins with 1 MiB of metadata.
    let _volume = Mapped::new("vg-home", BYTES - (1 << 20), "linear /dev/ubde 2048");
    check_holder("/dev/ubde", "vg-home");
    let disks = ["/dev/ubdb", "/dev/ubdc"].map(str::to_owned);
    let array = mapped::create_array("1", &[], &disks);
    for disk in &disks {
        check_holder(disk, array.trim_start_matches("/dev/"));
    }
}

/// Returns the name of the first disk of scsi_debug, which emulates disks in memory.
fn scsi_disk() -> String {
    let began = Instant::now();
    loop {
        let entries = std::fs::read_dir("/sys/class/block").unwrap().flatten();
        let mut names = entries.map(|entry| entry.file_name().into_string().unwrap());
        if let Some(name) = names.find(|name| name.starts_with("sd"))
            && Path::new("/dev").join(&name).exists()
        {
            return name;
        }
        assert!(began.elapsed() < Duration::from_secs(10), "no SCSI disk");
        sleep(Duration::from_millis(50));
    }
}

/// Removes the disk as if it were unplugged. Other disks can be tested afterward.
#[test]
fn a_deleted_scsi_disk_fails_the_run_within_two_seconds() {
    if !uml::is_inside() {
        return uml::run(&Machine {
            test: "device_faults::a_deleted_scsi_disk_fails_the_run_within_two_seconds",
            disks: vec![("ubda", 16 << 20)],
            modules: &["scsi_debug", "sd_mod"],
            timeout: Duration::from_secs(90),
        });
    }
    let name = scsi_disk();
    let read = |path: &str, runtime: &str| {
        json!({"name": "r", "filename": path, "rw": "randread", "bs": "4k", "direct": 1, "size": "4m",
            "ioengine": "psync", "rate_iops": 200, "runtime": runtime, "time_based": 1})
    };
    let (mut child, out) = measuring(&read(&format!("/dev/{name}"), "20s"));
    let delete = format!("/sys/block/{name}/device/delete");
    std::fs::write(delete, "1").unwrap();
    let began = Instant::now();
    let last = last_event(out);
    assert!(began.elapsed() < Duration::from_secs(2), "{last}");
    assert_eq!(child.wait().unwrap().code(), Some(1), "{last}");
    // Until the kernel removes the node, the device has a size of 0, and reads return 0 bytes.
    let first = &last["report"]["errors"]["first"];
    let errno = first["errno"].as_i64().unwrap() as i32;
    let message = first["message"].as_str().unwrap();
    let is_gone = [libc::EIO, libc::ENODEV, libc::ENXIO].contains(&errno);
    assert!(
        is_gone || message.contains("a device that was removed"),
        "{first}"
    );
    let output = run(&read("/dev/ubda", "300ms"), &["--json"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}
