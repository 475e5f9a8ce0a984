//! The same kinds of cases in user-mode Linux (kernel 6.1, without cachestat(2)): stacks of dm and
//! md, a swapped-out tmpfs, and memory cgroups. Its disks have no other users, so their counters
//! are the ground truth.

mod builders;
mod disturbed;
mod mapped;
mod memory;

use crate::{case::Case, scratch::uml};
use builders::MIB;
use std::time::Duration;

/// Size of a disk: large enough for mkfs.xfs.
const DISK_BYTES: u64 = 400 * MIB;
const DISKS: [&str; 5] = ["ubda", "ubdb", "ubdc", "ubdd", "ubde"];

/// On the host, this boots user-mode Linux, whose init runs the same test.
#[test]
#[ignore = "takes minutes; run by `make truth`"]
fn no_confident_wrong_verdict_on_stacks() {
    if !uml::is_inside() {
        return uml::run(&uml::Machine {
            test: "stacks::no_confident_wrong_verdict_on_stacks",
            disks: DISKS.map(|name| (name, DISK_BYTES)).to_vec(),
            modules: &[
                "dm-crypt",
                "dm-snapshot",
                "dm-thin-pool",
                "dm-delay",
                "dm-zero",
                "raid0",
                "raid1",
                "raid10",
                "raid456",
            ],
            timeout: Duration::from_secs(900) * crate::repeat() as u32,
        });
    }
    builders::prepare_host();
    crate::count_outcomes(&cases());
}

fn cases() -> Vec<Case> {
    [mapped::CASES, memory::CASES, disturbed::CASES].concat()
}
