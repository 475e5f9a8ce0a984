//! Test resources that are removed on drop (a directory, loop devices on files in it, mounted
//! filesystems), and resolved jobs. Each test creates what it needs and leaves other devices on the
//! host alone.
#![allow(dead_code, reason = "each test binary uses some of it")]

pub(crate) mod document;
pub(crate) mod fio_link;
pub(crate) mod input;
pub(crate) mod locked_pages;
pub(crate) mod mapped;
pub(crate) mod program;
pub(crate) mod seccomp;
pub(crate) mod uml;

use leadline_protocol::plan::job::ResolvedJob;
use serde_json::{Value, json};
use std::{
    fs::{self, File},
    io::Write,
    os::unix::fs::{FileExt, MetadataExt},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{SystemTime, UNIX_EPOCH},
};

/// A temporary directory with a canonical path. It is in `target`, because /tmp may be a tmpfs. In
/// user-mode Linux, `target` is read-only, so the directory is on a tmpfs.
pub(crate) fn directory() -> tempfile::TempDir {
    if uml::is_inside() {
        return tempfile::tempdir().unwrap();
    }
    let base = Path::new(env!("CARGO_TARGET_TMPDIR"));
    tempfile::tempdir_in(base.canonicalize().unwrap()).unwrap()
}

/// Returns the trimmed stdout of a program, or its stderr if it fails.
pub(crate) fn run(program: &str, args: &[&str]) -> Result<String, String> {
    let output = Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{program}: {error}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_string();
    if output.status.success() {
        Ok(text(&output.stdout))
    } else {
        Err(format!("{program} {args:?}: {}", text(&output.stderr)))
    }
}

/// Reports a skipped test on stderr, even if test output is captured.
pub(crate) fn skip(reason: &str) {
    let _ = writeln!(std::io::stderr(), "SKIP: {reason}");
    // Also print to captured output, in which skips are counted.
    eprintln!("SKIP: {reason}");
}

/// Creates a fully allocated file, which may be overwritten.
pub(crate) fn image(path: &Path, bytes: u64) {
    let file = File::create(path).unwrap();
    let chunk = vec![0x5a; 1 << 20];
    for offset in (0..bytes).step_by(chunk.len()) {
        file.write_all_at(&chunk[..chunk.len().min((bytes - offset) as usize)], offset)
            .unwrap();
    }
    file.sync_all().unwrap();
    mark_owned(path);
}

/// Marks a file as created by Leadline (`system::host::ownership`): it may be overwritten without a
/// confirmation, even while the test has it open.
pub(crate) fn mark_owned(path: &Path) {
    let file = File::open(path).unwrap();
    let found = file.metadata().unwrap();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let mark = format!(
        "{} {} {} {} {}",
        found.ino(),
        found.len(),
        found.mtime(),
        found.mtime_nsec(),
        now.as_millis()
    );
    // Without user xattrs, the run needs a confirmation instead.
    let flags = rustix::fs::XattrFlags::empty();
    let _ = rustix::fs::fsetxattr(&file, "user.leadline.made", mark.as_bytes(), flags);
}

/// Path of a loop device, detached on drop.
pub(crate) struct Loop(pub String);

impl Loop {
    /// Attaches a file or device. Returns `None` and reports a skipped test if that is not
    /// permitted.
    pub(crate) fn attach(file: &Path, options: &[&str]) -> Option<Self> {
        let mut args = vec!["--find", "--show"];
        args.extend(options);
        args.push(file.to_str().unwrap());
        match run("losetup", &args) {
            Ok(path) => Some(Self(path)),
            Err(error) => {
                skip(&format!("cannot attach a loop device: {error}"));
                None
            }
        }
    }

    pub(crate) fn name(&self) -> &str {
        self.0.trim_start_matches("/dev/")
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = run("losetup", &["--detach", &self.0]);
    }
}

/// Mount point, unmounted on drop.
pub(crate) struct Mounted(PathBuf);

impl Mounted {
    pub(crate) fn new(device: &str, at: &Path) -> Self {
        Self::with_options(device, at, "defaults")
    }

    /// Takes ownership of an existing mount.
    pub(crate) fn existing(at: &Path) -> Self {
        Self(at.into())
    }

