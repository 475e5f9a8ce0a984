//! Guarantees that hold while a job runs.

use crate::{
    fingerprint,
    product::{DEVICE_NAMES, Name, job},
    runner::{Runner, send},
    scene::{MIB, Scene, Scratch, Unavailable, attach, length, preferred_swap, run, sparse, text},
    scratch::{Loop, program::with, skip},
};
use serde_json::{Value, json};
use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::Child,
    thread,
    time::{Duration, Instant},
};

/// Writes zeros for some seconds, 100 per second.
fn slow_write(device: &Path, seconds: u32) -> Value {
    timed(
        device,
        json!({"rw": "randwrite", "runtime": seconds, "rate_iops": 100, "zero_buffers": 1}),
    )
}

/// A time-based job.
fn timed(target: &Path, changes: Value) -> Value {
    let mut job = with(&job(target, 0, json!({"time_based": 1})), changes);
    job.as_object_mut().unwrap().remove("io_size");
    job
}

fn start(runner: &Runner, job: &Value) -> Child {
    let mut child = runner.start("run", &["--events"]);
    send(&mut child, job);
    child
}

/// Starts a run with the confirmations that the plan requires.
fn start_confirmed(runner: &Runner, job: &Value) -> Child {
    let confirmations = runner.plan(job).confirmations();
    let mut args = vec!["--events"];
    confirmations
        .iter()
        .for_each(|text| args.extend(["--confirm", text]));
    let mut child = runner.start("run", &args);
    send(&mut child, job);
    child
}

/// Process ID of the runner, which is a child of `timeout`.
fn runner_pid(child: &Child) -> Option<u32> {
    let path = format!("/proc/{0}/task/{0}/children", child.id());
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// Flags of the runner's open descriptors of a target.
fn open_flags(child: &Child, target: &Path) -> Vec<u32> {
    let Some(id) = runner_pid(child) else {
        return Vec::new();
    };
    let Ok(descriptors) = fs::read_dir(format!("/proc/{id}/fd")) else {
        return Vec::new();
    };
    let of_target = descriptors
        .flatten()
        .filter(|descriptor| fs::read_link(descriptor.path()).is_ok_and(|path| path == target));
    let flags = of_target.filter_map(|descriptor| {
        let name = descriptor.file_name();
        let info = format!("/proc/{id}/fdinfo/{}", name.to_str()?);
        let info = fs::read_to_string(info).ok()?;
        let flags = info.lines().find_map(|line| line.strip_prefix("flags:"))?;
        u32::from_str_radix(flags.trim(), 8).ok()
    });
    flags.collect()
}

/// Waits until the runner has opened the target and completed its preparations. Returns the flags
/// of the open descriptors.
fn wait_until_open(child: &mut Child, target: &Path) -> Vec<u32> {
    let deadline = Instant::now() + Duration::from_secs(5);
    while Instant::now() < deadline && child.try_wait().unwrap().is_none() {
        thread::sleep(Duration::from_millis(20));
        if !open_flags(child, target).is_empty() {
            thread::sleep(Duration::from_millis(300));
            return open_flags(child, target);
        }
    }
    Vec::new()
}

fn blank_device(scratch: &Scratch) -> Result<(PathBuf, Loop), Unavailable> {
    let image = scratch.image("disk.img", 64);
    let device = attach(&image, &[])?;
    Ok((image, device))
}

/// Programs that try to claim the device during a run must fail.
pub(crate) fn other_programs_cannot_claim_the_device() {
    let scratch = Scratch::new();
    let (_, device) = match blank_device(&scratch) {
        Ok(device) => device,
        Err(reason) => return skip(&reason),
    };
    let _preferred_swap = match preferred_swap() {
        Ok(swap) => swap,
        Err(reason) => return skip(&reason),
    };
    run("mkswap", &[&device.0]).unwrap();
    let runner = Runner::under(scratch.root());
    let job = slow_write(Path::new(&device.0), 2);
    let mut child = start_confirmed(&runner, &job);
    let open = wait_until_open(&mut child, Path::new(&device.0));
    let claims = [
        run("swapon", &[&device.0]).is_err(),
        run("mkfs.ext4", &["-q", "-F", &device.0]).is_err(),
        run(
            "mount",
            &["-t", "ext4", &device.0, text(&scratch.directory("at"))],
        )
        .is_err(),
    ];
    if !claims[0] {
        let _ = run("swapoff", &[&device.0]);
    }
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!open.is_empty(), "the run did not start: {stderr}");
    assert_eq!(
        claims, [true; 3],
        "claimed during the run: swapon, mkfs, mount"
    );
}

