//! dm and md devices in user-mode Linux with kernel 6.1, which has no cachestat(2): classes, the
//! physical disks and their counters, and residency from mincore(2).

use crate::{
    cases::{BYPASSED, CACHED, Case, DROPPED, EMPTY, HALF_CACHED, READAHEAD, SMALL, reads, writes},
    check_all, repeat,
    scratch::uml::{self, Machine},
    stack::{self, DISK_BYTES, STACKS, Stack},
    state::State::*,
    test_targets::{TestTarget::*, TestTargets},
};
use leadline_runner::system::{guard::permissions::Permissions, host::device_list::device_list};
use serde_json::{Value, json};
use std::time::Duration;

/// Allowance for array superblocks and a journal commit, in bytes.
const TOLERANCE_BYTES: u64 = 512 << 10;
/// The class describes I/O to the array, not to its disks.
const MIRRORED: &str = "O_DIRECT on written blocks; md's copies are in the disk counters";
const COMMITS: &str = "each write commits the journal";
/// Longer than a chunk.
const BLOCKS_OF_1_MIB: fn() -> Value = || json!({"bs": "1m"});

const CASES: &[Case] = &[
    reads(
        "dm-linear, random direct reads",
        Linear,
        Cold,
        "randread",
        1,
        "device",
        BYPASSED,
    ),
    reads(
        "dm-linear, warm random reads",
        Linear,
        Cold,
        "randread",
        0,
        "page_cache",
        "pre_read reads the whole target",
    )
    .with(|| json!({"pre_read": 1})),
    reads(
        "dm-linear, cold sequential reads",
        Linear,
        Cold,
        "read",
        0,
        "readahead",
        READAHEAD,
    )
    .with(|| json!({"invalidate": 1})),
    reads(
        "ext4 on dm-linear, random direct reads",
        OnLinear,
        Warm,
        "randread",
        1,
        "device",
        BYPASSED,
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
        "ext4 on dm-linear, half-warm random reads",
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
        BYPASSED,
    ),
    reads(
        "dm-stripe, direct reads across many stripes",
        Striped,
        Cold,
        "read",
        1,
        "device",
        BYPASSED,
    )
    .with(BLOCKS_OF_1_MIB),
    reads(
        "dm-crypt on md raid1, random direct reads",
        CryptOnRaid1,
        Cold,
        "randread",
        1,
        "device",
        BYPASSED,
    ),
    reads(
        "md raid0, direct reads across many stripes",
        Raid0,
        Cold,
        "read",
        1,
        "device",
        BYPASSED,
    )
    .with(BLOCKS_OF_1_MIB),
    reads(
        "md raid1, random direct reads",
        Raid1,
        Cold,
        "randread",
        1,
        "device",
        BYPASSED,
    ),
    reads(
        "ext4 on md raid0, random direct reads",
        OnRaid0,
        Cold,
        "randread",
        1,
        "device",
        BYPASSED,
    ),
    writes(
        "ext4 on md raid0, direct overwrites across many stripes",
        OnRaid0,
        Cold,
        "write",
        1,
        "device",
        BYPASSED,
    )
    .with(BLOCKS_OF_1_MIB),
    reads(
        "ext4 on md raid1, random direct reads",
        OnRaid1,
        Cold,
        "randread",
        1,
        "device",
        BYPASSED,
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
        "amplified",
        COMMITS,
    )
    .with(|| json!({"fallocate": "none", "fsync": 1, "iodepth": 1, "size": "4m"})),
];

/// All cases take 20 s, or up to a minute in parallel with other tests.
const TIMEOUT: Duration = Duration::from_secs(180);