    pub(crate) fn with_options(device: &str, at: &Path, options: &str) -> Self {
        fs::create_dir_all(at).unwrap();
        run("mount", &["-o", options, device, at.to_str().unwrap()]).unwrap();
        Self(at.into())
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // The kernel closes a ring's files some time after its process exits.
        for _ in 0..100 {
            if run("umount", &[self.0.to_str().unwrap()]).is_ok() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        skip(&format!("{} could not be unmounted", self.0.display()));
    }
}

/// A mounted filesystem on a loop device.
pub(crate) struct Disk {
    pub at: PathBuf,
    _mounted: Mounted,
    pub device: Loop,
    _directory: tempfile::TempDir,
    /// The image's directory, unless it is `_directory`.
    _image: Option<tempfile::TempDir>,
}

const EXT4: &str = "mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0";

impl Disk {
    pub(crate) fn new(make: &str, mount_options: &str, direct_io: bool) -> Option<Self> {
        Self::with_image(None, make, mount_options, direct_io)
    }

    /// Keeps the image in memory so that the host's disk cannot slow it down.
    pub(crate) fn ext4_in_memory() -> Option<Self> {
        let image = tempfile::tempdir_in("/dev/shm").ok();
        Self::with_image(image, EXT4, "defaults", false)
    }

    fn with_image(
        image_directory: Option<tempfile::TempDir>,
        make: &str,
        mount_options: &str,
        direct_io: bool,
    ) -> Option<Self> {
        let directory = directory();
        let image = image_directory.as_ref().unwrap_or(&directory);
        let image = image.path().join("image");
        File::create(&image).unwrap().set_len(512 << 20).unwrap();
        let device = Loop::attach(&image, if direct_io { &["--direct-io=on"] } else { &[] })?;
        let mut words = make.split(' ');
        let program = words.next().unwrap();
        let args: Vec<_> = words.chain([device.0.as_str()]).collect();
        if let Err(error) = run(program, &args) {
            skip(&error);
            return None;
        }
        let at = directory.path().join("mounted");
        let mounted = Mounted::with_options(&device.0, &at, mount_options);
        Some(Self {
            at,
            _mounted: mounted,
            device,
            _directory: directory,
            _image: image_directory,
        })
    }

    pub(crate) fn ext4() -> Option<Self> {
        Self::new(EXT4, "defaults", true)
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.at.join(name)
    }
}

/// A resolved target as JSON.
pub(crate) fn target(path: &Path, kind: &str, length: u64, layout_bytes: u64) -> Value {
    json!({"path": path, "kind": kind, "length": length, "existed": path.exists(), "layout_bytes": layout_bytes,
        "layout_offset": (layout_bytes > 0).then_some(length - layout_bytes),        "filesystem": null, "device": null, "alignment": 512, "offset": 0, "size": length, "worker": null})
}

/// A resolved job with changed fields.
pub(crate) fn job(rw: &str, targets: Vec<Value>, changed: Value) -> ResolvedJob {
    let mut job: Value = serde_json::from_str(PLAIN_JOB).unwrap();
    job["rw"] = json!(rw);
    job["targets"] = json!(targets);
    for (name, value) in changed.as_object().unwrap() {
        job[name] = value.clone();
    }
    serde_json::from_value(job).unwrap()
}

const PLAIN_JOB: &str = r#"{
    "name": "test", "mode": "direct", "size": 1048576, "io_size": 1048576, "offset": 0, "offset_increment": 0, "rw_modifier": null,
    "rwmixread": null, "norandommap": false, "randseed": 1, "iodepth": 1, "iodepth_batch_submit": null, "iodepth_batch_complete_min": null,
    "bs": {"read": {"min": 4096, "max": 4096, "split": []}, "write": {"min": 4096, "max": 4096, "split": []}, "trim": {"min": 4096, "max": 4096, "split": []}},
    "blockalign": {"read": 4096, "write": 4096, "trim": 4096},
    "random_distribution": {"read": {"kind": "random"}, "write": {"kind": "random"}, "trim": {"kind": "random"}},
    "percentage_random": {"read": 100, "write": 100, "trim": 100}, "numjobs": 1, "direct": true, "ioengine": "psync",
    "runtime_ms": null, "time_based": false, "ramp_ms": 0, "startdelay_ms": 0, "loops": 1, "number_ios": null, "invalidate": true,
    "pre_read": false, "fadvise_hint": "random", "drop_caches": false, "sync": "none", "fsync": 0, "fdatasync": 0, "end_fsync": false,
    "fallocate": "written", "overwrite": false, "file_append": false, "create_on_open": false, "unlink": false,
    "rate": {"read": null, "write": null, "trim": null}, "rate_iops": {"read": null, "write": null, "trim": null},
    "rate_process": "linear",
    "thinktime_us": 0, "thinktime_blocks": 1, "zero_buffers": false, "scramble_buffers": true, "refill_buffers": false, "buffer_compress_percentage": 0,
    "dedupe_percentage": 0, "cpus_allowed": [], "nice": 0
}"#;