/// The loop driver does not claim the lower device, so the run must do so.
pub(crate) fn other_programs_cannot_claim_the_lower_device() {
    let scratch = Scratch::new();
    let (_, lower) = match blank_device(&scratch) {
        Ok(device) => device,
        Err(reason) => return skip(&reason),
    };
    let upper = match attach(Path::new(&lower.0), &[]) {
        Ok(device) => device,
        Err(reason) => return skip(&reason),
    };
    let identity = crate::hazard::identity_of(upper.name()).expect("an identity");
    let runner = Runner {
        allowed: vec![identity],
        ..Runner::under(scratch.root())
    };
    let mut child = start_confirmed(&runner, &slow_write(Path::new(&upper.0), 2));
    let open = wait_until_open(&mut child, Path::new(&lower.0));
    let mkfs = run("mkfs.ext4", &["-q", "-F", &lower.0]);
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        !open.is_empty(),
        "the run did not open the lower device: {stderr}"
    );
    assert!(mkfs.is_err(), "mkfs succeeded during the run");
}

/// Starts a run, changes the device, and asserts that the run stops and reports the reason.
pub(crate) fn stops_after(change: fn(&Path, &Loop)) {
    if let Some(output) = run_with(change) {
        assert!(
            output.contains("identity_changed"),
            "the reason is not identity_changed"
        );
    }
}

/// Like `stops_after`, but an I/O error may occur first.
pub(crate) fn fails_after(change: fn(&Path, &Loop)) {
    run_with(change);
}

