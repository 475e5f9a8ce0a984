//! Hazardous raw writes to real loop devices. Plan and run must reject each of them for the right
//! reason, under every device name, and no byte may change.

use crate::scratch::{Loop, Mounted, directory, image, job, program, run, skip, target};
use leadline_protocol::problem::Problem;
use leadline_runner::{
    plan::host_view::HostView,
    system::{
        guard::permissions::Permissions,
        host::{device_list::device_list, view::View},
        target::Targets,
    },
};
use rustix::fs::{FlockOperation, fcntl_lock};
use serde_json::{Value, json};
use std::{
    fs::{self, File},
    os::unix::fs::{MetadataExt, symlink},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

const MIB: u64 = 1 << 20;
/// Large enough for ext4 and for a btrfs member device.
const DISK_BYTES: u64 = 128 * MIB;

/// A target root with disk images.
struct Scene {
    dir: tempfile::TempDir,
}

impl Scene {
    fn new() -> Self {
        Self { dir: directory() }
    }

    fn root(&self) -> PathBuf {
        self.dir.path().join("root")
    }

    fn image(&self, name: &str) -> PathBuf {
        fs::create_dir_all(self.root()).unwrap();
        let path = self.root().join(name);
        File::create(&path).unwrap().set_len(DISK_BYTES).unwrap();
        path
    }

    fn disk(&self, name: &str) -> Option<Loop> {
        Loop::attach(&self.image(name), &[])
    }

    fn mount(&self, device: &str, mkfs: &[&str]) -> Mounted {
        run(mkfs[0], &[&mkfs[1..], &[device]].concat()).unwrap();
        Mounted::new(device, &self.dir.path().join("mnt"))
    }

    /// Plans a write to a path and opens the path for writing. Both must have the same result.
    /// Errors have the format `code: detail`.
    fn write_result(&self, path: &str) -> Result<(), String> {
        let began = Instant::now();
        let (mut planned, mut ran) = self.plan_and_open(path);
        // A process that another test forks holds the device open until it calls exec, so retry.
        while planned != ran && began.elapsed() < Duration::from_secs(5) {
            thread::sleep(Duration::from_millis(10));
            (planned, ran) = self.plan_and_open(path);
        }
        assert_eq!(planned, ran, "{path}: plan and run differ");
        planned.map_err(|problem| {
            assert!(!problem.remedy.is_empty());
            format!("{}: {}", problem.code, problem.detail)
        })
    }

    fn plan_and_open(&self, path: &str) -> (Result<(), Problem>, Result<(), Problem>) {
        let roots = vec![self.root()];
        let facts = View::new(&Permissions::below(&roots)).path(path);
        let kind = if facts.device.is_some() && facts.filesystem.is_none() {
            "device"
        } else {
            "file"
        };
        let mut opened = target(Path::new(path), kind, facts.length, 0);
        opened["device"] = json!(facts.device);
        let ran = Targets::new(&Permissions::below(&roots))
            .open(&job("randwrite", vec![opened], json!({})))
            .map(drop);
        (facts.write_problem.map_or(Ok(()), Err), ran)
    }

    fn assert_rejected(&self, path: &str, code: &str, part: &str) {
        let error = self.write_result(path).expect_err(path);
        assert!(
            error.starts_with(code) && error.contains(part),
            "{path}: {error}, not {code} with {part}"
        );
    }
}

#[test]
fn admits_an_unused_loop_device_on_a_file_below_a_root() {
    let scene = Scene::new();
    let Some(disk) = scene.disk("a") else { return };
    assert_eq!(scene.write_result(&disk.0), Ok(()));
    let listed = device_list(&Permissions::below(&[scene.root()]))
        .devices
        .into_iter()
        .find(|device| device.path == disk.0)
        .unwrap();
    assert!(listed.write_access.allowed && listed.read_access.allowed && listed.used_by.is_empty());
    assert!(
        !device_list(&Permissions::default())
            .devices
            .iter()
            .any(|device| device.write_access.allowed),
        "without roots, writing to devices must be rejected"
    );
}

#[test]
fn rejects_a_mounted_device_under_every_name() {
    let scene = Scene::new();
    let Some(disk) = scene.disk("a") else { return };
    let _mounted = scene.mount(&disk.0, &["mkfs.ext4", "-q"]);
    let link = scene.dir.path().join("link");
    let alias = scene.dir.path().join("alias");
    symlink(&disk.0, &link).unwrap();
    let rdev = fs::metadata(&disk.0).unwrap().rdev();
    let major = rustix::fs::major(rdev).to_string();
    let minor = rustix::fs::minor(rdev).to_string();
    run("mknod", &[alias.to_str().unwrap(), "b", &major, &minor]).unwrap();
    for name in [
        disk.0.clone(),
        link.display().to_string(),
        alias.display().to_string(),
        format!("/dev/../dev/{}", disk.name()),
    ] {
        scene.assert_rejected(&name, "device_in_use", "mnt (ext4)");
    }
}

/// A process with a mount in its own mount namespace.
struct NamespaceHolder(Child);

impl Drop for NamespaceHolder {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn rejects_a_device_mounted_in_another_namespace() {
    let scene = Scene::new();
    let Some(disk) = scene.disk("a") else { return };
    run("mkfs.ext4", &["-q", &disk.0]).unwrap();
    let point = scene.dir.path().join("point");
    let ready = scene.dir.path().join("ready");
    fs::create_dir(&point).unwrap();
    let script = format!(
        "mount {} {} && touch {} && exec sleep 60",
        disk.0,
        point.display(),
        ready.display()
    );
    let child = Command::new("unshare")
        .args(["--mount", "--propagation", "private", "sh", "-c", &script])
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let _holder = NamespaceHolder(child);
    for _ in 0..100 {
        if ready.exists() {
            return scene.assert_rejected(&disk.0, "device_in_use", "mount namespace of process");
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    skip("cannot create a mount namespace");
}

#[test]
fn rejects_a_disk_with_a_mounted_partition() {
    let scene = Scene::new();
    let file = scene.image("a");
    let Some(disk) = Loop::attach(&file, &["--partscan"]) else {
        return;
    };
    // Not every kernel reads partition tables.
    if let Err(error) = run(
        "addpart",
        &[&disk.0, "1", "2048", &(DISK_BYTES / 512 - 2048).to_string()],
    ) {
        return skip(&format!(
            "this kernel has no partitions on loop devices: {error}"
        ));
    }
    let part = format!("{}p1", disk.0);
    scene.assert_rejected(&part, "raw_write_refused", "not permitted");
    let _mounted = scene.mount(&part, &["mkfs.ext4", "-q"]);
    scene.assert_rejected(&disk.0, "device_in_use", "its partition");
    scene.assert_rejected(&part, "device_in_use", "mnt (ext4)");
}

#[test]
fn rejects_both_members_of_a_mounted_btrfs() {
    let scene = Scene::new();
    let (Some(one), Some(two)) = (scene.disk("a"), scene.disk("b")) else {
        return;
    };
    run("mkfs.btrfs", &["-q", "-f", &one.0, &two.0]).unwrap();
    if let Err(error) = run("btrfs", &["device", "scan", &one.0, &two.0]) {
        return skip(&format!("no btrfs: {error}"));
    }
    let _mounted = Mounted::new(&one.0, &scene.dir.path().join("mnt"));
    scene.assert_rejected(&one.0, "device_in_use", "mnt");
    scene.assert_rejected(&two.0, "device_in_use", "mnt");
}

/// An active swap area, disabled on drop.
struct ActiveSwap(String);

impl ActiveSwap {
    fn new(path: &str) -> Result<Self, String> {
        run("swapon", &[path]).map(|_| Self(path.into()))
    }
}

impl Drop for ActiveSwap {
    fn drop(&mut self) {
        let _ = run("swapoff", &[&self.0]);
    }
}

#[test]
fn rejects_swap_devices_and_swap_files() {
    let scene = Scene::new();
    let Some(disk) = scene.disk("a") else { return };
    let file = scene.root().join("swap");
    // swapon rejects files with holes.
    image(&file, DISK_BYTES);
    fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    for (path, code) in [
        (disk.0.clone(), "device_in_use"),
        (file.display().to_string(), "swap_file"),
    ] {
        run("mkswap", &["-q", &path]).unwrap();
        match ActiveSwap::new(&path) {
            Ok(_swapping) => {
                let result = scene.write_result(&path);
                assert!(
                    result.as_ref().is_err_and(|error| error.starts_with(code)),
                    "{path}: {result:?}"
                );
            }
            Err(error) => skip(&format!("cannot enable swap: {error}")),
        }
    }
}

#[test]
fn rejects_backing_files_and_backing_devices() {
    let scene = Scene::new();
    let file = scene.image("a");
    let Some(lower) = Loop::attach(&file, &[]) else {
        return;
    };
    let Some(upper) = Loop::attach(Path::new(&lower.0), &[]) else {
        return;
    };
    scene.assert_rejected(&lower.0, "backs_loop", upper.name());
    scene.assert_rejected(&upper.0, "raw_write_refused", "not under a target root");
    scene.assert_rejected(file.to_str().unwrap(), "backs_loop", lower.name());
    let alias = scene.root().join("alias");
    symlink(&file, &alias).unwrap();
    scene.assert_rejected(alias.to_str().unwrap(), "backs_loop", lower.name());
    let backing = PathBuf::from(format!("/sys/block/{}/loop/backing_file", upper.name()));
    drop(upper);
    // The device stays attached while a process that another test forked has it open.
    let began = Instant::now();
    while backing.exists() && began.elapsed() < Duration::from_secs(5) {
        thread::sleep(Duration::from_millis(10));
    }
    let Some(twin) = Loop::attach(&file, &[]) else {
        return;
    };
    scene.assert_rejected(&lower.0, "device_in_use", twin.name());
}

#[test]
fn rejects_a_read_only_device() {
    let scene = Scene::new();
    let Some(disk) = Loop::attach(&scene.image("a"), &["--read-only"]) else {
        return;
    };
    scene.assert_rejected(&disk.0, "read_only", "read-only");
}

#[test]
fn rejects_a_device_whose_file_has_hard_links() {
    let scene = Scene::new();
    let file = scene.image("a");
    let Some(disk) = Loop::attach(&file, &[]) else {
        return;
    };
    fs::hard_link(&file, scene.dir.path().join("other")).unwrap();
    scene.assert_rejected(&disk.0, "hard_linked", "2 hard links");
}

#[test]
fn rejects_a_device_whose_file_is_outside_the_roots() {
    let scene = Scene::new();
    fs::create_dir(scene.root()).unwrap();
    let outside = scene.dir.path().join("outside");
    image(&outside, MIB);
    let Some(disk) = Loop::attach(&outside, &[]) else {
        return;
    };
    scene.assert_rejected(&disk.0, "raw_write_refused", "not under a target root");
    // The path now refers to a different file, which is below the root.
    fs::rename(&outside, scene.dir.path().join("aside")).unwrap();
    image(&scene.root().join("inside"), MIB);
    symlink(scene.root().join("inside"), &outside).unwrap();
    scene.assert_rejected(&disk.0, "raw_write_refused", "not under a target root");
}

#[test]
fn a_run_holds_its_device_exclusively() {
    let scene = Scene::new();
    let Some(disk) = scene.disk("a") else { return };
    let writer = job(
        "randwrite",
        vec![target(Path::new(&disk.0), "device", DISK_BYTES, 0)],
        json!({"numjobs": 3}),
    );
    let mut targets = Targets::new(&Permissions::below(&[scene.root()]));
    assert_eq!(targets.open(&writer).unwrap().len(), 3);
    assert_eq!(
        targets.open(&writer).unwrap().len(),
        3,
        "a second job of the same run"
    );
    assert_eq!(
        Targets::new(&Permissions::below(&[scene.root()]))
            .open(&writer)
            .unwrap_err()
            .code,
        "device_in_use"
    );
    scene.assert_rejected(&disk.0, "device_in_use", "EBUSY");
    assert!(run("mkfs.ext4", &["-q", "-F", &disk.0]).is_err(), "mkfs");
    drop(targets);
    assert_eq!(scene.write_result(&disk.0), Ok(()));
}

#[test]
fn rejects_a_device_that_shrank_or_was_renamed_after_planning() {
    let scene = Scene::new();
    let Some(disk) = scene.disk("a") else { return };
    let open = |length: u64, name: &str| {
        let mut opened = target(Path::new(&disk.0), "device", length, 0);
        opened["device"] = json!(name);
        Targets::new(&Permissions::below(&[scene.root()]))
            .open(&job("randread", vec![opened], json!({})))
            .map(drop)
            .map_err(|problem| problem.code)
    };
    assert_eq!(open(DISK_BYTES, disk.name()), Ok(()));
    assert_eq!(
        open(DISK_BYTES + 512, disk.name()),
        Err("identity_changed".into())
    );
    assert_eq!(open(DISK_BYTES, "sdz"), Err("identity_changed".into()));
}

#[test]
fn rejected_runs_leave_the_image_unchanged() {
    let scene = Scene::new();
    let file = scene.image("a");
    let Some(disk) = Loop::attach(&file, &["--read-only"]) else {
        return;
    };
    let before = fs::read(&file).unwrap();
    scene.assert_rejected(&disk.0, "read_only", "");
    scene.assert_rejected(file.to_str().unwrap(), "backs_loop", "");
    assert!(fs::read(&file).unwrap() == before);
}

#[test]
fn rejects_the_disk_below_the_root_filesystem() {
    let scene = Scene::new();
    let roots = [scene.root()];
    let held = device_list(&Permissions::below(&roots))
        .devices
        .into_iter()
        .filter(|device| device.mounts.iter().any(|mount| mount.point == "/"));
    for device in held {
        assert!(!device.write_access.allowed, "{device:?}");
        scene.assert_rejected(&device.path, "device_in_use", "mounted at / ");
    }
}

/// An overlay with the directories `lower`, `upper`, `work` and `merged` in the scene.
fn overlay(scene: &Scene) -> Result<Mounted, String> {
    let at = |name: &str| scene.dir.path().join(name);
    let options = format!(
        "lowerdir={},upperdir={},workdir={}",
        at("lower").display(),
        at("upper").display(),
        at("work").display()
    );
    let merged = at("merged").display().to_string();
    run("mount", &["-t", "overlay", "-o", &options, "none", &merged])?;
    Ok(Mounted::existing(&at("merged")))
}

/// Creating a file in an overlay directory, even an unnamed one, copies that directory up from the
/// lower layer.
#[test]
fn plan_does_not_copy_up_an_overlay_directory() {
    let scene = Scene::new();
    let at = |name: &str| scene.dir.path().join(name);
    for name in ["lower", "upper", "work", "merged", "lower/sub"] {
        fs::create_dir(at(name)).unwrap();
    }
    let _mounted = match overlay(&scene) {
        Ok(mounted) => mounted,
        Err(error) => return skip(&error),
    };
    for direct in [0, 1] {
        let document = json!({"filename": at("merged/sub/new"), "size": "1m", "rw": "write",
            "direct": direct});
        let mut command = program::runner();
        let child = program::spawn_unconfirmed(command.args(["plan", "-", "--json"]), &document);
        let output = child.wait_with_output().unwrap();
        let plan: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(plan["problems"], json!([]), "direct={direct}");
        let copied = fs::read_dir(at("upper")).unwrap().count();
        assert_eq!(copied, 0, "direct={direct}");
    }
}

/// Opening a lower-layer file for writing copies it up.
#[test]
fn plan_does_not_copy_up_an_overlay_file() {
    let scene = Scene::new();
    let at = |name: &str| scene.dir.path().join(name);
    for name in ["lower", "upper", "work", "merged"] {
        fs::create_dir(at(name)).unwrap();
    }
    fs::write(at("lower/f"), vec![7; 1 << 20]).unwrap();
    let _mounted = match overlay(&scene) {
        Ok(mounted) => mounted,
        Err(error) => return skip(&error),
    };
    let document = json!({"filename": at("merged/f"), "rw": "randwrite", "direct": 0});
    let plan = || -> Value {
        let mut command = program::runner();
        let child = program::spawn_unconfirmed(command.args(["plan", "-", "--json"]), &document);
        serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap()
    };
    let needed = plan()["confirmations"].clone();
    assert_eq!(needed[0]["text"], "f");
    assert_eq!(fs::read_dir(at("upper")).unwrap().count(), 0, "copied");
    let locked = File::options().read(true).open(at("merged/f")).unwrap();
    let shared = FlockOperation::NonBlockingLockShared;
    fcntl_lock(&locked, shared).unwrap();
    let problem = plan()["problems"][0].clone();
    assert_eq!(problem["code"], "file_in_use", "{problem}");
    drop(locked);
    fs::write(at("merged/f"), "another length").unwrap();
    assert_ne!(plan()["confirmations"][0]["code"], needed[0]["code"]);
}
