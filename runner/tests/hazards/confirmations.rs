//! A confirmation is valid for one job, one device in one state, and ten minutes.

use crate::{
    fingerprint,
    product::job,
    runner::{Runner, RunnerOutput},
    scene::{MIB, Scratch, Unavailable, Undo, attach, length, noise, run, text, write_at},
    scratch::{Loop, program::with, skip},
};
use serde_json::{Value, json};
use std::{
    fs::{self, File},
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    thread::{self, sleep},
    time::{Duration, Instant, SystemTime},
};

/// Other tests may have a loop device open for seconds.
const USE_TIMEOUT: Duration = Duration::from_secs(60);

pub(crate) struct Disk {
    pub image: PathBuf,
    /// `None` while the image is detached.
    pub device: Option<Loop>,
    pub runner: Runner,
    pub job: Value,
    /// Clears the device's read-only flag on drop.
    flag: Option<Undo>,
    pub scratch: Scratch,
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Clear the flag before the device is detached.
        self.flag = None;
    }
}

impl Disk {
    pub(crate) fn new() -> Result<Self, Unavailable> {
        let scratch = Scratch::new();
        let image = scratch.image("disk.img", 32);
        write_at(&image, 0, &noise(8 * MIB as usize));
        let device = attach(&image, &[])?;
        let job = job(Path::new(&device.0), 0, json!({"rw": "write"}));
        Ok(Self {
            image,
            device: Some(device),
            runner: Runner::under(scratch.root()),
            job,
            flag: None,
            scratch,
        })
    }

    fn state(&self) -> String {
        if let Some(device) = &self.device {
            let _ = File::open(&device.0).and_then(|device| device.sync_all());
        }
        fingerprint::of(std::slice::from_ref(&self.image))
    }

    fn path(&self) -> &str {
        &self.device.as_ref().unwrap().0
    }

    /// Returns the plan's confirmations. Panics if there are none.
    fn confirmations(&self) -> Vec<String> {
        let plan = self.runner.plan(&self.job);
        let confirmations = plan.confirmations();
        assert!(
            !confirmations.is_empty(),
            "no confirmation is required: {plan}"
        );
        confirmations
    }

    /// Asserts that the run is rejected and changes nothing.
    fn assert_rejected(&self, job: &Value, confirmations: &[String], codes: &[&str]) {
        let before = self.state();
        let run = self.runner.run(job, confirmations);
        assert_rejected(&run, codes);
        assert_eq!(self.state(), before, "bytes changed");
    }

    /// Attaches another image under the same device name. Retries, because another test may take
    /// the name while the device is detached.
    fn reattach(&mut self, image: &Path, options: &[&str]) {
        let path = self.path().to_string();
        self.device = None;
        let args = [options, &[path.as_str(), text(image)]].concat();
        let limit = Instant::now() + USE_TIMEOUT;
        while let Err(error) = run("losetup", &args) {
            assert!(Instant::now() < limit, "{error}");
            sleep(Duration::from_millis(100));
        }
        self.device = Some(Loop(path));
    }
}

fn assert_rejected(run: &RunnerOutput, codes: &[&str]) {
    assert!(run.is_rejected(), "not rejected: {run}: {}", run.stderr);
    assert!(
        codes.iter().any(|code| run.has(code)),
        "{run}, not {codes:?}"
    );
}

const INVALID: &[&str] = &["confirmation_invalid"];

type Attack = fn(&mut Disk, &mut [String]);

/// Obtains a confirmation, applies a change, and asserts that the run is rejected with one of these
/// codes.
pub(crate) fn check(attack: Attack, codes: &[&str]) {
    let mut disk = match Disk::new() {
        Ok(disk) => disk,
        Err(reason) => return skip(&reason),
    };
    let mut confirmations = disk.confirmations();
    attack(&mut disk, &mut confirmations);
    let job = disk.job.clone();
    disk.assert_rejected(&job, &confirmations, codes);
}

pub(crate) fn check_invalid(attack: Attack) {
    check(attack, INVALID);
}

pub(crate) fn other_text(_: &mut Disk, confirmations: &mut [String]) {
    let code = confirmations[0].rsplit_once('@').unwrap().1.to_string();
    confirmations[0] = format!("vda@{code}");
}

pub(crate) fn empty_text(_: &mut Disk, confirmations: &mut [String]) {
    let code = confirmations[0].rsplit_once('@').unwrap().1.to_string();
    confirmations[0] = format!("@{code}");
}

