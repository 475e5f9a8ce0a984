//! A user-mode Linux (linux.uml) with disks of the test. Its root is that of the host, read-only
//! through hostfs; its init is a script that runs one test of this program by name.
//!
//! A test that needs it starts with `if !is_inside() { return run(&Machine {...}, directory) }`. A
//! test of power cuts boots the machine itself and cuts its power; its disks stay.

use rustix::{
    process::{Pid, Signal, kill_process_group},
    thread::{CpuSet, sched_getcpu, sched_setaffinity},
};
use std::{
    env,
    fs::{self, File, Permissions},
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

/// Required programs and their Debian packages.
const PROGRAMS: &[(&str, &str)] = &[
    ("linux.uml", "user-mode-linux"),
    ("mdadm", "mdadm"),
    ("dmsetup", "dmsetup"),
    ("modprobe", "kmod"),
    ("mkfs.ext4", "e2fsprogs"),
];
/// Includes the directories of administration programs.
const PATHS: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// Enough for the programs and the page cache of a case.
const MEMORY_BYTES: u64 = 384 << 20;
/// First line printed by init.
const BOOTED: &str = "this is a user-mode Linux";
/// Printed if the test passed.
const PASSED: &str = "the test inside passed";
/// Set in the user-mode Linux.
const INSIDE: &str = "LEADLINE_IN_UML";
/// Variables that select and repeat cases.
const PASSED_ON: [&str; 2] = ["LEADLINE_CASE", "LEADLINE_REPEAT"];
/// How often a wait looks at the machine.
const POLL: Duration = Duration::from_millis(20);

/// What runs in the user-mode Linux.
pub struct Machine<'a> {
    /// Path of the test in this program.
    pub test: &'a str,
    /// Names (ubda to ubdp) and bytes.
    pub disks: Vec<(&'a str, u64)>,
    /// Kernel modules beyond dm-mod and loop.
    pub modules: &'a [&'a str],
    /// The test fails if it takes longer.
    pub longest: Duration,
}

/// Whether this is the program in the user-mode Linux.
pub fn is_inside() -> bool {
    env::var_os(INSIDE).is_some()
}

/// Runs a test of this program in a user-mode Linux. `directory` holds its disks and console.
#[expect(clippy::print_stdout, reason = "shown with the output of the test")]
pub fn run(machine: &Machine, directory: &Path) {
    let Some(mut linux) = Linux::boot(machine, directory) else {
        return;
    };
    let has_ended = linux.wait(machine.longest);
    let result = linux.cut_power();
    // Indented, to distinguish its results.
    result.lines().for_each(|line| println!("  {line}"));
    if has_ended && !result.contains(BOOTED) {
        return skip(&format!(
            "linux.uml does not boot here: {}",
            result.lines().last().unwrap_or_default()
        ));
    }
    assert!(has_ended, "user-mode Linux did not shut down in time");
    assert!(
        result.contains(PASSED),
        "the test inside user-mode Linux did not pass"
    );
}

/// Reports a skipped test.
#[expect(
    clippy::print_stderr,
    reason = "skipped tests are counted in the output"
)]
fn skip(reason: &str) {
    eprintln!("SKIP: {reason}");
}

fn is_installed(program: &str) -> bool {
    PATHS
        .split(':')
        .any(|path| Path::new(path).join(program).exists())
}

/// A running user-mode Linux. Killed when dropped.
pub struct Linux {
    child: Child,
    console: PathBuf,
}

