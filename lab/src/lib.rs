//! Runs tests in user-mode Linux (linux.uml) with their own disks. The root filesystem is the
//! host's, mounted read-only through hostfs. init is a script that runs one test of the current
//! test binary by name.
//!
//! A test that needs UML starts with `if !is_inside() { return run(&Machine {...}, directory) }`. A
//! power-cut test boots the machine itself and cuts its power; its disks are kept.

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
/// `PATH` with the directories of administration programs (`sbin`).
const PATHS: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// Memory for the programs and the page cache of a test case.
const MEMORY_BYTES: u64 = 384 << 20;
/// First line printed by init.
const BOOTED: &str = "user-mode Linux has booted";
/// Line that init prints if the test passed.
const PASSED: &str = "the test inside passed";
/// Environment variable that is set inside UML.
const IN_UML: &str = "LEADLINE_IN_UML";
/// Host environment variables that are passed to UML. They select and repeat cases.
const INHERITED: [&str; 2] = ["LEADLINE_CASE", "LEADLINE_REPEAT"];
/// Polling interval while waiting for the machine.
const POLL: Duration = Duration::from_millis(20);

/// Configuration of a UML machine.
pub struct Machine<'a> {
    /// Path of the test in this test binary.
    pub test: &'a str,
    /// Names (ubda to ubdp) and sizes in bytes.
    pub disks: Vec<(&'a str, u64)>,
    /// Kernel modules in addition to dm-mod and loop.
    pub modules: &'a [&'a str],
    /// Time limit; the test fails if it is exceeded.
    pub timeout: Duration,
}

/// Returns true inside UML.
pub fn is_inside() -> bool {
    env::var_os(IN_UML).is_some()
}