/// Changes each character of a code in turn, including those that encode its time.
pub(crate) fn each_character_of_a_code() {
    let disk = match Disk::new() {
        Ok(disk) => disk,
        Err(reason) => return skip(&reason),
    };
    let confirmations = disk.confirmations();
    let (text, code) = confirmations[0].rsplit_once('@').unwrap();
    for (index, old) in code.char_indices().filter(|(_, old)| old.is_alphanumeric()) {
        let new = if old == '1' { '2' } else { '1' };
        let (before, after) = (&code[..index], &code[index + old.len_utf8()..]);
        let changed = format!("{text}@{before}{new}{after}");
        disk.assert_rejected(
            &disk.job,
            &[changed],
            &["confirmation_invalid", "confirmation_expired"],
        );
    }
}

pub(crate) fn empty_code(_: &mut Disk, confirmations: &mut [String]) {
    let text = confirmations[0].rsplit_once('@').unwrap().0.to_string();
    confirmations[0] = format!("{text}@");
}

pub(crate) fn shorter_code(_: &mut Disk, confirmations: &mut [String]) {
    let _ = confirmations[0].pop();
}

pub(crate) fn other_job(disk: &mut Disk, _: &mut [String]) {
    disk.job["bs"] = json!("8k");
}

pub(crate) fn other_region(disk: &mut Disk, _: &mut [String]) {
    disk.job["offset"] = json!(16 * MIB);
}

pub(crate) fn second_job(disk: &mut Disk, _: &mut [String]) {
    disk.job = json!({"jobs": [disk.job, with(&disk.job, json!({"rw": "randwrite"}))]});
}

/// Moves the code to a different device with the same contents.
pub(crate) fn other_device(disk: &mut Disk, confirmations: &mut [String]) {
    let image = disk.scratch.root().join("other.img");
    fs::copy(&disk.image, &image).unwrap();
    let other = attach(&image, &[]).unwrap();
    let code = confirmations[0].rsplit_once('@').unwrap().1.to_string();
    confirmations[0] = format!("{}@{code}", other.name());
    disk.job["filename"] = json!(other.0);
    disk.image = image;
    drop(disk.device.replace(other));
}

pub(crate) fn device_created_again(disk: &mut Disk, _: &mut [String]) {
    let image = disk.image.clone();
    disk.reattach(&image, &[]);
}

/// The same device name and contents, but a different image.
pub(crate) fn device_on_another_file(disk: &mut Disk, _: &mut [String]) {
    let other = disk.scratch.root().join("other.img");
    fs::copy(&disk.image, &other).unwrap();
    disk.reattach(&other, &[]);
    disk.image = other;
}

pub(crate) fn resized_device(disk: &mut Disk, _: &mut [String]) {
    File::options()
        .write(true)
        .open(&disk.image)
        .unwrap()
        .set_len(64 * MIB)
        .unwrap();
    run("losetup", &["--set-capacity", disk.path()]).unwrap();
    assert_eq!(length(Path::new(disk.path())), 64 * MIB);
}

pub(crate) fn other_sector_size(disk: &mut Disk, _: &mut [String]) {
    run("losetup", &["--sector-size", "4096", disk.path()]).unwrap();
}

pub(crate) fn read_only_device(disk: &mut Disk, _: &mut [String]) {
    disk.flag = Some(crate::scene::set_read_only(disk.path()).unwrap());
}

pub(crate) fn new_filesystem(disk: &mut Disk, _: &mut [String]) {
    crate::scene::make_ext4(disk.path()).unwrap();
}

pub(crate) fn other_bytes(disk: &mut Disk, _: &mut [String]) {
    write_at(Path::new(disk.path()), 100, b"new");
}

/// Overwrites bytes with the same bytes. Only samples of a large device are compared, so the
/// timestamps of its backing file must reveal other writes.
pub(crate) fn equal_bytes(disk: &mut Disk, _: &mut [String]) {
    let path = Path::new(disk.path());
    let mut bytes = [0; 512];
    File::open(path)
        .unwrap()
        .read_exact_at(&mut bytes, 0)
        .unwrap();
    write_at(path, 0, &bytes);
}

/// A first run uses the confirmation and changes the contents, so a second run must reject it.
pub(crate) fn used_before(disk: &mut Disk, confirmations: &mut [String]) {
    let run = disk.runner.run(&disk.job, confirmations);
    assert_eq!(run.exit, 0, "{}", run.stderr);
}

