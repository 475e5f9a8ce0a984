//! Blank loop devices and overlay files in use by another process. The process neither mounts nor
//! claims them, but has the device or its file open, mapped or locked, so it could change the data.
//! Processes that only read, or that use other files, must not prevent a run.

use crate::{
    aliases::{self, AliasedDirectory, LENGTH},
    clean::blank_device,
    devices_in_use::{loop_on, other_node, partitioned},
    hidden,
    product::job,
    runner::{Runner, send},
    scene::{Holder, MIB, NAMESPACE, Scene, Scratch, Unavailable, attach, sparse, text},
    scratch::{locked_pages::LockedPages, skip},
};
use rustix::fs::FlockOperation;
use serde_json::json;
use std::{
    any::Any,
    env,
    fs::{self, File},
    io::Write,
    path::Path,
    process::Command,
    thread::{park, sleep},
    time::Duration,
};

type Built = Result<Scene, Unavailable>;

/// Makes a process use a file until the returned value is dropped.
pub(crate) type Use = fn(&Path) -> Result<Box<dyn Any>, Unavailable>;

fn open_to_write(path: &Path) -> Result<File, Unavailable> {
    let file = File::options().read(true).write(true).open(path);
    file.map_err(|error| error.to_string())
}

fn open_to_read(path: &Path) -> Result<File, Unavailable> {
    File::open(path).map_err(|error| error.to_string())
}

pub(crate) fn open(path: &Path) -> Result<Box<dyn Any>, Unavailable> {
    script("exec 7<>PATH", path)
}

/// The mapping outlives the descriptor.
pub(crate) fn mapped(path: &Path) -> Result<Box<dyn Any>, Unavailable> {
    let pages = LockedPages::writable(&open_to_write(path)?, MIB);
    Ok(Box::new(pages))
}

/// The mapping outlives the descriptor. mprotect(2) can make it writable.
pub(crate) fn mapped_and_protected(path: &Path) -> Result<Box<dyn Any>, Unavailable> {
    let pages = LockedPages::of(&open_to_write(path)?, MIB);
    Ok(Box::new(pages))
}

pub(crate) fn flocked(path: &Path) -> Result<Box<dyn Any>, Unavailable> {
    script("exec 7<PATH && flock 7", path)
}

pub(crate) fn shared_flock(path: &Path) -> Result<Box<dyn Any>, Unavailable> {
    script("exec 7<PATH && flock --shared 7", path)
}

pub(crate) fn ofd_locked(path: &Path) -> Result<Box<dyn Any>, Unavailable> {
    child("ofd-lock", path)
}

pub(crate) fn posix_locked(path: &Path) -> Result<Box<dyn Any>, Unavailable> {
    child("posix-lock", path)
}

/// Only one thread has the descriptor in its table.
pub(crate) fn open_in_a_thread(path: &Path) -> Result<Box<dyn Any>, Unavailable> {
    child("thread", path)
}

pub(crate) fn open_after_main_thread_exit(path: &Path) -> Result<Box<dyn Any>, Unavailable> {
    child("main-thread-exits", path)
}

pub(crate) fn mapped_after_main_thread_exit(path: &Path) -> Result<Box<dyn Any>, Unavailable> {
    child("main-thread-exits-mapped", path)
}

fn script(script: &str, path: &Path) -> Result<Box<dyn Any>, Unavailable> {
    Ok(Box::new(Holder::start(
        &[],
        &script.replace("PATH", text(path)),
    )?))
}

/// Environment variable for a process that uses a file. Its value is `MODE PATH`.
const USE: &str = "LEADLINE_HAZARD_USE";

/// Starts this test program as a process that uses the file.
fn child(mode: &str, path: &Path) -> Result<Box<dyn Any>, Unavailable> {
    let test = ["--exact", "blank_targets_in_use::process_of_another_test"];
    let mut command = Command::new(env::current_exe().unwrap());
    command
        .args(test)
        .args(["--ignored", "--nocapture", "--test-threads=1"]);
    let holder = Holder::wait_for(command.env(USE, format!("{mode} {}", path.display())))?;
    Ok(Box::new(holder))
}

