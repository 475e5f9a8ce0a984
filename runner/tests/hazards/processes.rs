//! Blank loop devices, and files on an overlay, that another process can change although it neither
//! mounts nor claims them: it has the device or its file open, mapped or locked. Processes that
//! only read or that use other files must not prevent a run.

use crate::{
    aliases::{self, LENGTH, Shown},
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

/// How a process uses a file.
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

/// The descriptor is only in the table of one thread.
pub(crate) fn open_in_a_thread(path: &Path) -> Result<Box<dyn Any>, Unavailable> {
    child("thread", path)
}

pub(crate) fn open_in_a_process_without_its_first_thread(
    path: &Path,
) -> Result<Box<dyn Any>, Unavailable> {
    child("first-thread-ends", path)
}

pub(crate) fn mapped_in_a_process_without_its_first_thread(
    path: &Path,
) -> Result<Box<dyn Any>, Unavailable> {
    child("first-thread-ends-mapped", path)
}

fn script(script: &str, path: &Path) -> Result<Box<dyn Any>, Unavailable> {
    Ok(Box::new(Holder::start(
        &[],
        &script.replace("PATH", text(path)),
    )?))
}

/// Environment variable for a process that uses a file. Its value is `HOW PATH`.
const USE: &str = "LEADLINE_HAZARD_USE";

/// Starts this test program as a process that uses the file.
fn child(how: &str, path: &Path) -> Result<Box<dyn Any>, Unavailable> {
    let test = ["--exact", "blank_targets_in_use::process_of_another_test"];
    let mut command = Command::new(env::current_exe().unwrap());
    command
        .args(test)
        .args(["--ignored", "--nocapture", "--test-threads=1"]);
    let holder = Holder::wait_for(command.env(USE, format!("{how} {}", path.display())))?;
    Ok(Box::new(holder))
}

/// The process that `child` starts.
pub(crate) fn process() {
    let Ok(words) = env::var(USE) else { return };
    let (how, path) = words.split_once(' ').unwrap();
    let path = Path::new(path);
    let file = match how {
        "thread" => {
            // SAFETY: the copied descriptors are only used in this thread.
            assert_eq!(unsafe { libc::unshare(libc::CLONE_FILES) }, 0);
            open_to_write(path)
        }
        "first-thread-ends" | "first-thread-ends-mapped" => open_to_write(path),
        _ => open_to_read(path),
    };
    let file = file.unwrap();
    let mut held: Vec<Box<dyn Any>> = Vec::new();
    match how {
        "ofd-lock" => lock(&file, libc::F_OFD_SETLK),
        "posix-lock" => rustix::fs::fcntl_lock(&file, FlockOperation::LockShared).unwrap(),
        "first-thread-ends" => end_first_thread(),
        "first-thread-ends-mapped" => {
            held.push(Box::new(LockedPages::of(&file, MIB)));
            end_first_thread();
        }
        _ => {}
    }
    if how != "first-thread-ends-mapped" {
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

/// Ends the first thread of this process. The process becomes a zombie whose other threads
/// continue.
fn end_first_thread() {
    extern "C" fn end_thread(_: i32) {
        // SAFETY: ends the calling thread, which only waits for this test.
        unsafe { libc::syscall(libc::SYS_exit, 0) };
    }
    let process = std::process::id();
    // SAFETY: the handler only makes a system call, and the signal is sent to the first thread.
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
pub(crate) fn used_device(used: Use) -> impl Fn(&Scratch) -> Built {
    move |scratch| {
        let scene = blank_device(scratch)?;
        let used = used(&scene.target)?;
        Ok(scene.hold(used))
    }
}

/// The process uses another node of the device.
pub(crate) fn device_used_by_another_node(used: Use) -> impl Fn(&Scratch) -> Built {
    move |scratch| {
        let image = scratch.image("disk.img", 32);
        let device = attach(&image, &[])?;
        let used = used(&other_node(scratch, &device))?;
        Ok(Scene::device(scratch, &device.0, &image)
            .hold(device)
            .hold(used))
    }
}

pub(crate) fn device_on_used_file(used: Use) -> impl Fn(&Scratch) -> Built {
    move |scratch| {
        let image = sparse(&scratch.root().join("vm.img"), LENGTH);
        let used = used(&image)?;
        let device = attach(&image, &[])?;
        Ok(Scene::device(scratch, &device.0, &image)
            .hold(device)
            .hold(used))
    }
}

/// A disk with a partition that another process uses.
pub(crate) fn disk_with_used_partition(used: Use) -> impl Fn(&Scratch) -> Built {
    move |scratch| {
        let (image, device, partition) = partitioned(scratch)?;
        let used = used(&partition)?;
        Ok(Scene::device(scratch, &device.0, &image)
            .hold(device)
            .hold(used))
    }
}

/// A partition of a disk that another process uses.
pub(crate) fn partition_of_used_disk(used: Use) -> impl Fn(&Scratch) -> Built {
    move |scratch| {
        let (image, device, partition) = partitioned(scratch)?;
        let used = used(Path::new(&device.0))?;
        Ok(Scene::device(scratch, &partition, &image)
            .hold(device)
            .hold(used))
    }
}

/// A loop device on a device that another process uses.
pub(crate) fn device_on_used_device(used: Use) -> impl Fn(&Scratch) -> Built {
    move |scratch| {
        let image = scratch.image("disk.img", 32);
        let lower = attach(&image, &[])?;
        let used = used(Path::new(&lower.0))?;
        loop_on(scratch, &image, lower, used)
    }
}

type MakeOverlay = fn(&Scratch) -> Result<Shown, Unavailable>;

/// A loop device on a file in the upper layer; another process uses it through the overlay.
pub(crate) fn device_on_file_used_through(
    overlay: MakeOverlay,
    used: Use,
) -> impl Fn(&Scratch) -> Built {
    move |scratch| {
        let shown = overlay(scratch)?;
        let [real, file] = shown.file();
        on(scratch, shown, &real, used(&file)?)
    }
}

/// A loop device on a file of an overlay; another process uses the file in the upper layer.
pub(crate) fn device_on_file_used_below(
    overlay: MakeOverlay,
    used: Use,
) -> impl Fn(&Scratch) -> Built {
    move |scratch| {
        let shown = overlay(scratch)?;
        let [real, file] = shown.file();
        on(scratch, shown, &file, used(&real)?)
    }
}

fn on(scratch: &Scratch, of: Shown, target: &Path, used: Box<dyn Any>) -> Built {
    let device = attach(target, &[])?;
    let scene = Scene::device(scratch, &device.0, target).keeps(&of.real);
    let scene = scene.under(target.parent().unwrap());
    Ok(scene.hold(of.held).hold(device).hold(used))
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
pub(crate) fn file_used_below(overlay: MakeOverlay, used: Use) -> impl Fn(&Scratch) -> Built {
    move |scratch| {
        let shown = overlay(scratch)?;
        let [real, file] = shown.file();
        let used = used(&real)?;
        let scene = Scene::file(scratch, &file).keeps(&shown.real);
        let scene = scene.under(&shown.shown);
        Ok(scene.hold(shown.held).hold(used))
    }
}

pub(crate) fn read(path: &Path) -> Result<Box<dyn Any>, Unavailable> {
    script("exec 7<PATH", path)
}

/// A shared mapping through a descriptor that is not writable.
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
    let shown = aliases::overlay(scratch)?;
    let [_, file] = shown.file();
    let used = open(&file)?;
    let image = sparse(&scratch.root().join("vm.img"), LENGTH);
    let device = attach(&image, &[])?;
    let scene = Scene::device(scratch, &device.0, &image);
    Ok(scene.hold(shown.held).hold(device).hold(used))
}

/// The FUSE server has the file open for writing, because the loop driver does.
pub(crate) fn device_on_a_file_through_fuse(scratch: &Scratch) -> Built {
    let shown = aliases::fuse(scratch)?;
    let [_, file] = shown.file();
    on(scratch, shown, &file, Box::new(()))
}

/// A new file on an overlay, next to an open file of its length.
pub(crate) fn new_file_on_an_overlay(scratch: &Scratch) -> Built {
    let (merged, mounted) = hidden::overlay(scratch)?;
    let other = sparse(&scratch.at("upper/other"), MIB);
    let used = open(&other)?;
    let scene = Scene::file(scratch, &merged.join("new")).sized(MIB);
    let scene = scene.under(&merged).keeps(&merged);
    Ok(scene.hold(mounted).hold(used))
}

/// Another run of Leadline reads the device.
pub(crate) fn device_that_a_run_reads(scratch: &Scratch) -> Built {
    let scene = blank_device(scratch)?;
    let options = json!({"rw": "randread", "time_based": 1, "runtime": "4s"});
    let job = job(&scene.target, scene.size, options);
    let mut reader = Runner::under(scratch.root()).start("run", &["--events"]);
    send(&mut reader, &job);
    wait_for_opener(reader.id(), &scene.target)?;
    Ok(scene.hold(Run(reader)))
}

/// A run, ended on drop.
struct Run(std::process::Child);

impl Drop for Run {
    fn drop(&mut self) {
        self.0.wait().unwrap();
    }
}

/// Waits until the child of a launcher has the device open.
fn wait_for_opener(launcher: u32, device: &Path) -> Result<(), Unavailable> {
    let children = format!("/proc/{launcher}/task/{launcher}/children");
    let has_open = || {
        let child = fs::read_to_string(&children).unwrap_or_default();
        let entries = fs::read_dir(format!("/proc/{}/fd", child.trim()));
        let mut entries = entries.into_iter().flatten().flatten();
        entries.any(|entry| fs::read_link(entry.path()).is_ok_and(|link| link == device))
    };
    for _ in 0..400 {
        if has_open() {
            return Ok(());
        }
        sleep(Duration::from_millis(5));
    }
    Err("the run did not open the device".into())
}

/// A problem names the process and how it uses the target.
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