/// Simulates a reboot: each boot has a different ID.
pub(crate) fn after_reboot(disk: &mut Disk, _: &mut [String]) {
    let id = disk.scratch.at("boot_id");
    fs::write(&id, "01234567-89ab-4cde-8f01-23456789abcd\n").unwrap();
    let script = format!(
        "mount --bind {} /proc/sys/kernel/random/boot_id && exec \"$@\"",
        id.display()
    );
    let command = [&crate::scene::NAMESPACE[..], &["sh", "-c", &script, "sh"]].concat();
    disk.runner.launcher = command.iter().map(ToString::to_string).collect();
}

/// A code's age is measured with a monotonic clock, so that changing the wall clock cannot extend
/// it. Here, CLOCK_BOOTTIME is 11 minutes ahead.
pub(crate) fn eleven_minutes_later(disk: &mut Disk, _: &mut [String]) {
    disk.runner.launcher = with_clock_ahead();
}

/// A confirmation issued while the clock is ahead would be valid for longer than ten minutes.
pub(crate) fn code_from_the_future(disk: &mut Disk, confirmations: &mut [String]) {
    let launcher = std::mem::replace(&mut disk.runner.launcher, with_clock_ahead());
    confirmations.clone_from_slice(&disk.confirmations());
    disk.runner.launcher = launcher;
}

/// Command that runs a program with its boot time clock 11 minutes ahead.
fn with_clock_ahead() -> Vec<String> {
    let command = ["unshare", "--time", "--boottime=660", "--monotonic=660"];
    command.iter().map(ToString::to_string).collect()
}

