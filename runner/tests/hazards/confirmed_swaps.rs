//! Targets that are swapped at a random time after their overwrite was confirmed, while the run
//! opens them or lays them out. The confirmation does not cover the file or device that replaces
//! the target (the decoy).

use crate::{
    fingerprint,
    product::{job, make_node},
    runner::Runner,
    scene::{MIB, Scratch, Unavailable, attach, noise},
    scratch::{Loop, skip},
};
use rustix::fs::{CWD, FileType, RenameFlags, renameat_with};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    fs::{self, File},
    io,
    os::{
        fd::AsRawFd,
        unix::fs::{MetadataExt, symlink},
    },
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

const BYTES: usize = 256 << 10;
const LOOP_SET_FD: libc::Ioctl = 0x4C00;
const LOOP_CLR_FD: libc::Ioctl = 0x4C01;
const LOOP_CTL_ADD: libc::Ioctl = 0x4C80;
const LOOP_CTL_REMOVE: libc::Ioctl = 0x4C81;
const HIGH_LOOPS: u32 = 10_000;
/// The kernel does not detach a device until its last user closes it.
const USE_TIMEOUT: Duration = Duration::from_secs(60);

/// A swap and the function that undoes it.
struct Swap {
    runner: Runner,
    job: Value,
    /// Target with known data, whose overwrite is confirmed; `None` if a run creates the target.
    target: Option<PathBuf>,
    /// Whether an earlier run created the target.
    is_owned: bool,
    decoy: PathBuf,
    /// Returns whether the decoy replaced the target.
    swap: Box<dyn Fn() -> bool + Sync>,
    undo: Box<dyn Fn()>,
    _loops: Vec<Loop>,
    scratch: Scratch,
}

type Build = fn(Scratch) -> Result<Swap, Unavailable>;

const SWAPS: [(&str, Build); 11] = [
    ("link to another file", link),
    ("another file", other_file),
    ("hard link to another file", hard_link),
    ("another file instead of an owned file", owned_file),
    ("directory", directory),
    ("another file during layout", file_during_layout),
    ("target root", root),
    (
        "hard link to another file during layout",
        hard_link_during_layout,
    ),
    ("link to another file during layout", link_during_layout),
    ("file of the loop device", loop_file),
    ("device node", node),
];

