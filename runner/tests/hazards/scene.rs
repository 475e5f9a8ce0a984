//! A hazard on this host: its target, the bytes that must not change, and the resources that keep
//! the hazard in effect.

use crate::{fingerprint, scratch};
use scratch::{Loop, Mounted};
use std::{
    any::Any,
    fs::{self, File},
    io::{BufRead, BufReader},
    os::unix::fs::{FileExt, PermissionsExt},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

pub(crate) const MIB: u64 = 1 << 20;

/// Reason why a hazard cannot be created on this host.
pub(crate) type Unavailable = String;

/// The directories of one test: a target root, and a directory outside it.
pub(crate) struct Scratch {
    directory: tempfile::TempDir,
}

impl Scratch {
    /// Creates directories that every user can enter.
    pub(crate) fn new() -> Self {
        let directory = scratch::directory();
        let scratch = Self { directory };
        for path in [scratch.path(), &scratch.root(), &scratch.outside()] {
            fs::create_dir_all(path).unwrap();
            fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
        }
        scratch
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// Like `at`, and creates the directory.
    pub(crate) fn directory(&self, name: &str) -> PathBuf {
        let path = self.at(name);
        fs::create_dir_all(&path).unwrap();
        path
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.at("root")
    }

    pub(crate) fn outside(&self) -> PathBuf {
        self.at("outside")
    }

    /// Creates a sparse file under the root.
    pub(crate) fn image(&self, name: &str, mib: u64) -> PathBuf {
        sparse(&self.root().join(name), mib * MIB)
    }

    /// Creates a file under the root that Leadline does not own.
    pub(crate) fn foreign_file(&self, name: &str) -> PathBuf {
        foreign(&self.root().join(name))
    }

    /// Creates a file outside the root that Leadline does not own.
    pub(crate) fn victim(&self) -> PathBuf {
        foreign(&self.outside().join("victim"))
    }
}

pub(crate) struct Scene {
    /// File or device that the job uses as its target.
    pub target: PathBuf,
    /// Files and directories whose bytes must not change.
    pub protected: Vec<PathBuf>,
    /// Devices whose page cache must be dropped before these bytes are read.
    pub devices: Vec<PathBuf>,
    pub roots: Vec<PathBuf>,
    /// Program and arguments that start the runner.
    pub launcher: Vec<String>,
    /// `size` of the jobs, in bytes.
    pub size: u64,
    /// Dropped in reverse order.
    held: Vec<Box<dyn Any>>,
}

impl Scene {
    /// A scene whose target is a device on an image.
    pub(crate) fn device(scratch: &Scratch, target: impl AsRef<Path>, image: &Path) -> Self {
        let mut scene = Self::file(scratch, target.as_ref());
        scene.protected = vec![image.to_path_buf()];
        scene.devices = vec![target.as_ref().to_path_buf()];
        scene
    }

    /// A scene whose target is a file. All files in the test's directories are compared.
    pub(crate) fn file(scratch: &Scratch, target: &Path) -> Self {
        Self {
            target: target.to_path_buf(),
            protected: vec![scratch.root(), scratch.outside()],
            devices: Vec::new(),
            roots: vec![scratch.root()],
            launcher: Vec::new(),
            size: length(target),
            held: Vec::new(),
        }
    }

    /// Keeps a resource alive until the end of the test.
    pub(crate) fn hold(mut self, resource: impl Any) -> Self {
        self.held.push(Box::new(resource));
        self
    }

    pub(crate) fn launched_by(mut self, command: &[&str]) -> Self {
        self.launcher = command.iter().map(ToString::to_string).collect();
        self
    }

    /// Requires that the bytes of this file or directory also do not change.
    pub(crate) fn protect(mut self, path: &Path) -> Self {
        self.protected.push(path.to_path_buf());
        self
    }

    pub(crate) fn sized(mut self, bytes: u64) -> Self {
        self.size = bytes;
        self
    }

    pub(crate) fn under(mut self, root: &Path) -> Self {
        self.roots = vec![root.to_path_buf()];
        self
    }

    /// SHA-256 of all bytes that must not change.
    pub(crate) fn state(&self) -> String {
        for device in &self.devices {
            if let Ok(device) = File::open(device) {
                let _ = device.sync_all();
            }
        }
        fingerprint::of(&self.protected)
    }

    /// State after the hazard's filesystems have become idle.
    pub(crate) fn idle_state(&self) -> String {
        let mut last = self.state();
        for _ in 0..100 {
            thread::sleep(Duration::from_millis(20));
            let state = self.state();
            if state == last {
                return state;
            }
            last = state;
        }
        panic!("{} changes while idle", self.target.display());
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        while self.held.pop().is_some() {}
    }
}

/// Length of a file or device in bytes; 0 for anything else.
pub(crate) fn length(path: &Path) -> u64 {
    let is_storage = |file_type: fs::FileType| {
        use std::os::unix::fs::FileTypeExt;
        file_type.is_file() || file_type.is_block_device()
    };
    match fs::metadata(path) {
        Ok(metadata) if is_storage(metadata.file_type()) => File::open(path)
            .and_then(|mut file| std::io::Seek::seek(&mut file, std::io::SeekFrom::End(0)))
            .unwrap_or(0),
        _ => 0,
    }
}

pub(crate) fn sparse(path: &Path, bytes: u64) -> PathBuf {
    File::create(path).unwrap().set_len(bytes).unwrap();
    path.to_path_buf()
}

/// Creates a 2 MiB file that Leadline does not own.
pub(crate) fn foreign(path: &Path) -> PathBuf {
    fs::write(path, noise(2 * MIB as usize)).unwrap();
    path.to_path_buf()
}

/// Pseudorandom nonzero bytes, the same in every test run.
pub(crate) fn noise(bytes: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8 | 1
    };
    (0..bytes).map(|_| next()).collect()
}

pub(crate) fn write_at(path: &Path, offset: u64, bytes: &[u8]) {
    let file = File::options().write(true).open(path).unwrap();
    file.write_all_at(bytes, offset).unwrap();
    file.sync_all().unwrap();
}

pub(crate) fn run(program: &str, args: &[&str]) -> Result<String, Unavailable> {
    scratch::run(program, args)
}

/// Attaches a loop device.
pub(crate) fn attach(file: &Path, options: &[&str]) -> Result<Loop, Unavailable> {
    Loop::attach(file, options).ok_or_else(|| "no loop devices".to_string())
}

/// Sets a device read-only until dropped, because a loop device keeps the flag when it is detached.
pub(crate) fn set_read_only(device: &str) -> Result<Undo, Unavailable> {
    run("blockdev", &["--setro", device])?;
    Ok(Undo::with(&["blockdev", "--setrw", device]))
}

/// Mounts a filesystem with options that prevent writes while it is idle.
pub(crate) fn mount(device: &str, at: &Path, options: &str) -> Result<Mounted, Unavailable> {
    fs::create_dir_all(at).unwrap();
    run("mount", &["-o", options, device, text(at)])?;
    rustix::fs::syncfs(File::open(at).unwrap()).unwrap();
    Ok(Mounted::existing(at))
}

pub(crate) fn make_ext4(device: &str) -> Result<(), Unavailable> {
    let options = "lazy_itable_init=0,lazy_journal_init=0,nodiscard";
    run("mkfs.ext4", &["-q", "-F", "-E", options, device]).map(drop)
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Runs a command on drop to undo a change.
pub(crate) struct Undo(Vec<String>);

impl Undo {
    pub(crate) fn with(command: &[&str]) -> Self {
        Self(command.iter().map(ToString::to_string).collect())
    }
}

impl Drop for Undo {
    fn drop(&mut self) {
        let args: Vec<&str> = self.0[1..].iter().map(String::as_str).collect();
        if let Err(error) = run(&self.0[0], &args) {
            scratch::skip(&error);
        }
    }
}

/// A new zram device, and the guard that removes it.
pub(crate) fn zram(size: &str) -> Result<(PathBuf, Undo), Unavailable> {
    let control = Path::new("/sys/class/zram-control");
    let number = fs::read_to_string(control.join("hot_add"));
    let number = number.map_err(|error| format!("zram: {error}"))?;
    let number = number.trim();
    let remove = format!("echo {number} > {}/hot_remove", control.display());
    let remove = Undo::with(&["sh", "-c", &remove]);
    let set = fs::write(format!("/sys/block/zram{number}/disksize"), size);
    set.map_err(|error| format!("zram: {error}"))?;
    Ok((PathBuf::from(format!("/dev/zram{number}")), remove))
}

/// Activates swap space in memory, which the kernel prefers to a hazard's swap space. Otherwise,
/// the kernel could swap out pages of other processes to the hazard, and they would be lost if the
/// guard failed.
pub(crate) fn preferred_swap() -> Result<Vec<Undo>, Unavailable> {
    let (device, remove) = zram("4G")?;
    run("mkswap", &[text(&device)])?;
    run("swapon", &["--priority", "32767", text(&device)])?;
    Ok(vec![Undo::with(&["swapoff", text(&device)]), remove])
}

/// Activates swap space at the lowest priority, so that the kernel does not use it.
pub(crate) fn unused_swap(path: &str) -> Result<Vec<Undo>, Unavailable> {
    let mut resources = preferred_swap()?;
    run("swapon", &["--priority", "0", path])?;
    resources.insert(0, Undo::with(&["swapoff", path]));
    Ok(resources)
}

/// A process that keeps a hazard alive; killed on drop.
pub(crate) struct Holder(Child);

impl Holder {
    /// Starts a shell script through `launcher`; the script prints `ready` and waits.
    pub(crate) fn start(launcher: &[&str], script: &str) -> Result<Self, Unavailable> {
        let script = format!("{script} && echo ready && exec sleep 1000");
        let command = [launcher, &["sh", "-c", &script]].concat();
        Self::wait_for(
            Command::new("setpriv")
                .args(["--pdeathsig", "KILL"])
                .args(command),
        )
        .map_err(|error| format!("cannot run {script}: {error}"))
    }

    /// Starts a program and waits until it prints `ready`.
    pub(crate) fn wait_for(command: &mut Command) -> Result<Self, Unavailable> {
        let command = command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut holder = Self(command.spawn().map_err(|error| error.to_string())?);
        let stdout = BufReader::new(holder.0.stdout.take().unwrap());
        let is_ready = |line: Result<String, _>| line.is_ok_and(|line| line == "ready");
        if stdout.lines().any(is_ready) {
            Ok(holder)
        } else {
            Err("the program exited before it was ready".into())
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Command that runs a program in a separate mount namespace.
pub(crate) const NAMESPACE: [&str; 4] = ["unshare", "--mount", "--propagation", "private"];
