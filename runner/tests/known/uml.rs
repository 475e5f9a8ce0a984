//! A user-mode Linux (linux.uml) that is a Linux with dm and md on disks of the test's own: its root is this host's, read-only, by
//! hostfs; its init is a script that runs one test of this very program, by its name. What it prints is printed here.
//!
//! It ends by itself, or is ended with all its processes. Not here: what is tested in it (`stacked`).

use std::env;
use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use rustix::thread::{CpuSet, sched_getcpu, sched_setaffinity};

use crate::scratch::{self, skip};
use crate::stack::{DISK_BYTES, STACKS};
use crate::stacked::INSIDE;
use crate::{ONLY, REPEAT, repeat};

/// Programs that are needed, and the Debian packages that have them.
const PROGRAMS: &[(&str, &str)] = &[
    ("linux.uml", "user-mode-linux"),
    ("mdadm", "mdadm"),
    ("dmsetup", "dmsetup"),
    ("modprobe", "kmod"),
    ("mkfs.ext4", "e2fsprogs"),
];
/// Where they are; administrators' programs are not on everybody's path.
const PATHS: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// Time for all cases once: they take 20 s, and a minute where everything else is tested too.
const LONGEST: Duration = Duration::from_secs(180);
/// Its memory: some files of a case in its page cache, and the programs.
const MEMORY_BYTES: u64 = 384 << 20;
/// What its init prints first.
const BOOTED: &str = "this is a user-mode Linux";
/// What it prints when the test inside passed.
const PASSED: &str = "the test inside passed";

/// Runs a test of this program in it. Panics with everything it printed when that does not pass.
pub fn run(test: &str) {
    if let Some((program, package)) = PROGRAMS.iter().find(|(program, _)| !is_here(program)) {
        return skip(&format!(
            "no {program} for dm and md: sudo apt-get install {package}"
        ));
    }
    let directory = scratch::directory();
    let console = directory.path().join("console");
    let mut linux = Linux::boot(directory.path(), test, &console);
    let has_ended = linux.wait(LONGEST * repeat() as u32);
    drop(linux);
    let told = String::from_utf8_lossy(&fs::read(&console).unwrap()).into_owned();
    // Indented, so that nobody counts its results as others.
    told.lines().for_each(|line| println!("  {line}"));
    if has_ended && !told.contains(BOOTED) {
        return skip(&format!(
            "linux.uml does not boot here: {}",
            told.lines().last().unwrap_or_default()
        ));
    }
    assert!(has_ended, "it did not end in time");
    assert!(told.contains(PASSED), "it ended without passing");
}

fn is_here(program: &str) -> bool {
    PATHS
        .split(':')
        .any(|path| Path::new(path).join(program).exists())
}

/// It runs; ended when dropped.
struct Linux(Child);

impl Linux {
    fn boot(directory: &Path, test: &str, console: &Path) -> Self {
        let init = directory.join("init");
        fs::write(&init, script(test)).unwrap();
        fs::set_permissions(&init, Permissions::from_mode(0o755)).unwrap();
        let out = File::create(console).unwrap();
        stay_here();
        let child = Command::new("linux.uml")
            .args([
                "rootfstype=hostfs",
                "rootflags=/",
                "ro",
                "con=null",
                "con0=null,fd:1",
                "quiet",
                "panic=-1",
            ])
            .args([
                format!("init={}", init.display()),
                format!("uml_dir={}/", directory.display()),
            ])
            .arg(format!("mem={}M", MEMORY_BYTES >> 20))
            .args(disks(directory))
            .env("TMPDIR", memory(directory))
            .env("PATH", PATHS)
            .stdin(Stdio::null())
            .stdout(out.try_clone().unwrap())
            .stderr(out)
            .process_group(0)
            .spawn()
            .unwrap();
        Self(child)
    }

    /// Whether it ended by itself.
    fn wait(&mut self, longest: Duration) -> bool {
        let end = Instant::now() + longest;
        while Instant::now() < end {
            if self.0.try_wait().unwrap().is_some() {
                return true;
            }
            sleep(Duration::from_millis(20));
        }
        false
    }
}

impl Drop for Linux {
    fn drop(&mut self) {
        // Its own processes are processes of the host, in one group.
        let _ = kill_process_group(Pid::from_child(&self.0), Signal::KILL);
        let _ = self.0.wait();
    }
}

/// Keeps this thread and what it starts on one processor: a user-mode Linux is processes that take turns, and waking another
/// processor for each turn took four times as long on an idle virtual machine (175 s instead of 44).
fn stay_here() {
    let mut here = CpuSet::new();
    here.set(sched_getcpu());
    sched_setaffinity(None, &here).unwrap();
}

/// Empty files, each a disk of its name.
fn disks(directory: &Path) -> impl Iterator<Item = String> {
    STACKS.iter().flat_map(|stack| stack.disks).map(|name| {
        let file = directory.join(name);
        File::create(&file).unwrap().set_len(DISK_BYTES).unwrap();
        format!("{name}={}", file.display())
    })
}

/// What its init does. /dev is there already; /run is where things are written, since the host's root is not. The kernel asks for
/// modules too (ciphers), by the program named in /proc/sys/kernel/modprobe.
fn script(test: &str) -> String {
    let program = env::current_exe().unwrap();
    let passed_on = [ONLY, REPEAT]
        .into_iter()
        .filter_map(|name| Some(format!("{name}='{}'", env::var(name).ok()?)));
    let environment: Vec<String> = passed_on
        .chain([format!("{INSIDE}=1 TMPDIR=/run PATH={PATHS}")])
        .collect();
    format!(
        r#"#!/bin/sh
        echo '{BOOTED}'
        export {environment}
        mount -t proc proc /proc && mount -t sysfs sys /sys && mount -t tmpfs run /run
        mkdir -p /run/modules/lib && ln -s /usr/lib/uml/modules /run/modules/lib/modules
        printf '#!/bin/sh\nexec modprobe -d /run/modules "$@"\n' > /run/modprobe && chmod +x /run/modprobe
        echo /run/modprobe > /proc/sys/kernel/modprobe
        /run/modprobe -a dm-mod dm-crypt raid0 raid1
        '{program}' {test} --exact --nocapture 2>&1 && echo '{PASSED}'
        echo o > /proc/sysrq-trigger
        sleep {longest}
        "#,
        environment = environment.join(" "),
        program = program.display(),
        longest = LONGEST.as_secs(),
    )
}

/// Where the file is that it has for memory: in memory, if that much of it may be filled there (containers have 64 MiB).
fn memory(directory: &Path) -> &Path {
    let shared = Path::new("/dev/shm");
    let room = rustix::fs::statvfs(shared).map_or(0, |found| found.f_bavail * found.f_frsize);
    if room > MEMORY_BYTES {
        shared
    } else {
        directory
    }
}
