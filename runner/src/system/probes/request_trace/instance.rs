//! A tracing instance of our own: made, told what to trace, and removed. Others' tracing is not touched. What a run that was
//! killed left behind is removed by the next one.

use crate::system::host::inventory::Inventory;
use crate::system::host::kernel::{Dev, names};
use crate::system::probes::request_trace::tracefs;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// What our instances are called, with the number of the process behind it.
const NAME: &str = "leadline-";
/// Buffer of each processor in KiB: some 40,000 requests.
const BUFFER_KIB: &str = "4096";
const REQUESTS: &str = "events/block/block_rq_issue";
const PAUSES: &str = "events/writeback/balance_dirty_pages";

/// The directory of an instance; removed when dropped.
#[derive(Debug)]
pub struct Instance(PathBuf);

impl Instance {
    /// Makes it, and begins to trace the requests of these devices.
    ///
    /// # Errors
    /// Why that cannot be done, and what to do about it.
    pub fn make(host: &Inventory, devices: impl Iterator<Item = Dev>) -> Result<Self, String> {
        let root = tracefs(host).join("instances");
        if !root.is_dir() {
            return Err("the tracing filesystem is not mounted, or closed to this user: mount -t tracefs nodev /sys/kernel/tracing, as root".into());
        }
        remove_leftovers(&root);
        let instance = Self(root.join(format!("{NAME}{}", std::process::id())));
        fs::create_dir(&instance.0).map_err(|error| refused(&instance.0, &error))?;
        instance
            .set_up(devices)
            .map_err(|(path, error)| refused(&path, &error))?;
        Ok(instance)
    }

    fn set_up(&self, devices: impl Iterator<Item = Dev>) -> Result<(), (PathBuf, io::Error)> {
        // Numbers as the kernel itself has them: 12 bits of major, 20 of minor.
        let number = |dev: Dev| (rustix::fs::major(dev.0) << 20) | rustix::fs::minor(dev.0);
        let filter = devices
            .map(|dev| format!("dev == {}", number(dev)))
            .collect::<Vec<_>>()
            .join(" || ");
        // The clock of our windows.
        self.write("trace_clock", "mono")?;
        self.write("buffer_size_kb", BUFFER_KIB)?;
        self.write(&format!("{REQUESTS}/filter"), &filter)?;
        self.write(&format!("{REQUESTS}/enable"), "1")?;
        self.write(&format!("{PAUSES}/enable"), "1")
    }

    fn write(&self, file: &str, text: &str) -> Result<(), (PathBuf, io::Error)> {
        let path = self.0.join(file);
        fs::write(&path, text).map_err(|error| (path, error))
    }

    /// Its text, which is gone when it was read; reading never waits.
    ///
    /// # Errors
    /// Why it cannot be opened.
    pub fn pipe(&self) -> Result<File, String> {
        let path = self.0.join("trace_pipe");
        let pipe = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NONBLOCK)
            .open(&path);
        pipe.map_err(|error| refused(&path, &error))
    }

    /// Traces no more; what is in the buffers stays there.
    pub fn stop(&self) {
        // What cannot be stopped is removed all the same.
        let _ = self.write("tracing_on", "0");
    }

    /// Events that were lost, over all processors.
    pub fn lost(&self) -> u64 {
        let processors = self.0.join("per_cpu");
        let stats = names(&processors)
            .into_iter()
            .filter_map(|cpu| fs::read_to_string(processors.join(cpu).join("stats")).ok());
        stats.map(|text| lost(&text)).sum()
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.stop();
        let _ = fs::remove_dir(&self.0);
    }
}

fn lost(stats: &str) -> u64 {
    let lines = stats.lines().filter_map(|line| line.split_once(": "));
    lines
        .filter(|(name, _)| ["overrun", "dropped events"].contains(name))
        .filter_map(|(_, count)| count.parse::<u64>().ok())
        .sum()
}

/// Instances of ours whose process is gone.
fn remove_leftovers(root: &Path) {
    for name in names(root) {
        let gone = name
            .strip_prefix(NAME)
            .is_some_and(|process| !Path::new("/proc").join(process).exists());
        if gone {
            let _ = fs::remove_dir(root.join(name));
        }
    }
}

fn refused(path: &Path, error: &io::Error) -> String {
    format!(
        "{}: {error}; tracing needs root, and a kernel with CONFIG_BLK_DEV_IO_TRACE",
        path.display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::host::fixture::Fixture;

    #[test]
    fn a_captured_stats() {
        let text = "entries: 0\noverrun: 7\ncommit overrun: 99\nbytes: 0\noldest event ts:     0.000000\ndropped events: 5\nread events: 44\n";
        assert_eq!(lost(text), 12);
    }

    #[test]
    fn a_host_without_tracing_says_so() {
        let host =
            Fixture::new("proc/self/mountinfo = 1 0 0:9 / /nowhere rw - tracefs nodev rw").look();
        let problem = Instance::make(&host, std::iter::empty()).unwrap_err();
        assert!(problem.contains("mount -t tracefs"), "{problem}");
    }
}