/// Changes the device during a run, which must then exit with code 1 or 3. Returns its events.
fn run_with(change: fn(&Path, &Loop)) -> Option<String> {
    let scratch = Scratch::new();
    let (image, device) = match blank_device(&scratch) {
        Ok(device) => device,
        Err(reason) => {
            skip(&reason);
            return None;
        }
    };
    let runner = Runner::under(scratch.root());
    let mut child = start(&runner, &slow_write(Path::new(&device.0), 4));
    let open = wait_until_open(&mut child, Path::new(&device.0));
    change(&image, &device);
    let output = child.wait_with_output().unwrap();
    assert!(!open.is_empty(), "the run did not start");
    let exit = output.status.code().unwrap_or(-1);
    assert!(
        matches!(exit, 1 | 3),
        "exit {exit}, although the device changed"
    );
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

pub(crate) fn growth(image: &Path, device: &Loop) {
    File::options()
        .write(true)
        .open(image)
        .unwrap()
        .set_len(96 * MIB)
        .unwrap();
    run("losetup", &["--set-capacity", &device.0]).unwrap();
    assert_eq!(length(Path::new(&device.0)), 96 * MIB);
}

pub(crate) fn shrinking(image: &Path, device: &Loop) {
    File::options()
        .write(true)
        .open(image)
        .unwrap()
        .set_len(32 * MIB)
        .unwrap();
    run("losetup", &["--set-capacity", &device.0]).unwrap();
}

/// Read jobs open the target read-only, regardless of engine and mode.
pub(crate) fn reads_cannot_write() {
    let scratch = Scratch::new();
    let (image, device) = match blank_device(&scratch) {
        Ok(device) => device,
        Err(reason) => return skip(&reason),
    };
    let file = scratch.foreign_file("file");
    let before = fingerprint::of(&[scratch.root()]);
    for target in [Path::new(&device.0), &file] {
        for (engine, direct) in [("psync", 0), ("io_uring", 1)] {
            let job = json!({"rw": "randread", "runtime": 1, "rate_iops": 100, "ioengine": engine,
                "direct": direct});
            let mut child = start(&Runner::under(scratch.root()), &timed(target, job));
            let flags = wait_until_open(&mut child, target);
            let output = child.wait_with_output().unwrap();
            let stderr = String::from_utf8_lossy(&output.stderr);
            let writable = flags.iter().filter(|flags| *flags & 3 != 0).count();
            assert!(
                !flags.is_empty(),
                "{engine}: the target was not open: {stderr}"
            );
            assert_eq!(
                writable,
                0,
                "{engine}: {} is open for writing",
                target.display()
            );
        }
    }
    assert_eq!(fingerprint::of(&[scratch.root()]), before);
    assert!(image.exists());
}

/// A write to a forbidden name creates nothing below /dev.
pub(crate) fn nothing_is_created_below_dev() {
    let scratch = Scratch::new();
    for name in [
        "/dev/nvme9n1-hazard",
        "/dev/mapper/hazard",
        "/dev/shm/../hazard",
    ] {
        let target = Path::new(name);
        // Without target roots, only the check of the parent directory can prevent the creation.
        let runner = Runner::default();
        let output = runner.run(&job(target, MIB, json!({"rw": "write"})), &[]);
        let created = target.exists();
        drop(fs::remove_file(target));
        assert!(!created, "{name} was created");
        assert!(matches!(output.exit, 2 | 3), "{name}: {output}");
    }
    drop(scratch);
}

/// Devices are also checked if there are no target roots.
pub(crate) fn devices_without_roots() {
    let scratch = Scratch::new();
    let image = sparse(&scratch.outside().join("disk.img"), 32 * MIB);
    let device = match attach(&image, &[]) {
        Ok(device) => device,
        Err(reason) => return skip(&reason),
    };
    let scene = Scene::device(&scratch, &device.0, &image).hold(device);
    let before = scene.state();
    for name in DEVICE_NAMES.iter().filter(|name| **name != Name::Relative) {
        let job = job(&name.of(&scene, &scratch), 0, json!({"rw": "write"}));
        let run = Runner::default().run(&job, &[]);
        assert!(
            run.is_rejected() && run.has("raw_write_refused"),
            "{name:?}: {run}: {}",
            run.stderr
        );
        assert_eq!(scene.state(), before, "{name:?}: bytes changed");
    }
}

/// Two devices on one file have the same identity.
pub(crate) fn ambiguous_identity() {
    let scratch = Scratch::new();
    let image = sparse(&scratch.outside().join("disk.img"), 32 * MIB);
    let (one, two) = match (attach(&image, &[]), attach(&image, &[])) {
        (Ok(one), Ok(two)) => (one, two),
        _ => return skip("no loop devices"),
    };
    let identity = crate::hazard::identity_of(one.name()).expect("an identity");
    let runner = Runner {
        allowed: vec![identity],
        ..Runner::under(scratch.root())
    };
    let before = fingerprint::of(std::slice::from_ref(&image));
    for device in [&one, &two] {
        let job = job(Path::new(&device.0), 0, json!({"rw": "write"}));
        let codes = ["ambiguous_identity", "backs_loop", "device_in_use"];
        let outputs = [runner.plan(&job), runner.run_confirmed(&job)];
        for output in outputs {
            let known = codes.iter().any(|code| output.has(code));
            assert!(output.is_rejected() && known, "{}: {output}", device.0);
        }
    }
    assert_eq!(fingerprint::of(&[image]), before);
}

/// A plan with two hazards lists both.
pub(crate) fn every_problem_is_listed() {
    let scratch = Scratch::new();
    let linked = scratch.root().join("linked");
    fs::hard_link(scratch.victim(), &linked).unwrap();
    let write = |path: &Path| job(path, MIB, json!({"rw": "write"}));
    let outside = scratch.outside().join("victim");
    let jobs = json!({"jobs": [write(&linked), write(&outside)]});
    let plan = Runner::under(scratch.root()).plan(&jobs);
    assert!(plan.is_rejected(), "{plan}");
    assert!(
        plan.has("hard_linked") && plan.has("outside_roots"),
        "{plan}"
    );
}
