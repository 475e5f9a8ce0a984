//! Entry points of the fuzz targets in `fuzz/`, compiled only for fuzzing and tests. Each passes
//! untrusted data to parsers and checks their results.

mod compare;

pub use compare::compare_results;

use crate::{
    load::verify::{block::Sector, check::check, format::Format, written_blocks::Expected},
    system::{
        host::{
            device_list::sort_parents_first,
            dm_table,
            identity::{identity, model, serial, vpd_serial},
            inventory::Inventory,
            kernel::{Dev, Kernel, field, unescape, version},
            meminfo, mounts,
            queue_settings::active_scheduler,
            signature, used_space,
        },
        probes::{
            block_stat, cgroup_io,
            cpu::{HostTicks, percentages},
            memory,
            pressure::StallTimes,
            process_io, profile,
            request_trace::line::Line,
            rusage::CpuTimes,
            vmstat,
        },
    },
};
use leadline_protocol::{
    evidence::Profile,
    job::{value::FioValue, verify_method::VerifyMethod, verify_pattern::VerifyPattern},
    text::is_deceptive,
};
use std::{fs::File, path::Path};

const SECTOR: usize = 512;

/// Parses procfs, sysfs and tracefs files.
pub fn kernel_text(text: &str) {
    for line in text.lines() {
        let _ = (mounts::MountEntry::parse(line, None), Line::parse(line));
        if let Ok(dev) = line.parse::<Dev>() {
            assert_eq!(dev.to_string().parse(), Ok(dev));
            let _ = (cgroup_io::parse(text, dev), dev.is_anonymous());
        }
    }
    let _ = mounts::parse_swaps(text);
    assert!(unescape(text).len() <= text.len());
    assert!(text.contains(active_scheduler(text)));
    let _ = (
        version(text),
        field(text, "nr_dirtied"),
        memory::parse(text),
        process_io::parse(text),
    );
    let _ = meminfo::huge_page_bytes(text, 1 << 20);
    if let Some(counts) = block_stat::parse(text) {
        let _ = block_stat::sum(counts, block_stat::since(counts, counts));
    }
    if let Some(ticks) = HostTicks::parse(text) {
        let used = percentages(CpuTimes::default(), ticks, 1);
        for percent in [
            used.host_user,
            used.host_system,
            used.host_iowait,
            used.host_steal,
        ] {
            assert!((0.0..=100.1).contains(&percent), "{percent}");
        }
    }
    if let Some(times) = StallTimes::parse(text) {
        let share = times.share_since(StallTimes::default(), 1);
        assert!((0.0..=100.0).contains(&share.io_some) && (0.0..=100.0).contains(&share.io_full));
    }
    if let Some(counts) = vmstat::parse(text, 4096) {
        let _ = vmstat::since(counts, counts);
    }
}

/// Parses binary data from devices: superblocks, device-mapper tables, SCSI pages and wipefs
/// output.
pub fn device_data(data: &[u8], superblock: &File) {
    for filesystem in ["ext4", "xfs", "btrfs"] {
        let _ = used_space::used_bytes(filesystem, superblock);
    }
    if let Some(types) = dm_table::types(data, 64) {
        assert_eq!(types.len(), 64);
    }
    for count in [1, u32::MAX] {
        let _ = dm_table::types(data, count);
    }
    for text in vpd_serial(data).into_iter().chain(signatures(data)) {
        assert!(!text.chars().any(is_deceptive), "{text:?}");
    }
}

fn signatures(json: &[u8]) -> impl Iterator<Item = String> {
    let found = signature::parse(json).into_iter();
    found.map(|signature| signature.to_string())
}

/// Checks a block that was read back. Damaged data must never be accepted.
pub fn verified_block(block: &[u8], offset: u64, number: u64) {
    let whole = block.len() / SECTOR * SECTOR;
    let block = &block[..whole];
    if whole == 0 {
        return;
    }
    let methods = &VerifyMethod::ALL[1..];
    let method = methods[(number >> 32) as usize % methods.len()];
    let is_pattern = matches!(method, VerifyMethod::HeaderPattern | VerifyMethod::Pattern);
    let pattern = is_pattern.then(|| VerifyPattern::parse("0xa5%o0x11").expect("a pattern"));
    let header_offset = if number.is_multiple_of(2) { 0 } else { 200 };
    let format = Format::from_parts(method, header_offset, pattern);
    let _ = check(&format, block, offset, Expected::AnyWrite);
    for sector in block.chunks(SECTOR) {
        let _ = Sector::read(sector, offset);
    }
    let mut written = block.to_vec();
    format.prepare(&mut written, offset, number, 1);
    assert_eq!(check(&format, &written, offset, Expected::AnyWrite), Ok(()));
    let moved = check(
        &format,
        &written,
        offset ^ SECTOR as u64,
        Expected::AnyWrite,
    );
    assert!(moved.is_err());
    let at = number as usize % whole;
    written[at] ^= 1 << (offset % 8);
    assert!(
        check(&format, &written, offset, Expected::AnyWrite).is_err(),
        "byte {at}"
    );
}

/// Converts `perf script` output to folded stacks.
pub fn perf_script(script: &[u8]) -> Option<Profile> {
    profile::fold(script).ok()
}

/// Reads the inventory of block devices from a directory with `sys` and `proc`: uses, parents and
/// identities.
pub fn inventory(root: &Path) {
    let kernel = Kernel {
        sys: root.join("sys"),
        proc: root.join("proc"),
    };
    let host = Inventory::read(&kernel);
    let devices = sort_parents_first(&host);
    assert_eq!(devices.len(), host.blocks.len());
    for block in devices {
        let lower = host.lower_devices(&block.name);
        assert!(lower.contains(&block.name));
        for physical in host.physical_devices(&block.name) {
            assert!(host.blocks.contains_key(&physical));
        }
        let _ = host.filesystem_members(&block.name);
        let _ = (
            host.parents(block),
            host.mounts_of(block),
            host.changed_devices(block),
        );
        let uses: Vec<String> = host.uses(block).iter().map(ToString::to_string).collect();
        let names = [identity(&host, block), serial(block), model(block)];
        for text in names.into_iter().flatten().chain(uses) {
            assert!(!text.chars().any(is_deceptive), "{text:?}");
        }
    }
}
