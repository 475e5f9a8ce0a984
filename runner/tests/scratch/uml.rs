//! A user-mode Linux (linux.uml) with dm and md on disks of the test. Its root is that of the host,
//! read-only through hostfs; its init is a script that runs one test of this program by name. Its
//! console is printed here.
//!
//! A test that needs it starts with `if !uml::is_inside() { return uml::run(&Machine {...}) }`.

use super::skip;
use rustix::{
    process::{Pid, Signal, kill_process_group},
    thread::{CpuSet, sched_getcpu, sched_setaffinity},
};
use std::{
    env,
    fs::{self, File, Permissions},
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::Path,
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

/// What runs in the user-mode Linux.
pub(crate) struct Machine<'a> {
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
pub(crate) fn is_inside() -> bool {
    env::var_os(INSIDE).is_some()
}

/// Runs a test of this program in a user-mode Linux.
#[expect(clippy::print_stdout, reason = "shown with the output of the test")]
pub(crate) fn run(machine: &Machine) {
    if let Some((program, package)) = PROGRAMS.iter().find(|(program, _)| !is_installed(program)) {
        return skip(&format!(
            "no {program} for dm and md: sudo apt-get install {package}"
        ));
    }
    let directory = super::directory();
    let console = directory.path().join("console");
    let mut linux = Linux::boot(directory.path(), machine, &console);
    let has_ended = linux.wait(machine.longest);
    drop(linux);
    let result = String::from_utf8_lossy(&fs::read(&console).unwrap()).into_owned();
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

fn is_installed(program: &str) -> bool {
    PATHS
        .split(':')
        .any(|path| Path::new(path).join(program).exists())
}

/// Killed when dropped.
struct Linux(Child);

impl Linux {
    fn boot(directory: &Path, machine: &Machine, console: &Path) -> Self {
        let init = directory.join("init");
        fs::write(&init, script(machine)).unwrap();
        fs::set_permissions(&init, Permissions::from_mode(0o755)).unwrap();
        let out = File::create(console).unwrap();
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
        Self(child)
    }

    /// Returns true if the process exits in time.
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
        // The processes inside are host processes in one process group.
        let _ = kill_process_group(Pid::from_child(&self.0), Signal::KILL);
        let _ = self.0.wait();
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

/// Empty files as disks.
fn disks(directory: &Path, machine: &Machine) -> impl Iterator<Item = String> {
    machine.disks.iter().map(move |(name, bytes)| {
        let file = directory.join(name);
        File::create(&file).unwrap().set_len(*bytes).unwrap();
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
