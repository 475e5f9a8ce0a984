//! The hazards of raw writes, made for real on loop devices: each is refused with its cause, by the dry run and by the
//! run alike, by whatever name the device is called, and not one byte changes.

mod scratch;

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use leadline_runner::plan::host_view::HostView;
use leadline_runner::system::host::device_list::device_list;
use leadline_runner::system::host::view::View;
use leadline_runner::system::target::Targets;
use scratch::{Loop, Mounted, directory, image, job, run, skip, target};
use serde_json::json;

const MIB: u64 = 1 << 20;
/// Large enough for ext4 and for two btrfs members.
const DISK_BYTES: u64 = 128 * MIB;

/// A target root with disk images in it.
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
        image(&path, DISK_BYTES);
        path
    }

    fn disk(&self, name: &str) -> Option<Loop> {
        Loop::attach(&self.image(name), &[])
    }

    fn mount(&self, device: &str, mkfs: &[&str]) -> Mounted {
        run(mkfs[0], &[&mkfs[1..], &[device]].concat()).unwrap();
        Mounted::new(device, &self.dir.path().join("mnt"))
    }

    /// What the dry run and the run say of writing to a path, by code; both must say the same.
    fn writing(&self, path: &str) -> Result<(), String> {
        let roots = vec![self.root()];
        let facts = View::new(roots.clone()).path(path);
        let kind = if facts.device.is_some() && facts.filesystem.is_none() {
            "device"
        } else {
            "file"
        };
        let mut asked = target(Path::new(path), kind, facts.length, 0);
        asked["device"] = json!(facts.device);
        let planned = facts.writing_refused.map_or(Ok(()), Err);
        let ran = Targets::new(roots)
            .open(&job("randwrite", vec![asked], json!({})))
            .map(drop);
        assert_eq!(planned, ran, "{path}: plan and run differ");
        planned.map_err(|problem| {
            assert!(!problem.remedy.is_empty());
            format!("{}: {}", problem.code, problem.detail)
        })
    }

    fn refused(&self, path: &str, code: &str, part: &str) {
        let said = self.writing(path).expect_err(path);
        assert!(
            said.starts_with(code) && said.contains(part),
            "{path}: {said}, not {code} with {part}"
        );
    }
}

#[test]
fn a_free_loop_device_on_a_file_under_a_root_may_be_written() {
    let scene = Scene::new();
    let Some(disk) = scene.disk("a") else { return };
    assert_eq!(scene.writing(&disk.0), Ok(()));
    let listed = device_list(&[scene.root()])
        .devices
        .into_iter()
        .find(|device| device.path == disk.0)
        .unwrap();
    assert!(listed.write_access.allowed && listed.read_access.allowed && listed.used_by.is_empty());
    assert!(
        !device_list(&[])
            .devices
            .iter()
            .any(|device| device.write_access.allowed),
        "without roots no device may be written"
    );
}

#[test]
fn a_mounted_device_by_any_name() {
    let scene = Scene::new();
    let Some(disk) = scene.disk("a") else { return };
    let _mounted = scene.mount(&disk.0, &["mkfs.ext4", "-q"]);
    let (link, alias) = (
        scene.dir.path().join("link"),
        scene.dir.path().join("alias"),
    );
    symlink(&disk.0, &link).unwrap();
    let rdev = fs::metadata(&disk.0).unwrap().rdev();
    let (major, minor) = (
        rustix::fs::major(rdev).to_string(),
        rustix::fs::minor(rdev).to_string(),
    );
    run("mknod", &[alias.to_str().unwrap(), "b", &major, &minor]).unwrap();
    for name in [
        disk.0.clone(),
        link.display().to_string(),
        alias.display().to_string(),
        format!("/dev/../dev/{}", disk.name()),
    ] {
        scene.refused(&name, "device_in_use", "mnt (ext4)");
    }
}

/// A process that keeps a mount in a namespace of its own.
struct Elsewhere(Child);