/// Runs all kinds of swaps, with a total of `runs` runs.
pub(crate) fn check(runs: usize) {
    let mut failures = Vec::new();
    for (kind, build) in SWAPS {
        match build(Scratch::new()) {
            Ok(swap) => failures.extend(swap.check(kind, runs.div_ceil(SWAPS.len()))),
            Err(reason) => skip(&format!("{kind}: {reason}")),
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

impl Swap {
    /// Returns a description of each failure.
    fn check(&self, kind: &str, runs: usize) -> Vec<String> {
        let before = fingerprint::of(std::slice::from_ref(&self.decoy));
        let mut failures = Vec::new();
        let mut results: BTreeMap<String, usize> = BTreeMap::new();
        let (mut swaps, mut longest) = (0, self.run_duration());
        for run in 0..runs {
            let mut job = self.job.clone();
            job["direct"] = json!(run % 2);
            let plan = self.runner.plan(&job);
            // Distribute the delays evenly over the duration of a run.
            let delay = longest * (run * 61 % 100) as u32 / 100;
            let (swap, started) = (&self.swap, Instant::now());
            let (output, is_swapped) = thread::scope(|scope| {
                let swapper = scope.spawn(|| {
                    thread::sleep(delay);
                    swap()
                });
                let output = self.runner.run(&job, &plan.confirmations());
                (output, swapper.join().unwrap())
            });
            if output.exit == 0 {
                let limit = Duration::from_millis(100);
                longest = longest.max(started.elapsed()).min(limit);
            }
            swaps += usize::from(is_swapped);
            (self.undo)();
            *results.entry(output.to_string()).or_default() += 1;
            if fingerprint::of(std::slice::from_ref(&self.decoy)) != before {
                failures.push(format!(
                    "{kind}: run {run} wrote to the decoy after {delay:?}: {output}"
                ));
                self.fill_decoy();
            }
            self.reset();
        }
        eprintln!("{kind}: {runs} runs, {swaps} swaps, {results:?}");
        // A loop device that is open cannot be detached.
        if swaps * 20 < runs {
            failures.push(format!("{kind}: only {swaps} swaps in {runs} runs"));
        }
        let accepted = results
            .iter()
            .filter(|(output, _)| output.starts_with("exit 0"));
        let accepted: usize = accepted.map(|(_, count)| count).sum();
        if accepted == 0 || accepted == runs {
            failures.push(format!(
                "{kind}: no race, {accepted} of {runs} runs were accepted"
            ));
        }
        failures
    }

    /// Duration of a run without a swap.
    fn run_duration(&self) -> Duration {
        let started = Instant::now();
        let output = self.runner.run_confirmed(&self.job);
        assert_eq!(output.exit, 0, "{output}: {}", output.stderr);
        self.reset();
        started.elapsed()
    }

    fn reset(&self) {
        match &self.target {
            Some(target) => fs::write(target, target_data(target)).unwrap(),
            None => drop(fs::remove_file(self.scratch.root().join("target"))),
        }
        if self.is_owned {
            let created = self.runner.run(&self.job, &[]);
            assert_eq!(created.exit, 0, "{created}");
        }
    }

    fn fill_decoy(&self) {
        fs::write(&self.decoy, decoy_data()).unwrap();
    }
}

fn target_data(target: &Path) -> Vec<u8> {
    let bytes = fs::metadata(target).map_or(BYTES, |file| file.len() as usize);
    noise(bytes.max(BYTES))
}

fn decoy_data() -> Vec<u8> {
    let mut data = noise(BYTES);
    data.reverse();
    data
}

fn files_job(path: &Path) -> Value {
    let options = json!({"rw": "write", "io_size": "64k"});
    job(path, BYTES as u64, options)
}

/// A confirmed file and a decoy, swapped by `swap`.
fn files(
    scratch: Scratch,
    named: &Path,
    target: Option<&Path>,
    decoy: &Path,
    swap: impl Fn() -> bool + Sync + 'static,
    undo: impl Fn() + 'static,
) -> Swap {
    let swap = Swap {
        runner: Runner::under(scratch.root()),
        job: files_job(named),
        target: target.map(Path::to_path_buf),
        decoy: decoy.to_path_buf(),
        swap: Box::new(swap),
        undo: Box::new(undo),
        is_owned: false,
        _loops: Vec::new(),
        scratch,
    };
    swap.fill_decoy();
    swap.reset();
    swap
}

fn exchange(one: &Path, other: &Path) -> bool {
    renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).is_ok()
}

/// Exchanges two names. The same call undoes the exchange.
fn exchanged(
    scratch: Scratch,
    target: &Path,
    decoy: &Path,
    [one, other]: [PathBuf; 2],
) -> Result<Swap, Unavailable> {
    let names = [one.clone(), other.clone()];
    // Undo only a successful exchange, because otherwise undoing it would exchange the names.
    let is_swapped = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let was_swapped = is_swapped.clone();
    let swap = move || {
        let done = exchange(&one, &other);
        is_swapped.store(done, std::sync::atomic::Ordering::SeqCst);
        done
    };
    let undo = move || {
        if was_swapped.swap(false, std::sync::atomic::Ordering::SeqCst) {
            assert!(exchange(&names[0], &names[1]));
        }
    };
    Ok(files(scratch, target, Some(target), decoy, swap, undo))
}

fn link(scratch: Scratch) -> Result<Swap, Unavailable> {
    let (target, decoy) = (scratch.root().join("target"), scratch.root().join("decoy"));
    let [name, other] = [scratch.at("link"), scratch.at("other link")];
    symlink(&target, &name).unwrap();
    symlink(&decoy, &other).unwrap();
    let mut swap = exchanged(scratch, &target, &decoy, [name.clone(), other])?;
    swap.job = files_job(&name);
    Ok(swap)
}

fn other_file(scratch: Scratch) -> Result<Swap, Unavailable> {
    let (target, decoy) = (
        scratch.root().join("target"),
        scratch.outside().join("decoy"),
    );
    let names = [target.clone(), decoy.clone()];
    exchanged(scratch, &target, &decoy, names)
}

/// The target needs no confirmation, because an earlier run created it.
fn owned_file(scratch: Scratch) -> Result<Swap, Unavailable> {
    let mut swap = file_during_layout(scratch)?;
    swap.is_owned = true;
    swap.reset();
    Ok(swap)
}

/// The decoy takes the name of a file that the run creates, before or after the file exists.
fn file_during_layout(scratch: Scratch) -> Result<Swap, Unavailable> {
    let (target, decoy) = (
        scratch.root().join("target"),
        scratch.outside().join("decoy"),
    );
    let [from, to] = [decoy.clone(), target.clone()];
    let swap = move || {
        let is_moved = renameat_with(CWD, &from, CWD, &to, RenameFlags::NOREPLACE).is_ok();
        is_moved || exchange(&from, &to)
    };
    let [moved, home] = [target.clone(), decoy.clone()];
    // The file created by the run may be lost.
    let undo = move || fs::rename(&moved, &home).unwrap();
    Ok(files(scratch, &target, None, &decoy, swap, undo))
}

fn hard_link(scratch: Scratch) -> Result<Swap, Unavailable> {
    let (target, decoy) = (
        scratch.root().join("target"),
        scratch.outside().join("decoy"),
    );
    let other = scratch.root().join("hard link");
    fs::write(&decoy, "").unwrap();
    fs::hard_link(&decoy, &other).unwrap();
    let names = [target.clone(), other];
    exchanged(scratch, &target, &decoy, names)
}

fn directory(scratch: Scratch) -> Result<Swap, Unavailable> {
    let names = [
        scratch.directory("root/data"),
        scratch.directory("outside/data"),
    ];
    let [target, decoy] = [0, 1].map(|name: usize| names[name].join("target"));
    exchanged(scratch, &target, &decoy, names)
}

fn root(scratch: Scratch) -> Result<Swap, Unavailable> {
    let names = [scratch.root(), scratch.outside()];
    let [target, decoy] = [0, 1].map(|name: usize| names[name].join("target"));
    exchanged(scratch, &target, &decoy, names)
}

fn hard_link_during_layout(scratch: Scratch) -> Result<Swap, Unavailable> {
    during_layout(scratch, |decoy, name| fs::hard_link(decoy, name))
}

fn link_during_layout(scratch: Scratch) -> Result<Swap, Unavailable> {
    during_layout(scratch, |decoy, name| symlink(decoy, name))
}

/// A link to the decoy takes the name of a file that the run creates, before or after the file
/// exists. `make` creates a symbolic or hard link.
fn during_layout(
    scratch: Scratch,
    make: fn(&Path, &Path) -> io::Result<()>,
) -> Result<Swap, Unavailable> {
    let (target, decoy) = (
        scratch.root().join("target"),
        scratch.outside().join("decoy"),
    );
    let next = scratch.root().join("next");
    let swap = {
        let (target, decoy) = (target.clone(), decoy.clone());
        move || {
            let _ = fs::remove_file(&next);
            make(&decoy, &target).is_ok()
                || (make(&decoy, &next).is_ok() && fs::rename(&next, &target).is_ok())
        }
    };
    let created = target.clone();
    let undo = move || drop(fs::remove_file(&created));
    Ok(files(scratch, &target, None, &decoy, swap, undo))
}

fn images(scratch: &Scratch) -> (PathBuf, PathBuf) {
    let [target, decoy] = ["target.img", "decoy.img"].map(|name| scratch.image(name, 1));
    fs::write(&target, noise(MIB as usize)).unwrap();
    fs::write(&decoy, decoy_data().repeat(4)).unwrap();
    (target, decoy)
}

fn devices(scratch: Scratch, device: &Path, images: [PathBuf; 2]) -> Swap {
    let [target, decoy] = images;
    let options = json!({"rw": "write", "io_size": "64k"});
    Swap {
        runner: Runner::under(scratch.root()),
        job: job(device, BYTES as u64, options),
        target: Some(target),
        decoy,
        swap: Box::new(|| false),
        undo: Box::new(|| ()),
        is_owned: false,
        _loops: Vec::new(),
        scratch,
    }
}

/// Calls a loop device ioctl with a file descriptor, or 0.
fn loop_call(device: &Path, request: libc::Ioctl, file: Option<&File>) -> io::Result<()> {
    let node = File::options().read(true).write(true).open(device)?;
    let argument = file.map_or(0, AsRawFd::as_raw_fd);
    // SAFETY: both ioctls take an integer argument.
    match unsafe { libc::ioctl(node.as_raw_fd(), request, argument) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Attaches another image to a loop device. Fails if another program has taken the device.
fn reattach(device: &Path, from: &Path, to: &Path) -> io::Result<()> {
    if is_attached(device, from) {
        loop_call(device, LOOP_CLR_FD, None)?;
    }
    let file = File::options().read(true).write(true).open(to)?;
    loop_call(device, LOOP_SET_FD, Some(&file))
}

fn is_attached(device: &Path, image: &Path) -> bool {
    let name = device.file_name().unwrap().to_str().unwrap();
    let backing = fs::read_to_string(format!("/sys/block/{name}/loop/backing_file"));
    backing.is_ok_and(|backing| Path::new(backing.trim_end()) == image)
}

/// A loop device, removed on drop. Its number is high, because `losetup --find` in other tests
/// takes the lowest free number.
struct HighLoop(PathBuf);

impl HighLoop {
    fn attach(image: &Path) -> Result<Self, Unavailable> {
        let number = HIGH_LOOPS + std::process::id() % HIGH_LOOPS;
        let control = Self::control(LOOP_CTL_ADD, number);
        control.map_err(|error| format!("loop{number}: {error}"))?;
        let device = Self(PathBuf::from(format!("/dev/loop{number}")));
        let file = File::options().read(true).write(true).open(image).unwrap();
        let attached = loop_call(&device.0, LOOP_SET_FD, Some(&file));
        attached.map_err(|error| format!("loop{number}: {error}"))?;
        Ok(device)
    }

    fn control(request: libc::Ioctl, number: u32) -> io::Result<()> {
        let control = File::open("/dev/loop-control")?;
        // SAFETY: both ioctls take an integer argument.
        match unsafe { libc::ioctl(control.as_raw_fd(), request, number) } {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        }
    }
}

impl Drop for HighLoop {
    fn drop(&mut self) {
        let number: u32 = self.0.to_str().unwrap()["/dev/loop".len()..]
            .parse()
            .unwrap();
        // Only this test uses the device, unless all lower numbers are in use.
        let _ = loop_call(&self.0, LOOP_CLR_FD, None);
        for _ in 0..100 {
            if Self::control(LOOP_CTL_REMOVE, number).is_ok() {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
        skip(&format!("cannot remove {}", self.0.display()));
    }
}

/// A different image is attached to the loop device of the same name.
fn loop_file(scratch: Scratch) -> Result<Swap, Unavailable> {
    let (target, decoy) = images(&scratch);
    let attached = HighLoop::attach(&target)?;
    let device = attached.0.clone();
    let mut swap = devices(scratch, &device, [target.clone(), decoy.clone()]);
    let (name, [from, to]) = (device, [target.clone(), decoy.clone()]);
    swap.swap = Box::new(move || reattach(&name, &from, &to).is_ok());
    swap.undo = Box::new(move || {
        let device = &attached.0;
        let limit = Instant::now() + USE_TIMEOUT;
        while !is_attached(device, &target) {
            let result = reattach(device, &decoy, &target);
            assert!(Instant::now() < limit, "{}: {result:?}", device.display());
            thread::sleep(Duration::from_millis(5));
        }
    });
    Ok(swap)
}

/// Another device's node replaces the device node.
fn node(scratch: Scratch) -> Result<Swap, Unavailable> {
    let (target, decoy) = images(&scratch);
    let attached = attach(&target, &[])?;
    let other = attach(&decoy, &[])?;
    let names = [scratch.at("node"), scratch.at("other node")];
    for (name, device) in names.iter().zip([&attached, &other]) {
        let number = fs::metadata(&device.0).unwrap().rdev();
        let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
        make_node(name, FileType::BlockDevice, major, minor);
    }
    let [name, other_name] = names;
    let mut swap = devices(scratch, &name, [target, decoy]);
    swap._loops.extend([attached, other]);
    let decoy_device = PathBuf::from(&swap._loops[1].0);
    let undone = [name.clone(), other_name.clone()];
    swap.swap = Box::new(move || exchange(&name, &other_name));
    swap.undo = Box::new(move || {
        assert!(exchange(&undone[0], &undone[1]));
        drop(File::open(&decoy_device).map(|device| device.sync_all()));
    });
    Ok(swap)
}