impl Linux {
    /// Boots a machine with its disks in `directory`, which are created unless they exist. Returns
    /// `None` and reports a skipped test if a program is missing.
    pub fn boot(machine: &Machine, directory: &Path) -> Option<Self> {
        if let Some((program, package)) =
            PROGRAMS.iter().find(|(program, _)| !is_installed(program))
        {
            skip(&format!(
                "no {program} for a user-mode Linux: sudo apt-get install {package}"
            ));
            return None;
        }
        let init = directory.join("init");
        fs::write(&init, script(machine)).unwrap();
        fs::set_permissions(&init, Permissions::from_mode(0o755)).unwrap();
        let console = directory.join("console");
        let out = File::create(&console).unwrap();
        pin_to_cpu();
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
            .args(disks(directory, machine))
            .env("TMPDIR", memory(directory))
            .env("PATH", PATHS)
            .stdin(Stdio::null())
            .stdout(out.try_clone().unwrap())
            .stderr(out)
            .process_group(0)
            .spawn()
            .unwrap();
        Some(Self { child, console })
    }

    /// Returns true if the machine shuts down in time.
    fn wait(&mut self, longest: Duration) -> bool {
        let end = Instant::now() + longest;
        while Instant::now() < end {
            if self.child.try_wait().unwrap().is_some() {
                return true;
            }
            sleep(POLL);
        }
        false
    }

    /// Waits until the console shows a line.
    ///
    /// # Panics
    /// The machine shuts down or the time is over before.
    pub fn wait_for(&mut self, line: &str, longest: Duration) {
        let end = Instant::now() + longest;
        while !self.console().lines().any(|shown| shown.trim() == line) {
            let is_running = self.child.try_wait().unwrap().is_none();
            assert!(
                is_running && Instant::now() < end,
                "the console does not show {line:?}:\n{}",
                self.console()
            );
            sleep(POLL);
        }
    }

    /// What the machine has printed.
    pub fn console(&self) -> String {
        String::from_utf8_lossy(&fs::read(&self.console).unwrap()).into_owned()
    }

    /// Kills the machine. What its kernel had not written to a disk is lost. Returns the console.
    pub fn cut_power(self) -> String {
        let console = self.console.clone();
        drop(self);
        String::from_utf8_lossy(&fs::read(console).unwrap()).into_owned()
    }
}

impl Drop for Linux {
    fn drop(&mut self) {
        // The processes inside are host processes in one process group.
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        let _ = self.child.wait();
    }
}

/// Pins this thread and its children to one CPU: the processes of a user-mode Linux alternate, and
/// waking another CPU each time took four times as long on an idle virtual machine (175 s instead
/// of 44).
fn pin_to_cpu() {
    let mut here = CpuSet::new();
    here.set(sched_getcpu());
    sched_setaffinity(None, &here).unwrap();
}

/// Files as disks.
fn disks(directory: &Path, machine: &Machine) -> impl Iterator<Item = String> {
    machine.disks.iter().map(move |(name, bytes)| {
        let file = directory.join(name);
        if !file.exists() {
            File::create(&file).unwrap().set_len(*bytes).unwrap();
        }
        format!("{name}={}", file.display())
    })
}

/// The init script. /run is writable, the root of the host is not. The kernel loads modules
/// (ciphers) through the program in /proc/sys/kernel/modprobe.
fn script(machine: &Machine) -> String {
    let program = env::current_exe().unwrap();
    let passed_on = PASSED_ON
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
        /run/modprobe -a dm-mod loop {modules}
        '{program}' {test} --exact --nocapture --include-ignored 2>&1 && echo '{PASSED}'
        echo o > /proc/sysrq-trigger
        sleep {longest}
        "#,
        environment = environment.join(" "),
        test = machine.test,
        modules = machine.modules.join(" "),
        program = program.display(),
        longest = machine.longest.as_secs(),
    )
}

/// Directory of the file that backs the memory of the user-mode Linux: a tmpfs if it has enough
/// space (containers have 64 MiB).
fn memory(directory: &Path) -> &Path {
    let shared = Path::new("/dev/shm");
    let room = rustix::fs::statvfs(shared).map_or(0, |found| found.f_bavail * found.f_frsize);
    if room > MEMORY_BYTES {
        shared
    } else {
        directory
    }
}