/// Runs one of this binary's tests in UML. `directory` holds the machine's disks and console
/// output.
#[expect(clippy::print_stdout, reason = "shown with the test output")]
pub fn run(machine: &Machine, directory: &Path) {
    let Some(mut linux) = Linux::boot(machine, directory) else {
        return;
    };
    let has_shut_down = linux.wait(machine.timeout);
    let result = linux.cut_power();
    // Indented to distinguish the inner test's results from the host's.
    result.lines().for_each(|line| println!("  {line}"));
    assert!(has_shut_down, "user-mode Linux did not shut down in time");
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

/// A running UML instance. Killed when dropped.
pub struct Linux {
    child: Child,
    console: PathBuf,
}

impl Linux {
    /// Boots a machine. Its disks are in `directory`; missing disks are created. Returns `None` and
    /// reports a skipped test if a program is missing or the kernel does not boot.
    pub fn boot(machine: &Machine, directory: &Path) -> Option<Self> {
        if let Some((program, package)) =
            PROGRAMS.iter().find(|(program, _)| !is_installed(program))
        {
            skip(&format!(
                "user-mode Linux requires {program}: sudo apt-get install {package}"
            ));
            return None;
        }
        let init = directory.join("init");
        fs::write(&init, script(machine)).unwrap();
        fs::set_permissions(&init, Permissions::from_mode(0o755)).unwrap();
        let console = directory.join("console");
        let out = File::create(&console).unwrap();
        pin_to_cpu();
        let mut command = Command::new("linux.uml");
        if has_large_registers()
            && let Some(library) = registers_library(directory)
        {
            command.env("LD_PRELOAD", library);
        }
        let child = command
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
            .env("TMPDIR", memory_directory(directory))
            .env("PATH", PATHS)
            .stdin(Stdio::null())
            .stdout(out.try_clone().unwrap())
            .stderr(out)
            .process_group(0)
            .spawn()
            .unwrap();
        let mut linux = Self { child, console };
        linux.wait_for_boot(machine.timeout).then_some(linux)
    }

    /// Waits for init. If the kernel exits first, reports a skipped test and returns false.
    fn wait_for_boot(&mut self, timeout: Duration) -> bool {
        let end = Instant::now() + timeout;
        while !self.console().contains(BOOTED) && Instant::now() < end {
            if self.child.try_wait().unwrap().is_some() && !self.console().contains(BOOTED) {
                let console = self.console();
                let last = console.lines().last().unwrap_or_default();
                skip(&format!("linux.uml does not boot here: {last}"));
                return false;
            }
            sleep(POLL);
        }
        true
    }

    /// Returns true if the machine shuts down in time.
    fn wait(&mut self, timeout: Duration) -> bool {
        let end = Instant::now() + timeout;
        while Instant::now() < end {
            if self.child.try_wait().unwrap().is_some() {
                return true;
            }
            sleep(POLL);
        }
        false
    }

    /// Waits until the line appears on the console.
    ///
    /// # Panics
    /// If the machine shuts down or the time runs out first.
    pub fn wait_for(&mut self, line: &str, timeout: Duration) {
        let end = Instant::now() + timeout;
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

    /// Everything the machine has printed.
    pub fn console(&self) -> String {
        String::from_utf8_lossy(&fs::read(&self.console).unwrap()).into_owned()
    }

    /// Kills the machine. Data that its kernel has not written to a disk is lost. Returns the
    /// console output.
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

/// Returns true if the processor's registers do not fit in the buffer of UML kernels before 6.13,
/// which then cannot start a process (`ptrace set fp regs failed`). The tile registers (AMX) take
/// 8 KiB.
fn has_large_registers() -> bool {
    /// Size in bytes of all registers up to AVX-512 and protection keys.
    const MAX_BYTES: u32 = 2696;
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{__cpuid, __cpuid_count};
        const EXTENDED_STATE: u32 = 0xd;
        __cpuid(0).eax >= EXTENDED_STATE && __cpuid_count(EXTENDED_STATE, 0).ecx > MAX_BYTES
    }
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Compiles a library that lets such a kernel boot.
fn registers_library(directory: &Path) -> Option<PathBuf> {
    let source = directory.join("registers.c");
    let library = directory.join("registers.so");
    fs::write(&source, include_str!("registers.c")).unwrap();
    let status = Command::new("cc")
        .args(["-shared", "-fPIC", "-O2", "-o"])
        .args([&library, &source])
        .status();
    status
        .is_ok_and(|status| status.success())
        .then_some(library)
}

/// Pins this thread and its children to one CPU: UML's processes alternate, and waking a different
/// CPU each time took four times as long on an idle virtual machine (175 s instead of 44).
fn pin_to_cpu() {
    let mut here = CpuSet::new();
    here.set(sched_getcpu());
    sched_setaffinity(None, &here).unwrap();
}

/// Files used as disks.
fn disks(directory: &Path, machine: &Machine) -> impl Iterator<Item = String> {
    machine.disks.iter().map(move |(name, bytes)| {
        let file = directory.join(name);
        if !file.exists() {
            File::create(&file).unwrap().set_len(*bytes).unwrap();
        }
        format!("{name}={}", file.display())
    })
}

/// The init script. /run is writable; the host's root filesystem is not. The kernel loads modules
/// (ciphers) through the program in /proc/sys/kernel/modprobe.
fn script(machine: &Machine) -> String {
    let program = env::current_exe().unwrap();
    let inherited = INHERITED
        .into_iter()
        .filter_map(|name| Some(format!("{name}='{}'", env::var(name).ok()?)));
    let environment: Vec<String> = inherited
        .chain([format!("{IN_UML}=1 TMPDIR=/run PATH={PATHS}")])
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
        sleep {timeout}
        "#,
        environment = environment.join(" "),
        test = machine.test,
        modules = machine.modules.join(" "),
        program = program.display(),
        timeout = machine.timeout.as_secs(),
    )
}

/// Directory of the file that backs UML's memory: /dev/shm if it has enough space (Docker limits it
/// to 64 MiB by default).
fn memory_directory(directory: &Path) -> &Path {
    let shared = Path::new("/dev/shm");
    let free_bytes = rustix::fs::statvfs(shared).map_or(0, |found| found.f_bavail * found.f_frsize);
    if free_bytes > MEMORY_BYTES {
        shared
    } else {
        directory
    }
}
