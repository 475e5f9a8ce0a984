//! Checks whether a host is idle: no I/O reaches the run's devices, and little data is waiting for
//! writeback.

use crate::system::{
    host::{inventory::Inventory, kernel::Kernel, meminfo},
    probes::disks::Disks,
};
use leadline_protocol::{counters::DeviceCounts, format::bytes};
use std::{collections::BTreeMap, fs};

/// Maximum sum of `Dirty` and `Writeback`, in bytes. Idle desktops and servers have a few megabytes
/// of dirty memory.
pub(crate) const MAX_DIRTY_BYTES: u64 = 64 << 20;

/// The counters of a run's devices, including the physical devices below them.
pub(crate) struct IdleProbe {
    kernel: Kernel,
    disks: Disks,
    last: Vec<Option<DeviceCounts>>,
}

impl IdleProbe {
    /// `devices`: kernel names of the target devices; may be empty.
    pub(crate) fn new(devices: &[String]) -> Self {
        let kernel = Kernel::live();
        // Devices that do not count I/Os are ignored, because their I/O cannot be observed.
        let mut disks = Disks::open(&Inventory::read(&kernel), devices, &mut BTreeMap::new());
        let last = disks.read();
        Self {
            kernel,
            disks,
            last,
        }
    }

    /// Returns why the host is not idle: I/Os in flight, I/Os since the last call, or dirty memory.
    pub(crate) fn busy_reason(&mut self) -> Option<String> {
        let counts = self.disks.read();
        let last = std::mem::replace(&mut self.last, counts);
        let devices = self.disks.names.all.iter();
        let mut readings = devices.zip(&last).zip(&self.last);
        readings
            .find_map(|((name, last), now)| device_busy_reason(name, last.as_ref(), now.as_ref()))
            .or_else(|| dirty(&fs::read_to_string(self.kernel.proc.join("meminfo")).ok()?))
    }
}

fn device_busy_reason(
    name: &str,
    last: Option<&DeviceCounts>,
    now: Option<&DeviceCounts>,
) -> Option<String> {
    let (Some(last), Some(now)) = (last, now) else {
        return Some(format!("the counters of {name} cannot be read"));
    };
    let ios = |counts: &DeviceCounts| {
        let [reads, writes] = [counts.read_ios, counts.write_ios];
        let [discards, flushes] = [counts.discard_ios, counts.flush_ios];
        reads
            .wrapping_add(writes)
            .wrapping_add(discards)
            .wrapping_add(flushes)
    };
    if now.in_flight > 0 {
        let noun = if now.in_flight == 1 { "I/O" } else { "I/Os" };
        return Some(format!("{name} has {} {noun} in flight", now.in_flight));
    }
    (ios(last) != ios(now)).then(|| format!("{name} is completing I/Os"))
}

fn dirty(meminfo: &str) -> Option<String> {
    let field = |name| meminfo::field_bytes(meminfo, name).unwrap_or(0);
    let dirty = field("Dirty").saturating_add(field("Writeback"));
    (dirty > MAX_DIRTY_BYTES)
        .then(|| format!("{} of dirty memory is waiting for writeback", bytes(dirty)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(ios: [u64; 4], in_flight: u64) -> DeviceCounts {
        let [read_ios, write_ios, discard_ios, flush_ios] = ios;
        DeviceCounts {
            read_ios,
            write_ios,
            discard_ios,
            flush_ios,
            in_flight,
            ..DeviceCounts::default()
        }
    }

    #[test]
    fn any_io_counts_as_busy() {
        let idle = counts([5, 6, 7, 8], 0);
        assert_eq!(device_busy_reason("vda", Some(&idle), Some(&idle)), None);
        for index in 0..4 {
            let mut ios = [5, 6, 7, 8];
            ios[index] += 1;
            let text = device_busy_reason("vda", Some(&idle), Some(&counts(ios, 0)));
            assert_eq!(text.as_deref(), Some("vda is completing I/Os"));
        }
        let in_flight = device_busy_reason("vda", Some(&idle), Some(&counts([5, 6, 7, 8], 2)));
        assert_eq!(in_flight.as_deref(), Some("vda has 2 I/Os in flight"));
        let vanished = device_busy_reason("vda", Some(&idle), None);
        assert!(vanished.is_some_and(|text| text.contains("cannot be read")));
        // Counters may be reset or wrap.
        assert!(device_busy_reason("vda", Some(&counts([u64::MAX; 4], 0)), Some(&idle)).is_some());
    }

    #[test]
    fn too_much_dirty_memory_counts_as_busy() {
        let text = |dirty_kib: u64, writeback_kib: u64| {
            dirty(&format!(
                "Dirty: {dirty_kib} kB\nWriteback: {writeback_kib} kB\nWritebackTmp: 99999999 kB\n"
            ))
        };
        assert_eq!(text(32 << 10, 32 << 10), None);
        let reason = text(1 << 20, 1 << 20).unwrap();
        assert_eq!(reason, "2 GiB of dirty memory is waiting for writeback");
        assert_eq!(dirty(""), None);
    }

    #[test]
    fn hosts_without_devices_are_not_busy() {
        let mut probe = IdleProbe::new(&[]);
        let reason = probe.busy_reason();
        assert!(reason.is_none_or(|reason| reason.contains("writeback")));
        let mut unknown = IdleProbe::new(&["no-such-device".into()]);
        let reason = unknown.busy_reason();
        assert!(reason.is_none_or(|reason| reason.contains("writeback")));
    }
}