/// Starts the same confirmed run eight times concurrently.
pub(crate) fn one_of_many_runs() {
    let disk = match Disk::new() {
        Ok(disk) => disk,
        Err(reason) => return skip(&reason),
    };
    let confirmations = disk.confirmations();
    let outputs: Vec<RunnerOutput> = thread::scope(|scope| {
        let start = || scope.spawn(|| disk.runner.run(&disk.job, &confirmations));
        let runs: Vec<_> = (0..8).map(|_| start()).collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    let done = outputs.iter().filter(|output| output.exit == 0).count();
    let other: Vec<_> = outputs
        .iter()
        .filter(|output| !matches!(output.exit, 0 | 3))
        .collect();
    assert_eq!(done, 1, "{outputs:?}");
    assert!(other.is_empty(), "{other:?}");
}

/// Names, tags and the order of options do not affect a confirmation.
pub(crate) fn renamed_job_stays_confirmed() {
    let mut disk = match Disk::new() {
        Ok(disk) => disk,
        Err(reason) => return skip(&reason),
    };
    let confirmations = disk.confirmations();
    disk.job["name"] = json!("renamed");
    let run = disk.runner.run(&disk.job, &confirmations);
    assert_eq!(run.exit, 0, "{run}: {}", run.stderr);
}

/// The JSON document of a run can contain the confirmation.
pub(crate) fn confirmation_in_the_document() {
    let disk = match Disk::new() {
        Ok(disk) => disk,
        Err(reason) => return skip(&reason),
    };
    let confirmations = disk.confirmations();
    let before = disk.state();
    let run = disk
        .runner
        .run(&json!({"jobs": [disk.job], "confirm": ["vda@0"]}), &[]);
    assert_rejected(&run, INVALID);
    assert_eq!(disk.state(), before);
    let run = disk
        .runner
        .run(&json!({"jobs": [disk.job], "confirm": confirmations}), &[]);
    assert_eq!(run.exit, 0, "{run}: {}", run.stderr);
    assert_ne!(disk.state(), before);
}

/// Two devices need two confirmations.
pub(crate) fn one_of_two_devices() {
    let (one, two) = match (Disk::new(), Disk::new()) {
        (Ok(one), Ok(two)) => (one, two),
        (one, two) => return skip(&format!("{:?} {:?}", one.err(), two.err())),
    };
    let mut runner = one.runner.clone();
    runner.roots.extend(two.runner.roots.clone());
    let job = json!({"jobs": [one.job, two.job]});
    let plan = runner.plan(&job);
    let confirmations = plan.confirmations();
    assert_eq!(confirmations.len(), 2, "{plan}");
    let before = (one.state(), two.state());
    let run = runner.run(&job, &confirmations[..1]);
    assert_rejected(&run, &["not_confirmed"]);
    assert_eq!((one.state(), two.state()), before);
    let run = runner.run(&job, &confirmations);
    assert_eq!(run.exit, 0, "{run}: {}", run.stderr);
}

type FileAttack = fn(&Path);

/// Confirms the overwrite of a file, changes the file, and asserts that the run is rejected.
pub(crate) fn check_file(attack: FileAttack) {
    let scratch = Scratch::new();
    let target = scratch.foreign_file("letters.tar");
    let runner = Runner::under(scratch.root());
    let job = job(&target, MIB, json!({"rw": "write"}));
    let plan = runner.plan(&job);
    let confirmations = plan.confirmations();
    assert!(
        !confirmations.is_empty(),
        "no confirmation is required: {plan}"
    );
    assert!(
        confirmations[0].starts_with("letters.tar@"),
        "{confirmations:?}"
    );
    attack(&target);
    let before = fingerprint::of(&[scratch.root()]);
    assert_rejected(&runner.run(&job, &confirmations), INVALID);
    assert_eq!(fingerprint::of(&[scratch.root()]), before, "bytes changed");
}

pub(crate) fn changed_file(path: &Path) {
    write_at(path, 100, b"new");
}

pub(crate) fn longer_file(path: &Path) {
    File::options()
        .write(true)
        .open(path)
        .unwrap()
        .set_len(4 * MIB)
        .unwrap();
}

/// Replaces the file with a copy that differs outside the job's region, but has the old
/// modification time.
pub(crate) fn replaced_file(path: &Path) {
    let time: SystemTime = path.metadata().unwrap().modified().unwrap();
    let other = path.with_extension("new");
    fs::copy(path, &other).unwrap();
    write_at(&other, 2 * MIB - 5000, b"new");
    File::options()
        .write(true)
        .open(&other)
        .unwrap()
        .set_modified(time)
        .unwrap();
    fs::rename(&other, path).unwrap();
}

/// Changes data between the samples of a large target, and restores the old modification time.
pub(crate) fn hidden_change(attach: Attach) {
    let scratch = Scratch::new();
    let image = scratch.root().join("large.img");
    fs::write(&image, noise(80 * MIB as usize)).unwrap();
    let (target, _device) = match attach(&image) {
        Ok(attached) => attached,
        Err(reason) => return skip(&reason),
    };
    let runner = Runner::under(scratch.root());
    let job = job(&target, MIB, json!({"rw": "write"}));
    let confirmations = runner.plan(&job).confirmations();
    assert_eq!(confirmations.len(), 1, "{confirmations:?}");
    let time = image.metadata().unwrap().modified().unwrap();
    write_at(&image, 40 * MIB + (44 << 10), b"new");
    let file = File::options().write(true).open(&image).unwrap();
    file.set_modified(time).unwrap();
    drop(file);
    let before = fingerprint::of(&[scratch.root()]);
    assert_rejected(&runner.run(&job, &confirmations), INVALID);
    assert_eq!(fingerprint::of(&[scratch.root()]), before, "bytes changed");
}

type Attach = fn(&Path) -> Result<(PathBuf, Option<Loop>), Unavailable>;

pub(crate) fn attach_nothing(image: &Path) -> Result<(PathBuf, Option<Loop>), Unavailable> {
    Ok((image.into(), None))
}

pub(crate) fn attach_device(image: &Path) -> Result<(PathBuf, Option<Loop>), Unavailable> {
    let device = attach(image, &[])?;
    Ok((PathBuf::from(&device.0), Some(device)))
}

/// If the file is shorter than the job's region, a read job is rejected and no confirmation is
/// offered. With `file_state=written`, a read job would extend the file but keep its data, which
/// requires a confirmation.
pub(crate) fn extended_file() {
    let scratch = Scratch::new();
    let target = scratch.foreign_file("letters.tar");
    let runner = Runner::under(scratch.root());
    let plan = |options: Value| runner.plan(&job(&target, 8 * MIB, options));
    let too_short = plan(json!({"rw": "randread"}));
    assert_eq!(too_short.codes, ["file_too_short"], "{too_short}");
    assert!(too_short.confirmations().is_empty(), "{too_short:?}");
    for (rw, effect) in [("randread", "extend"), ("write", "overwrite")] {
        let plan = plan(json!({"rw": rw, "file_state": "written"}));
        assert_eq!(plan.codes, ["not_confirmed"], "{rw}: {plan}");
        let detail = plan.json["problems"][0]["detail"].as_str().unwrap();
        let expected = format!("The run would {effect} {}, which", target.display());
        assert!(detail.starts_with(&expected), "{detail}");
    }
}