/// Entry point of the process that `child` starts.
pub(crate) fn process() {
    let Ok(value) = env::var(USE) else { return };
    let (mode, path) = value.split_once(' ').unwrap();
    let path = Path::new(path);
    let file = match mode {
        "thread" => {
            // SAFETY: only this thread uses the copied descriptors.
            assert_eq!(unsafe { libc::unshare(libc::CLONE_FILES) }, 0);
            open_to_write(path)
        }
        "main-thread-exits" | "main-thread-exits-mapped" => open_to_write(path),
        _ => open_to_read(path),
    };
    let file = file.unwrap();
    let mut held: Vec<Box<dyn Any>> = Vec::new();
    match mode {
        "ofd-lock" => lock(&file, libc::F_OFD_SETLK),
        "posix-lock" => rustix::fs::fcntl_lock(&file, FlockOperation::LockShared).unwrap(),
        "main-thread-exits" => end_main_thread(),
        "main-thread-exits-mapped" => {
            held.push(Box::new(LockedPages::of(&file, MIB)));
            end_main_thread();
        }
        _ => {}
    }
    if mode != "main-thread-exits-mapped" {
        held.push(Box::new(file));
    }
    std::io::stdout().write_all(b"\nready\n").unwrap();
    loop {
        park();
    }
}

fn lock(file: &File, command: i32) {
    // SAFETY: all zeros are a valid value: the whole file.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = libc::F_RDLCK as i16;
    let descriptor = std::os::fd::AsRawFd::as_raw_fd(file);
    // SAFETY: the structure lives until the call returns.
    assert_eq!(unsafe { libc::fcntl(descriptor, command, &lock) }, 0);
}

/// Ends the main thread of this process. It becomes a zombie, but the other threads continue.
fn end_main_thread() {
    extern "C" fn end_thread(_: i32) {
        // SAFETY: ends only the calling thread, which waits for this test.
        unsafe { libc::syscall(libc::SYS_exit, 0) };
    }
    let process = std::process::id();
    // SAFETY: the handler only makes a system call, and the signal is sent to the main thread.
    unsafe {
        let handler = end_thread as extern "C" fn(i32) as libc::sighandler_t;
        libc::signal(libc::SIGUSR1, handler);
        libc::syscall(libc::SYS_tgkill, process, process, libc::SIGUSR1);
    }
    let is_zombie = || {
        let stat = fs::read_to_string(format!("/proc/self/task/{process}/stat")).unwrap();
        stat.contains(") Z ")
    };
    while !is_zombie() {
        sleep(Duration::from_millis(1));
    }
}

/// A blank loop device that another process uses.
pub(crate) fn used_device(use_file: Use) -> impl Fn(&Scratch) -> Built {
    move |scratch| {
        let scene = blank_device(scratch)?;
        let used = use_file(&scene.target)?;
        Ok(scene.hold(used))
    }
}

/// A blank loop device that another process uses through another node.
pub(crate) fn device_used_by_another_node(use_file: Use) -> impl Fn(&Scratch) -> Built {
    move |scratch| {
        let image = scratch.image("disk.img", 32);
        let device = attach(&image, &[])?;
        let used = use_file(&other_node(scratch, &device))?;
        Ok(Scene::device(scratch, &device.0, &image)
            .hold(device)
            .hold(used))
    }
}

pub(crate) fn device_on_used_file(use_file: Use) -> impl Fn(&Scratch) -> Built {
    move |scratch| {
        let image = sparse(&scratch.root().join("vm.img"), LENGTH);
        let used = use_file(&image)?;
        let device = attach(&image, &[])?;
        Ok(Scene::device(scratch, &device.0, &image)
            .hold(device)
            .hold(used))
    }
}

/// A disk with a partition that another process uses.
pub(crate) fn disk_with_used_partition(use_file: Use) -> impl Fn(&Scratch) -> Built {
    move |scratch| {
        let (image, device, partition) = partitioned(scratch)?;
        let used = use_file(&partition)?;
        Ok(Scene::device(scratch, &device.0, &image)
            .hold(device)
            .hold(used))
    }
}

