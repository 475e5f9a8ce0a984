//! What is known of dm and md, in a user-mode Linux whose kernel 6.1 has no cachestat(2): the classes, which disks lie beneath and
//! what each of them did, and that residency comes from mincore(2) then.

use std::env;

use leadline_runner::system::host::device_list::device_list;
use serde_json::{Value, json};

use crate::cases::{AHEAD, CACHED, Case, DROPPED, EMPTY, HALF_CACHED, PAST, SMALL, reads, writes};
use crate::places::Place::*;
use crate::places::Places;
use crate::stack::{self, STACKS, Stack};
use crate::state::State::*;
use crate::{hold, uml};

/// Set in the user-mode Linux.
pub const INSIDE: &str = "LEADLINE_STACKED";
/// Superblocks of arrays, a journal commit: bytes that the disks move beside.
const BESIDE_BYTES: u64 = 512 << 10;
/// The class of direct I/O does not depend on how many disks there are: the array is the device that was asked.
const MIRRORED: &str = "O_DIRECT on written blocks; that md writes each to both disks is what it is for, and stands beneath";
/// Each sync writes the journal too.
const COMMITS: &str = "each write commits a journal of its own";
/// The device moves twice what was issued, and mincore(2) does not tell how much of that was ours.
const UNTOLD: &str = "without cachestat(2) nobody knows what waits in memory, so that the journal cannot be told from a neighbour";
/// Longer than a chunk.
const OF_A_MIB: fn() -> Value = || json!({"bs": "1m"});

/// All of them.
const CASES: &[Case] = &[
    reads(
        "dm-linear, random direct reads",
        Linear,
        Cold,
        "randread",
        1,
        "device",
        PAST,
    ),
    reads(
        "dm-linear, warm random reads",
        Linear,
        Cold,
        "randread",
        0,
        "page_cache",
        "pre_read reads all of it in",
    )
    .with(|| json!({"pre_read": 1})),
    reads(
        "dm-linear, cold sequential reads",
        Linear,
        Cold,
        "read",
        0,
        "readahead",
        AHEAD,
    )
    .with(|| json!({"invalidate": 1})),
    reads(
        "ext4 on dm-linear, random direct reads",
        OnLinear,
        Warm,
        "randread",
        1,
        "device",
        PAST,
    ),
    reads(
        "ext4 on dm-linear, cold random reads",
        OnLinear,
        Cold,
        "randread",
        0,
        "device",
        DROPPED,
    ),
    reads(
        "ext4 on dm-linear, half warm random reads",
        OnLinear,
        HalfWarm,
        "randread",
        0,
        "mixed",
        HALF_CACHED,
    ),
    reads(
        "ext4 on dm-linear, warm random reads",
        OnLinear,
        Warm,
        "randread",
        0,
        "page_cache",
        CACHED,
    ),
    reads(
        "ext4 on dm-linear, direct reads of a fallocated file",
        OnLinear,
        Fallocated,
        "randread",
        1,
        "unwritten",
        EMPTY,
    ),
    writes(
        "ext4 on dm-linear, random direct overwrites",
        OnLinear,
        Cold,
        "randwrite",
        1,
        "device",
        PAST,
    ),
    reads(
        "dm-stripe, direct reads over many stripes",
        Striped,
        Cold,
        "read",
        1,
        "device",
        PAST,
    )
    .with(OF_A_MIB),
    reads(
        "dm-crypt on md raid1, random direct reads",
        CryptOnRaid1,
        Cold,
        "randread",
        1,
        "device",
        PAST,
    ),
    reads(
        "md raid0, direct reads over many stripes",
        Raid0,
        Cold,
        "read",
        1,
        "device",
        PAST,
    )
    .with(OF_A_MIB),
    reads(
        "md raid1, random direct reads",
        Raid1,
        Cold,
        "randread",
        1,
        "device",
        PAST,
    ),
    reads(
        "ext4 on md raid0, random direct reads",
        OnRaid0,
        Cold,
        "randread",
        1,
        "device",
        PAST,
    ),
    writes(
        "ext4 on md raid0, direct overwrites over many stripes",
        OnRaid0,
        Cold,
        "write",
        1,
        "device",
        PAST,
    )
    .with(OF_A_MIB),
    reads(
        "ext4 on md raid1, random direct reads",
        OnRaid1,
        Cold,
        "randread",
        1,
        "device",
        PAST,
    ),
    reads(
        "ext4 on md raid1, warm random reads",
        OnRaid1,
        Warm,
        "randread",
        0,
        "page_cache",
        CACHED,
    ),
    writes(
        "ext4 on md raid1, random direct overwrites",
        OnRaid1,
        Cold,
        "randwrite",
        1,
        "device",
        MIRRORED,
    ),
    writes(
        "ext4 on md raid1, random buffered writes",
        OnRaid1,
        Cold,
        "randwrite",
        0,
        "deferred_write",
        SMALL,
    ),
    writes(
        "ext4 on md raid1, synced direct writes of a new file",
        OnRaid1,
        Absent,
        "write",
        1,
        "amplified",
        COMMITS,
    )
    .with(|| json!({"fallocate": "none", "sync": "dsync", "iodepth": 1, "size": "4m"})),
    writes(
        "ext4 on md raid1, synced buffered writes of a new file",
        OnRaid1,
        Absent,
        "write",
        0,
        "unknown",
        UNTOLD,
    )
    .with(|| json!({"fallocate": "none", "fsync": 1, "iodepth": 1, "size": "4m"})),
];