/// On the host, this boots user-mode Linux, whose init runs the same test.
#[test]
fn verdicts_match_on_dm_and_md() {
    if !uml::is_inside() {
        let disks = STACKS.iter().flat_map(|stack| stack.disks);
        return uml::run(&Machine {
            test: "stacked::verdicts_match_on_dm_and_md",
            disks: disks.map(|name| (*name, DISK_BYTES)).collect(),
            modules: &["dm-crypt", "raid0", "raid1"],
            timeout: TIMEOUT * repeat() as u32,
        });
    }
    let test_targets = TestTargets::stacked();
    check_all(CASES, &test_targets, check_disks_and_page_cache);
    raw_writes_to_disks_are_rejected(&test_targets);
}

/// Raw writes to disks are rejected unless the operator permits them, even if the disk is unused.
fn raw_writes_to_disks_are_rejected(test_targets: &TestTargets) {
    let listed = device_list(&Permissions::below(&[test_targets.root().into()])).devices;
    let rejected = |path: &str, part: &str| {
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
            .for_each(|disk| rejected(&format!("/dev/{disk}"), "is in use: part of"));
        if !stack.has_filesystem {
            rejected(
                test_targets
                    .target(stack.test_target)
                    .path
                    .to_str()
                    .unwrap(),
                "not permitted",
            );
        }
    }
}

/// Checks the physical disks and the page cache.
fn check_disks_and_page_cache(case: &Case, result: &Value) -> Result<(), String> {
    let checked = check_residency(result)
        .and_then(|()| check_physical_devices(stack::of(case.test_target), result))
        .and_then(|()| check_copies(case, result));
    checked.map_err(|error| format!("{}: {error}", case.name))
}

/// For mirrors, checks that the report shows the additional copies.
fn check_copies(case: &Case, result: &Value) -> Result<(), String> {
    let expected = stack::of(case.test_target).copies() > 1
        && case.write.is_some_and(|class| class != "deferred_write");
    let findings = result["findings"].as_array().unwrap();
    let is_reported = findings
        .iter()
        .any(|finding| finding["code"] == "lower_device_amplification");
    if is_reported == expected {
        Ok(())
    } else {
        Err(format!(
            "expected a finding about copies: {expected}, findings: {findings:?}"
        ))
    }
}

/// Checks residency from mincore(2), which does not report dirty pages.
fn check_residency(result: &Value) -> Result<(), String> {
    let target = &result["report"]["targets"][0];
    let end = &target["residency"]["end"];
    let reason = target["absent"]["dirty"].as_str().unwrap_or_default();
    let is_mincore =
        end["cached"].is_u64() && end["dirty"].is_null() && reason.contains("mincore(2)");
    if is_mincore {
        Ok(())
    } else {
        Err(format!("residency {end}, absent {}", target["absent"]))
    }
}

/// Checks the disk names, and the bytes that each disk transferred for the device above.
fn check_physical_devices(stack: &Stack, result: &Value) -> Result<(), String> {
    let device = &result["report"]["device"];
    let physical = device["physical_devices"]
        .as_array()
        .ok_or_else(|| format!("not counted: {}", result["report"]["absent"]))?;
    let names: Vec<&str> = physical
        .iter()
        .filter_map(|physical| physical["name"].as_str())
        .collect();
    let matches = |what: &str, copies: u64, is_shared_evenly: bool| {
        let all = copies * device[what].as_u64().unwrap();
        let each: Vec<u64> = physical
            .iter()
            .map(|physical| physical[what].as_u64().unwrap())
            .collect();
        let near = |bytes: u64, known: u64| bytes.abs_diff(known) <= TOLERANCE_BYTES;
        let part = all / each.len() as u64;
        near(each.iter().sum(), all)
            && (!is_shared_evenly || each.iter().all(|bytes| near(*bytes, part)))
    };
    // A mirror may read from any of its disks.
    let reads_match = || matches("read_bytes", 1, stack.is_striped());
    let writes_match = || matches("write_bytes", stack.copies(), true);
    if names == stack.disks && reads_match() && writes_match() {
        Ok(())
    } else {
        Err(format!("expected {:?}: {device}", stack.disks))
    }
}
