//! Checks block devices. Leadline never writes to a device in use.

use crate::system::{
    guard::{
        Admission, FIELD, Guard, Purpose,
        claim::{claim, claim_by_name, open_device},
        file::{check_hard_links, permission_denied},
        not_a_device,
    },
    host::{
        block_device::BlockDevice,
        device_use::Use,
        identity::identity,
        resolved_path::{ResolvedPath, Stat},
    },
};
use leadline_protocol::problem::Problem;
use rustix::fs::OFlags;
use std::{
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

impl Guard {
    pub(crate) fn admit_device(
        &self,
        path: &Path,
        stat: Stat,
        purpose: Purpose,
    ) -> Result<Admission, Problem> {
        let Some(block) = self.host.by_dev(stat.rdev) else {
            return Err(not_a_device(path));
        };
        if block.size_bytes == 0 {
            return Err(Problem::environment(
                "no_medium",
                FIELD,
                format!(
                    "{} has a size of 0: no medium, or nothing attached.",
                    path.display()
                ),
                "Insert a medium, or attach a file with losetup.",
            ));
        }
        if purpose == Purpose::Read {
            open_device(path, OFlags::empty()).map_err(permission_denied(path))?;
            return Ok(Admission::default());
        }
        self.check_write(block)?;
        let claim = claim(path, block)?;
        // The backing file may have changed between the inventory and the claim, so check it again.
        // The claim prevents further changes.
        if let Some(backing) = &block.backing
            && !backing.is_attached_to(&claim)
        {
            return Err(Problem::guard(
                "identity_changed",
                FIELD,
                format!(
                    "The backing file of {} changed during the check.",
                    block.path()
                ),
                "Check the device and plan the run again.",
            ));
        }
        let lower_claims = self.claim_lower_devices(block)?;
        Ok(Admission {
            claim: Some(claim),
            lower_claims,
        })
    }

    /// Claims the backing devices of loop devices, because the loop driver does not claim them.
    fn claim_lower_devices(&self, block: &BlockDevice) -> Result<Vec<OwnedFd>, Problem> {
        let changed = self.host.changed_devices(block).into_iter();
        let backing = changed.filter_map(|device| device.backing.as_ref()?.device);
        let lower = backing.filter_map(|device| self.host.by_dev(device));
        lower.map(claim_by_name).collect()
    }

    /// Checks the device using only the inventory. Reports current use before device properties
    /// such as read-only.
    pub(crate) fn check_write(&self, block: &BlockDevice) -> Result<(), Problem> {
        if let Some(used_by) = self.host.uses(block).first() {
            return Err(in_use(block, used_by));
        }
        self.check_backing_files(block)?;
        let path = block.path();
        if block.read_only {
            return Err(Problem::guard(
                "read_only",
                FIELD,
                format!("{path} is read-only."),
                "Make it writable (blockdev --setrw), or choose another device.",
            ));
        }
        if self.is_run_loop(block) {
            return Ok(());
        }
        if let Some((path, stat)) = self.backing_file_in_root(block) {
            return check_hard_links(&path, stat);
        }
        self.check_listed(block)
    }

    /// Checks that no loop device that the write would change is backed by an active swap file.
    fn check_backing_files(&self, block: &BlockDevice) -> Result<(), Problem> {
        let changed = self.host.changed_devices(block).into_iter();
        for backing in changed.filter_map(|device| device.backing.as_ref()) {
            let found = ResolvedPath::find(Path::new(&backing.path));
            if let Some(stat) = found.stat {
                self.check_swap(&found.path, stat)?;
            }
        }
        Ok(())
    }

    /// Returns true if the run attached this loop device to one of its files.
    pub(crate) fn is_run_loop(&self, block: &BlockDevice) -> bool {
        self.run_loops.contains(&block.dev)
    }

    /// The backing file of a loop device, if its path still refers to the same file and is under a
    /// target root.
    pub(crate) fn backing_file_in_root(&self, block: &BlockDevice) -> Option<(PathBuf, Stat)> {
        let backing = block.backing.as_ref()?;
        let found = ResolvedPath::find(Path::new(&backing.path));
        let stat = found.stat?;
        let is_shown = backing.device.is_none() && backing.is_file(stat);
        let root = self.permissions.root_containing(&found.path);
        let is_allowed = root.is_some() && !self.is_in_data_directory(&found.path);
        (is_shown && is_allowed).then_some((found.path, stat))
    }

    /// Checks that the operator listed the device for raw writes, and that its identity is unique
    /// on this host.
    fn check_listed(&self, block: &BlockDevice) -> Result<(), Problem> {
        let path = block.path();
        let Some(found) = identity(&self.host, block) else {
            return Err(raw_write_refused(
                format!("{path} has no stable identity, such as a serial number."),
                "Choose another device, or a file.".into(),
            ));
        };
        // A partition's identity is its disk's identity plus the partition number.
        let disk = block.disk.as_ref();
        let disk = disk.and_then(|disk| self.host.blocks.get(disk));
        let disk = disk.unwrap_or(block);
        let disk_identity = identity(&self.host, disk);
        let has_same = |other: &&BlockDevice| {
            other.name != disk.name && identity(&self.host, other) == disk_identity
        };
        if let Some(other) = self.host.blocks.values().find(has_same) {
            return Err(Problem::guard(
                "ambiguous_identity",
                FIELD,
                format!(
                    "{} and {} have the same identity: {}.",
                    disk.path(),
                    other.path(),
                    disk_identity.unwrap_or_default()
                ),
                "Remove one of them, or choose another device.",
            ));
        }
        if self.permissions.may_write(&found) {
            return Ok(());
        }
        let permit = format!("--allow-raw-write '{found}'");
        let (detail, remedy) = match &block.backing {
            Some(backing) => (
                format!(
                    "{path} is backed by {}, which is not under a target root.",
                    backing.path
                ),
                format!("Use a file under a target root (--target-root), or start with {permit}."),
            ),
            None => (
                format!("Raw writes to {path} are not permitted."),
                format!(
                    "Write to a file, or, if the device's data may be lost, start with {permit}."
                ),
            ),
        };
        Err(raw_write_refused(detail, remedy))
    }
}

fn raw_write_refused(detail: String, remedy: String) -> Problem {
    Problem::guard("raw_write_refused", FIELD, detail, remedy)
}

fn in_use(block: &BlockDevice, used_by: &Use) -> Problem {
    let never = "choose another target. Leadline never writes to devices in use.";
    let (code, remedy) = match used_by {
        Use::BacksLoop(name) => (
            "backs_loop",
            format!("Detach {name} first (losetup -d /dev/{name}), or choose another target."),
        ),
        Use::Mounted { point, .. } => (
            "device_in_use",
            format!("Unmount {point} first, or {never}"),
        ),
        _ => (
            "device_in_use",
            format!("Free the device first, or {never}"),
        ),
    };
    let detail = format!("{} is in use: {used_by}.", block.path());
    Problem::guard(code, FIELD, detail, remedy)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::system::{guard::permissions::Permissions, host::fixture::skip};
    use std::{fs::File, process::Command};

    pub(in crate::system::guard) const BYTES: u64 = 1 << 20;

    /// A loop device attached to a file in a directory of its own.
    pub(in crate::system::guard) struct Attached {
        directory: tempfile::TempDir,
        pub path: String,
    }

    impl Attached {
        pub(in crate::system::guard) fn new() -> Option<Self> {
            let directory = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
            let file = directory.path().join("a");
            File::create(&file).unwrap().set_len(BYTES).unwrap();
            let Some(path) = losetup(&["--find", "--show", file.to_str().unwrap()]) else {
                skip("cannot attach a loop device");
                return None;
            };
            Some(Self { directory, path })
        }

        /// The directory that contains the device's backing file.
        pub(in crate::system::guard) fn root(&self) -> PathBuf {
            self.directory.path().canonicalize().unwrap()
        }

        pub(in crate::system::guard) fn guard(&self) -> Guard {
            Guard::live(&Permissions::below(&[self.root()]))
        }

        pub(in crate::system::guard) fn block(&self, guard: &Guard) -> BlockDevice {
            guard.host.blocks[self.path.trim_start_matches("/dev/")].clone()
        }
    }

    impl Drop for Attached {
        fn drop(&mut self) {
            losetup(&["--detach", &self.path]);
        }
    }

    fn losetup(args: &[&str]) -> Option<String> {
        let output = Command::new("losetup").args(args).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    }

    #[test]
    fn devices_reattached_since_the_inventory_are_rejected() {
        let Some(device) = Attached::new() else {
            return;
        };
        let guard = device.guard();
        let admit = || guard.admit(&ResolvedPath::find(Path::new(&device.path)), Purpose::Write);
        assert!(admit().unwrap().claim.is_some());
        let other = device.directory.path().join("b");
        File::create(&other).unwrap().set_len(BYTES).unwrap();
        losetup(&["--detach", &device.path]);
        if losetup(&[&device.path, other.to_str().unwrap()]).is_none() {
            return skip("another test has attached the loop device");
        }
        assert_eq!(admit().unwrap_err().code, "identity_changed");
    }
}