/// A partition of a disk that another process uses.
pub(crate) fn partition_of_used_disk(use_file: Use) -> impl Fn(&Scratch) -> Built {
    move |scratch| {
        let (image, device, partition) = partitioned(scratch)?;
        let used = use_file(Path::new(&device.0))?;
        Ok(Scene::device(scratch, &partition, &image)
            .hold(device)
            .hold(used))
    }
}

/// A loop device on a device that another process uses.
pub(crate) fn device_on_used_device(use_file: Use) -> impl Fn(&Scratch) -> Built {
    move |scratch| {
        let image = scratch.image("disk.img", 32);
        let lower = attach(&image, &[])?;
        let used = use_file(Path::new(&lower.0))?;
        loop_on(scratch, &image, lower, used)
    }
}

type MakeOverlay = fn(&Scratch) -> Result<AliasedDirectory, Unavailable>;

/// A loop device on a file in the upper layer; another process uses it through the overlay.
pub(crate) fn device_on_file_used_through(
    overlay: MakeOverlay,
    use_file: Use,
) -> impl Fn(&Scratch) -> Built {
    move |scratch| {
        let directory = overlay(scratch)?;
        let [real, file] = directory.file();
        device_on(scratch, directory, &real, use_file(&file)?)
    }
}

/// A loop device on a file of an overlay; another process uses the file in the upper layer.
pub(crate) fn device_on_file_used_below(
    overlay: MakeOverlay,
    use_file: Use,
) -> impl Fn(&Scratch) -> Built {
    move |scratch| {
        let directory = overlay(scratch)?;
        let [real, file] = directory.file();
        device_on(scratch, directory, &file, use_file(&real)?)
    }
}

fn device_on(
    scratch: &Scratch,
    directory: AliasedDirectory,
    target: &Path,
    used: Box<dyn Any>,
) -> Built {
    let device = attach(target, &[])?;
    let scene = Scene::device(scratch, &device.0, target).protect(&directory.real);
    let scene = scene.under(target.parent().unwrap());
    Ok(scene.hold(directory.held).hold(device).hold(used))
}

/// The overlay is mounted only in the namespace of the other process, as in a container.
pub(crate) fn device_on_file_open_in_a_container(scratch: &Scratch) -> Built {
    let [lower, upper, work] = ["lower", "upper", "work"].map(|name| scratch.directory(name));
    let merged = scratch.directory("merged");
    let image = sparse(&upper.join("disk.img"), LENGTH);
    let script = format!(
        "mount -t overlay -o lowerdir={},upperdir={},workdir={} overlay {merged} \
         && exec 7<>{merged}/disk.img",
        lower.display(),
        upper.display(),
        work.display(),
        merged = merged.display()
    );
    let holder = Holder::start(&NAMESPACE, &script)?;
    let device = attach(&image, &[])?;
    let scene = Scene::device(scratch, &device.0, &image).under(&upper);
    Ok(scene.hold(device).hold(holder))
}

/// A file of an overlay; another process uses it in the upper layer.
pub(crate) fn file_used_below(overlay: MakeOverlay, use_file: Use) -> impl Fn(&Scratch) -> Built {
    move |scratch| {
        let directory = overlay(scratch)?;
        let [real, file] = directory.file();
        let used = use_file(&real)?;
        let scene = Scene::file(scratch, &file).protect(&directory.real);
        let scene = scene.under(&directory.alias);
        Ok(scene.hold(directory.held).hold(used))
    }
}

pub(crate) fn read(path: &Path) -> Result<Box<dyn Any>, Unavailable> {
    script("exec 7<PATH", path)
}

/// A shared mapping through a read-only descriptor.
pub(crate) fn read_through_a_mapping(path: &Path) -> Result<Box<dyn Any>, Unavailable> {
    let pages = LockedPages::of(&open_to_read(path)?, MIB);
    Ok(Box::new(pages))
}

