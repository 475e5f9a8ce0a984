//! Finds a mounted filesystem that has the same UUID as data that a run would overwrite. The data
//! may be a copy of that filesystem, or the same filesystem on another device node.

use crate::system::{guard::Guard, host::signature::signatures};
use leadline_protocol::text::printable;
use std::fs::File;

impl Guard {
    /// Describes the first mounted filesystem that has one of these UUIDs.
    pub(super) fn mounted_copy(&self, uuids: &[String]) -> Option<String> {
        if uuids.is_empty() {
            return None;
        }
        self.host.blocks.values().find_map(|block| {
            let mount = *self.host.mounts_of(block).first()?;
            let device = File::open(block.path()).ok()?;
            let found = signatures(&device).into_iter();
            let is_same = found
                .filter_map(|found| found.uuid())
                .any(|uuid| uuids.contains(&uuid));
            let point = printable(&mount.point);
            is_same.then(|| format!("a filesystem with the same UUID is mounted at {point}"))
        })
    }
}