impl Drop for Elsewhere {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_device_mounted_in_another_namespace() {
    let scene = Scene::new();
    let Some(disk) = scene.disk("a") else { return };
    run("mkfs.ext4", &["-q", &disk.0]).unwrap();
    let (point, ready) = (
        scene.dir.path().join("there"),
        scene.dir.path().join("ready"),
    );
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
    let _elsewhere = Elsewhere(child);
    for _ in 0..100 {
        if ready.exists() {
            return scene.refused(&disk.0, "device_in_use", "mount namespace of process");
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    skip("no mount namespace can be made here");
}

#[test]
fn a_disk_with_a_mounted_partition() {
    let scene = Scene::new();
    let file = scene.image("a");
    let Some(disk) = Loop::attach(&file, &["--partscan"]) else {
        return;
    };
    // Told to the kernel by hand: not every kernel reads partition tables.
    if let Err(error) = run(
        "addpart",
        &[&disk.0, "1", "2048", &(DISK_BYTES / 512 - 2048).to_string()],
    ) {
        return skip(&format!(
            "this kernel has no partitions on loop devices: {error}"
        ));
    }
    let part = format!("{}p1", disk.0);
    scene.refused(&part, "raw_write_refused", "not a loop device");
    let _mounted = scene.mount(&part, &["mkfs.ext4", "-q"]);
    scene.refused(&disk.0, "device_in_use", "its partition");
    scene.refused(&part, "device_in_use", "mnt (ext4)");
}

#[test]
fn both_members_of_a_mounted_btrfs() {
    let scene = Scene::new();
    let (Some(one), Some(two)) = (scene.disk("a"), scene.disk("b")) else {
        return;
    };
    run("mkfs.btrfs", &["-q", "-f", &one.0, &two.0]).unwrap();
    if let Err(error) = run("btrfs", &["device", "scan", &one.0, &two.0]) {
        return skip(&format!("btrfs cannot be used here: {error}"));
    }
    let _mounted = Mounted::new(&one.0, &scene.dir.path().join("mnt"));
    scene.refused(&one.0, "device_in_use", "mnt");
    scene.refused(&two.0, "device_in_use", "mnt");
}

/// Something swapped to, until dropped.
struct Swapping(String);

impl Swapping {
    fn new(path: &str) -> Result<Self, String> {
        run("swapon", &[path]).map(|_| Self(path.into()))
    }
}

impl Drop for Swapping {
    fn drop(&mut self) {
        let _ = run("swapoff", &[&self.0]);
    }
}

#[test]
fn swap_devices_and_swap_files() {
    let scene = Scene::new();
    let Some(disk) = scene.disk("a") else { return };
    let file = scene.image("swap");
    fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    for (path, code) in [
        (disk.0.clone(), "device_in_use"),
        (file.display().to_string(), "swap_file"),
    ] {
        run("mkswap", &["-q", &path]).unwrap();
        match Swapping::new(&path) {
            Ok(_swapping) => {
                let said = scene.writing(&path);
                assert!(
                    said.as_ref().is_err_and(|said| said.starts_with(code)),
                    "{path}: {said:?}"
                );
            }
            Err(error) => skip(&format!("nothing can be swapped to here: {error}")),
        }
    }
}

#[test]
fn devices_and_files_behind_a_loop_device() {
    let scene = Scene::new();
    let file = scene.image("a");
    let Some(lower) = Loop::attach(&file, &[]) else {
        return;
    };
    let Some(upper) = Loop::attach(Path::new(&lower.0), &[]) else {
        return;
    };
    scene.refused(&lower.0, "backs_loop", upper.name());
    scene.refused(
        &upper.0,
        "raw_write_refused",
        "does not lie under a target root",
    );
    scene.refused(file.to_str().unwrap(), "backs_loop", lower.name());
    let alias = scene.root().join("alias");
    symlink(&file, &alias).unwrap();
    scene.refused(alias.to_str().unwrap(), "backs_loop", lower.name());
    drop(upper);
    let Some(twin) = Loop::attach(&file, &[]) else {
        return;
    };
    scene.refused(&lower.0, "device_in_use", twin.name());
}

#[test]
fn a_read_only_device() {
    let scene = Scene::new();
    let Some(disk) = Loop::attach(&scene.image("a"), &["--read-only"]) else {
        return;
    };
    scene.refused(&disk.0, "read_only", "read-only");
}

#[test]
fn a_file_with_another_name_elsewhere_behind_a_device() {
    let scene = Scene::new();
    let file = scene.image("a");
    let Some(disk) = Loop::attach(&file, &[]) else {
        return;
    };
    fs::hard_link(&file, scene.dir.path().join("elsewhere")).unwrap();
    scene.refused(&disk.0, "hard_linked", "2 names");
}

#[test]
fn a_file_outside_the_roots_behind_a_device() {
    let scene = Scene::new();
    fs::create_dir(scene.root()).unwrap();
    let outside = scene.dir.path().join("outside");
    image(&outside, MIB);
    let Some(disk) = Loop::attach(&outside, &[]) else {
        return;
    };
    scene.refused(
        &disk.0,
        "raw_write_refused",
        "does not lie under a target root",
    );
    // Its path now shows a file under the root, which is not the one behind the device.
    fs::rename(&outside, scene.dir.path().join("aside")).unwrap();
    image(&scene.root().join("inside"), MIB);
    symlink(scene.root().join("inside"), &outside).unwrap();
    scene.refused(
        &disk.0,
        "raw_write_refused",
        "does not lie under a target root",
    );
}

#[test]
fn a_device_that_a_run_holds_is_nobody_elses() {
    let scene = Scene::new();
    let Some(disk) = scene.disk("a") else { return };
    let asked = job(
        "randwrite",
        vec![target(Path::new(&disk.0), "device", DISK_BYTES, 0)],
        json!({"numjobs": 3}),
    );
    let mut run_one = Targets::new(vec![scene.root()]);
    assert_eq!(run_one.open(&asked).unwrap().len(), 3);
    assert_eq!(
        run_one.open(&asked).unwrap().len(),
        3,
        "a second job of the same run"
    );
    assert_eq!(
        Targets::new(vec![scene.root()])
            .open(&asked)
            .unwrap_err()
            .code,
        "device_in_use"
    );
    scene.refused(&disk.0, "device_in_use", "EBUSY");
    assert!(
        run("mkfs.ext4", &["-q", "-F", &disk.0]).is_err(),
        "mkfs must find it busy"
    );
    drop(run_one);
    assert_eq!(scene.writing(&disk.0), Ok(()));
}

#[test]
fn a_device_that_shrank_or_changed_its_name_since_the_plan() {
    let scene = Scene::new();
    let Some(disk) = scene.disk("a") else { return };
    let asked = |length: u64, name: &str| {
        let mut asked = target(Path::new(&disk.0), "device", length, 0);
        asked["device"] = json!(name);
        Targets::new(vec![scene.root()])
            .open(&job("randread", vec![asked], json!({})))
            .map(drop)
            .map_err(|problem| problem.code)
    };
    assert_eq!(asked(DISK_BYTES, disk.name()), Ok(()));
    assert_eq!(
        asked(DISK_BYTES + 512, disk.name()),
        Err("identity_changed".into())
    );
    assert_eq!(asked(DISK_BYTES, "sdz"), Err("identity_changed".into()));
}

#[test]
fn refusals_change_no_byte() {
    let scene = Scene::new();
    let file = scene.image("a");
    let Some(disk) = Loop::attach(&file, &["--read-only"]) else {
        return;
    };
    let before = fs::read(&file).unwrap();
    scene.refused(&disk.0, "read_only", "");
    scene.refused(file.to_str().unwrap(), "backs_loop", "");
    assert!(fs::read(&file).unwrap() == before);
}

#[test]
fn the_disk_under_the_root_filesystem() {
    let scene = Scene::new();
    let roots = [scene.root()];
    let held = device_list(&roots)
        .devices
        .into_iter()
        .filter(|device| device.mounts.iter().any(|mount| mount.point == "/"));
    for device in held {
        assert!(!device.write_access.allowed, "{device:?}");
        scene.refused(&device.path, "device_in_use", "mounted at / ");
    }
}
