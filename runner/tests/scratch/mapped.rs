//! dm and md devices in user-mode Linux, created by dmsetup and mdadm without udev.

use super::run;
use std::path::Path;

/// Unit of dm tables.
pub(crate) const SECTOR_BYTES: u64 = 512;

/// Creates a dm device. Returns its device path.
pub(crate) fn create(name: &str, table: &str) -> String {
    run("dmsetup", &["create", name, "--table", table]).unwrap();
    let columns = ["-c", "--noheadings", "-o", "blkdevname"];
    let node = run("dmsetup", &[&["info"], &columns[..], &[name]].concat()).unwrap();
    format!("/dev/{node}")
}

/// Creates an array of equal-sized disks. Returns its device path.
pub(crate) fn create_array(level: &str, options: &[&str], disks: &[String]) -> String {
    let number = (0..)
        .find(|number| !Path::new(&format!("/sys/block/md{number}")).exists())
        .unwrap();
    let (node, count) = (
        format!("/dev/md{number}"),
        format!("--raid-devices={}", disks.len()),
    );
    let mut args = vec![
        "--create",
        &node,
        "--run",
        "--assume-clean",
        "--metadata=1.2",
        "--level",
        level,
        &count,
    ];
    args.extend(options);
    args.extend(disks.iter().map(String::as_str));
    run("mdadm", &args).unwrap();
    node
}

/// A dm device, removed on drop.
pub(crate) struct Mapped {
    name: String,
    /// Device path.
    pub node: String,
    sectors: u64,
}

impl Mapped {
    /// Creates the device with a one-line table, for example `linear /dev/ubda 0`.
    pub(crate) fn new(name: &str, bytes: u64, target: &str) -> Self {
        let sectors = bytes / SECTOR_BYTES;
        Self {
            name: name.into(),
            node: create(name, &format!("0 {sectors} {target}")),
            sectors,
        }
    }

    /// Suspends the device, with options for dmsetup.
    pub(crate) fn suspend(&self, options: &[&str]) {
        run("dmsetup", &[&["suspend"], options, &[&self.name]].concat()).unwrap();
    }

    /// Resumes the device, which also activates a loaded table.
    pub(crate) fn resume(&self) {
        run("dmsetup", &["resume", &self.name]).unwrap();
    }

    /// Loads a one-line table, which the next `resume` activates.
    pub(crate) fn load(&self, target: &str) {
        self.load_table(&format!("0 {} {target}", self.sectors));
    }

    pub(crate) fn load_table(&self, table: &str) {
        run("dmsetup", &["load", &self.name, "--table", table]).unwrap();
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        let _ = run("dmsetup", &["resume", &self.name]);
        if let Err(error) = run("dmsetup", &["remove", "--retry", &self.name]) {
            super::skip(&format!("{} was not removed: {error}", self.name));
        }
    }
}

/// An md array, stopped on drop.
pub(crate) struct Array(pub String);

impl Array {
    pub(crate) fn new(level: &str, options: &[&str], disks: &[String]) -> Self {
        Self(create_array(level, options, disks))
    }
}

impl Drop for Array {
    fn drop(&mut self) {
        if let Err(error) = run("mdadm", &["--stop", &self.0]) {
            super::skip(&format!("{} was not removed: {error}", self.0));
        }
    }
}
