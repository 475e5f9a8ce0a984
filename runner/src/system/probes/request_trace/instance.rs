//! A separate tracing instance, which does not affect other users of ftrace. Also removes leftover
//! instances of killed runs.

use crate::system::host::{
    inventory::Inventory,
    kernel::{Dev, names},
    mounts::MountEntry,
};
use std::{
    fs::{self, File, OpenOptions},
    io,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

/// Prefix of the instance name, followed by the process ID.
const NAME: &str = "leadline-";
/// Buffer size per CPU, enough for about 40,000 requests.
const BUFFER_KIB: &str = "4096";
const REQUESTS: &str = "events/block/block_rq_issue";
const PAUSES: &str = "events/writeback/balance_dirty_pages";

/// Directory of the instance; removed on drop.
#[derive(Debug)]
pub(crate) struct Instance(PathBuf);

impl Instance {
    /// Creates the instance, and starts tracing the requests of these devices.
    ///
    /// # Errors
    /// Returns why tracing is not possible, with a remedy.
    pub(crate) fn create(
        host: &Inventory,
        devices: impl Iterator<Item = Dev>,
    ) -> Result<Self, String> {
        let root = tracefs(host).join("instances");
        if !root.is_dir() {
            return Err("tracefs is not mounted or not accessible: run mount -t tracefs nodev /sys/kernel/tracing as root".into());
        }
        remove_leftovers(&root);
        let instance = Self(root.join(format!("{NAME}{}", std::process::id())));
        fs::create_dir(&instance.0).map_err(|error| trace_error(&instance.0, &error))?;
        instance.set_up(devices)?;
        Ok(instance)
    }

    fn set_up(&self, devices: impl Iterator<Item = Dev>) -> Result<(), String> {
        // The kernel's dev_t: 12 bits for the major number, 20 bits for the minor number.
        let number = |dev: Dev| (rustix::fs::major(dev.0) << 20) | rustix::fs::minor(dev.0);
        let filters: Vec<String> = devices
            .map(|dev| format!("dev == {}", number(dev)))
            .collect();
        // Use the same clock as the measured window.
        self.write("trace_clock", "mono")?;
        self.write("buffer_size_kb", BUFFER_KIB)?;
        self.write(&format!("{REQUESTS}/filter"), &filters.join(" || "))?;
        self.write(&format!("{REQUESTS}/enable"), "1")?;
        self.write(&format!("{PAUSES}/enable"), "1")
    }

    fn write(&self, file: &str, text: &str) -> Result<(), String> {
        let path = self.0.join(file);
        fs::write(&path, text).map_err(|error| trace_error(&path, &error))
    }

    /// Opens the trace for nonblocking reads, which consume it.
    pub(crate) fn pipe(&self) -> Result<File, String> {
        let path = self.0.join("trace_pipe");
        OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NONBLOCK)
            .open(&path)
            .map_err(|error| trace_error(&path, &error))
    }

    /// Stops tracing. Buffered events can still be read.
    pub(crate) fn stop(&self) {
        let _ = self.write("tracing_on", "0");
    }

    /// Number of lost events on all CPUs.
    pub(crate) fn lost_events(&self) -> u64 {
        let cpus = self.0.join("per_cpu");
        names(&cpus)
            .into_iter()
            .filter_map(|cpu| fs::read_to_string(cpus.join(cpu).join("stats")).ok())
            .map(|stats| lost_events(&stats))
            .fold(0, u64::saturating_add)
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.stop();
        let _ = fs::remove_dir(&self.0);
    }
}

pub(crate) fn lost_events(stats: &str) -> u64 {
    stats
        .lines()
        .filter_map(|line| line.split_once(": "))
        .filter(|(name, _)| ["overrun", "dropped events"].contains(name))
        .filter_map(|(_, count)| count.parse::<u64>().ok())
        .fold(0, u64::saturating_add)
}

fn tracefs(host: &Inventory) -> &Path {
    let is_tracefs =
        |mount: &&MountEntry| mount.filesystem == "tracefs" && mount.namespace_of.is_none();
    match host.mounts.iter().find(is_tracefs) {
        Some(mount) => Path::new(&mount.point),
        None => Path::new("/sys/kernel/tracing"),
    }
}

/// Removes instances whose process no longer exists.
fn remove_leftovers(root: &Path) {
    for name in names(root) {
        if let Some(process) = name.strip_prefix(NAME)
            && !Path::new("/proc").join(process).exists()
        {
            let _ = fs::remove_dir(root.join(name));
        }
    }
}

fn trace_error(path: &Path, error: &io::Error) -> String {
    let path = path.display();
    format!("{path}: {error}. Tracing requires root, and a kernel with CONFIG_BLK_DEV_IO_TRACE")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::host::fixture::Fixture;

    #[test]
    fn sums_overrun_and_dropped_events() {
        let text = "entries: 0\noverrun: 7\ncommit overrun: 99\nbytes: 0\noldest event ts:     0.000000\ndropped events: 5\nread events: 44\n";
        assert_eq!(lost_events(text), 12);
        let most = u64::MAX;
        assert_eq!(
            lost_events(&format!("overrun: {most}\ndropped events: {most}\n")),
            most
        );
    }

    #[test]
    fn missing_tracefs_has_a_remedy() {
        let host = Fixture::new("proc/self/mountinfo = 1 0 0:9 / /nowhere rw - tracefs nodev rw")
            .inventory();
        let problem = Instance::create(&host, std::iter::empty()).unwrap_err();
        assert!(problem.contains("mount -t tracefs"), "{problem}");
    }
}