/// Outside it boots a user-mode Linux, whose init runs this same test inside.
#[test]
fn what_is_known_of_dm_and_md() {
    if env::var_os(INSIDE).is_none() {
        return uml::run("stacked::what_is_known_of_dm_and_md");
    }
    let places = Places::stacked();
    hold(CASES, &places, beside);
    no_disk_is_written_raw(&places);
}

/// Neither what is part of something, nor what nobody uses: no raw writes but to loop devices.
fn no_disk_is_written_raw(places: &Places) {
    let listed = device_list(&[places.root().into()]).devices;
    let refused = |path: &str, part: &str| {
        let device = listed.iter().find(|device| device.path == path).unwrap();
        let reason = device.write_access.reason.as_deref().unwrap_or_default();
        assert!(
            device.read_access.allowed && !device.write_access.allowed && reason.contains(part),
            "{path}: {reason}, not {part}"
        );
    };
    for stack in STACKS {
        stack
            .disks
            .iter()
            .for_each(|disk| refused(&format!("/dev/{disk}"), "is in use: part of"));
        if !stack.has_filesystem {
            refused(
                places.target(stack.place).path.to_str().unwrap(),
                "not a loop device",
            );
        }
    }
}

/// The disks beneath and the page cache, whatever the class.
fn beside(case: &Case, told: &Value) -> Result<(), String> {
    let held = residency(told)
        .and_then(|()| beneath(stack::of(case.place), told))
        .and_then(|()| copies(case, told));
    held.map_err(|wrong| format!("{}: {wrong}", case.name))
}

/// Whoever writes to a mirror is told that the disks wrote more.
fn copies(case: &Case, told: &Value) -> Result<(), String> {
    let known = stack::of(case.place).copies() > 1
        && case.write.is_some_and(|class| class != "deferred_write");
    let findings = told["findings"].as_array().unwrap();
    let is_told = findings
        .iter()
        .any(|finding| finding["code"] == "lower_device_amplification");
    if is_told == known {
        Ok(())
    } else {
        Err(format!("that there are copies is {known}: {findings:?}"))
    }
}

/// Told by mincore(2), which knows of no dirty pages, and said so.
fn residency(told: &Value) -> Result<(), String> {
    let target = &told["report"]["targets"][0];
    let end = &target["residency"]["end"];
    let reason = target["absent"]["dirty"].as_str().unwrap_or_default();
    let held = end["cached"].is_u64() && end["dirty"].is_null() && reason.contains("mincore(2)");
    if held {
        Ok(())
    } else {
        Err(format!("residency {end}, absent {}", target["absent"]))
    }
}

/// The disks by name, and what each of them moved for the device on top.
fn beneath(stack: &Stack, told: &Value) -> Result<(), String> {
    let device = &told["report"]["device"];
    let leaves = device["physical_devices"]
        .as_array()
        .ok_or_else(|| format!("nothing is counted: {}", told["report"]["absent"]))?;
    let names: Vec<&str> = leaves
        .iter()
        .filter_map(|leaf| leaf["name"].as_str())
        .collect();
    let held = |what: &str, copies: u64, is_shared_evenly: bool| {
        let all = copies * device[what].as_u64().unwrap();
        let each: Vec<u64> = leaves
            .iter()
            .map(|leaf| leaf[what].as_u64().unwrap())
            .collect();
        let near = |bytes: u64, known: u64| bytes.abs_diff(known) <= BESIDE_BYTES;
        let part = all / each.len() as u64;
        near(each.iter().sum(), all)
            && (!is_shared_evenly || each.iter().all(|bytes| near(*bytes, part)))
    };
    // A mirror reads from whichever disk it likes.
    let reads_held = || held("read_bytes", 1, stack.is_striped());
    let writes_held = || held("write_bytes", stack.copies(), true);
    if names == stack.disks && reads_held() && writes_held() {
        Ok(())
    } else {
        Err(format!("beneath are {:?}: {device}", stack.disks))
    }
}