/// A private mapping: writes to its pages do not change the file.
pub(crate) fn privately_mapped(path: &Path) -> Result<Box<dyn Any>, Unavailable> {
    let pages = LockedPages::private(&open_to_write(path)?, MIB);
    Ok(Box::new(pages))
}

/// Another file of the same length, and a loop device on it, are open in another process.
pub(crate) fn device_next_to_an_open_one(scratch: &Scratch) -> Built {
    let scene = blank_device(scratch)?;
    let other = scratch.image("other.img", 32);
    let device = attach(&other, &[])?;
    let used = (open(Path::new(&device.0))?, mapped(&other)?);
    Ok(scene.hold(device).hold(used))
}

/// Another file of the same length is open through an overlay.
pub(crate) fn device_as_long_as_an_open_overlay_file(scratch: &Scratch) -> Built {
    let directory = aliases::overlay(scratch)?;
    let [_, file] = directory.file();
    let used = open(&file)?;
    let image = sparse(&scratch.root().join("vm.img"), LENGTH);
    let device = attach(&image, &[])?;
    let scene = Scene::device(scratch, &device.0, &image);
    Ok(scene.hold(directory.held).hold(device).hold(used))
}

/// The FUSE server has the file open for writing, because the loop driver does.
pub(crate) fn device_on_a_file_through_fuse(scratch: &Scratch) -> Built {
    let directory = aliases::fuse(scratch)?;
    let [_, file] = directory.file();
    device_on(scratch, directory, &file, Box::new(()))
}

/// A new file on an overlay, next to an open file of the same length.
pub(crate) fn new_file_on_an_overlay(scratch: &Scratch) -> Built {
    let (merged, mounted) = hidden::overlay(scratch)?;
    let other = sparse(&scratch.at("upper/other"), MIB);
    let used = open(&other)?;
    let scene = Scene::file(scratch, &merged.join("new")).sized(MIB);
    let scene = scene.under(&merged).protect(&merged);
    Ok(scene.hold(mounted).hold(used))
}

/// Another Leadline run reads the device.
pub(crate) fn device_that_a_run_reads(scratch: &Scratch) -> Built {
    let scene = blank_device(scratch)?;
    let options = json!({"rw": "randread", "time_based": 1, "runtime": "4s"});
    let job = job(&scene.target, scene.size, options);
    let mut reader = Runner::under(scratch.root()).start("run", &["--events"]);
    send(&mut reader, &job);
    wait_for_opener(reader.id(), &scene.target)?;
    Ok(scene.hold(Run(reader)))
}

/// A run; drop waits until it ends.
struct Run(std::process::Child);

impl Drop for Run {
    fn drop(&mut self) {
        self.0.wait().unwrap();
    }
}

/// Waits until the child of a launcher has the device open.
fn wait_for_opener(launcher: u32, device: &Path) -> Result<(), Unavailable> {
    let children = format!("/proc/{launcher}/task/{launcher}/children");
    let is_open = || {
        let child = fs::read_to_string(&children).unwrap_or_default();
        let entries = fs::read_dir(format!("/proc/{}/fd", child.trim()));
        let mut entries = entries.into_iter().flatten().flatten();
        entries.any(|entry| fs::read_link(entry.path()).is_ok_and(|link| link == device))
    };
    for _ in 0..400 {
        if is_open() {
            return Ok(());
        }
        sleep(Duration::from_millis(5));
    }
    Err("the run did not open the device".into())
}

/// The problem names the process and describes how it uses the target.
pub(crate) fn check_message() {
    let scratch = Scratch::new();
    let image = scratch.image("disk.img", 32);
    let device = match attach(&image, &[]) {
        Ok(device) => device,
        Err(reason) => return skip(&reason),
    };
    let holder = Holder::start(&[], &format!("exec 7<>{}", device.0)).unwrap();
    let plan = Runner::under(scratch.root()).plan(&job(
        Path::new(&device.0),
        32 * MIB,
        json!({"rw": "write"}),
    ));
    let detail = plan.json["problems"][0]["detail"].as_str().unwrap();
    let expected = format!("is open for writing in process {} (sleep).", holder.id());
    assert!(detail.ends_with(&expected), "{detail}");
}
