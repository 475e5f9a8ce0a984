//! Counters of the kernel layers: block devices, memory, CPU and I/O pressure. Readings are
//! cumulative; a window is the difference between two readings. All files are opened once and read
//! with pread(2).
//!
//! A reading with one disk takes 15 µs, or 0.015 % of one CPU at 10 Hz. Like all such numbers in
//! this module, this was measured on a 2-core VM with Linux 6.18 in the test profile: `cargo test
//! -p leadline-runner --test runner cost:: -- --ignored --nocapture`.

pub(crate) mod block_stat;
pub(crate) mod cgroup_io;
pub(crate) mod cpu;
pub(crate) mod direct_io;
pub(crate) mod disks;
pub mod extents;
mod kernel_file;
pub(crate) mod memory;
pub(crate) mod pressure;
pub(crate) mod process_io;
pub(crate) mod profile;
pub mod region;
pub(crate) mod request_trace;
pub mod residency;
pub mod rusage;
pub(crate) mod thermal;
pub mod vmstat;

use crate::system::{
    clock::{Clock, Monotonic},
    host::{inventory::Inventory, kernel::Kernel},
    probes::{
        cpu::HostTicks,
        disks::{Disks, Names},
        kernel_file::KernelFile,
        pressure::StallTimes,
        rusage::{CpuTimes, process_times},
    },
};
use leadline_protocol::{
    counters::{ChargedIo, CpuUse, DeviceCounts, Memory, Pressure, StorageIo},
    report::device::CgroupDevice,
};
use std::{collections::BTreeMap, path::Path, sync::Arc};

#[derive(Debug, Default)]
pub struct Probes {
    disks: Disks,
    memory: Option<KernelFile>,
    cpu: Option<KernelFile>,
    pressure: Option<KernelFile>,
    storage: Option<KernelFile>,
    cgroup: Option<KernelFile>,
    absent: BTreeMap<String, String>,
}

/// Snapshot of cumulative counters.
#[derive(Clone, Debug)]
pub struct Counters {
    /// Time of the reading (CLOCK_MONOTONIC, in ns).
    pub at_ns: u64,
    pub memory: Option<Memory>,
    names: Arc<Names>,
    disks: Vec<Option<DeviceCounts>>,
    process: CpuTimes,
    host: Option<HostTicks>,
    stalls: Option<StallTimes>,
    storage: Option<StorageIo>,
    /// I/O of the run's control group, in the order of `Names::all`.
    charged: Option<Vec<ChargedIo>>,
}

/// Counts between two readings.
#[derive(Clone, Debug, PartialEq)]
pub struct CounterWindow {
    pub elapsed_ns: u64,
    /// Sum over the target devices, counting each I/O once; `None` if there are none, or if one of
    /// them cannot be read.
    pub device: Option<DeviceCounts>,
    /// Counts by kernel name.
    pub physical_devices: Vec<(String, DeviceCounts)>,
    /// Memory at the end of the window.
    pub memory: Option<Memory>,
    pub cpu: Option<CpuUse>,
    pub process: CpuTimes,
    pub pressure: Option<Pressure>,
    /// This process's storage I/O.
    pub storage: Option<StorageIo>,
    /// I/O of the run's control group.
    pub charged: Option<Vec<CgroupDevice>>,
}

impl Probes {
    /// Opens the counters of the host, of these devices (kernel names, as in `Target::device`) and
    /// all members of their filesystems, and of the physical devices below them.
    pub fn new(devices: &[String]) -> Self {
        let kernel = Kernel::live();
        let mut absent = BTreeMap::new();
        let disks = Disks::open(&Inventory::read(&kernel), devices, &mut absent);
        let mut open = |key: &str, path: &str, bytes: usize, hint: &str| {
            let file = KernelFile::open(&kernel.proc.join(path), bytes);
            file.map_err(|error| absent.insert(key.into(), format!("/proc/{path}: {error}{hint}")))
                .ok()
        };
        Self {
            disks,
            memory: open("memory", "meminfo", memory::BYTES, ""),
            cpu: open("cpu", "stat", cpu::BYTES, ""),
            pressure: open(
                "pressure",
                "pressure/io",
                pressure::BYTES,
                ": the kernel was built without PSI, or it is disabled (boot with psi=1)",
            ),
            storage: open(
                "storage",
                "self/io",
                process_io::BYTES,
                ": the kernel does not count I/O per process (CONFIG_TASK_IO_ACCOUNTING), or hides it",
            ),
            cgroup: None,
            absent,
        }
    }

    /// Adds the counters of the run's control group, or the reason that there are none.
    pub(crate) fn with_cgroup(mut self, group: Result<&Path, &str>) -> Self {
        let open = |group: &Path| {
            let path = group.join("io.stat");
            KernelFile::open(&path, cgroup_io::BYTES)
                .map_err(|error| format!("{}: {error}", path.display()))
        };
        match group.map_err(str::to_owned).and_then(open) {
            Ok(file) => self.cgroup = Some(file),
            Err(reason) => {
                self.absent.insert("cgroup".into(), reason);
            }
        }
        self
    }

    /// Reads only the clock and the CPU time of this process. `reason`: why all other counters are
    /// absent.
    pub fn none(reason: &str) -> Self {
        let absent = [
            "device",
            "physical_devices",
            "memory",
            "cpu",
            "pressure",
            "storage",
            "cgroup",
        ];
        Self {
            absent: absent.map(|key| (key.into(), reason.into())).into(),
            ..Self::default()
        }
    }

    /// Why counters are missing, keyed by `device`, `physical_devices`, `memory`, `cpu`,
    /// `pressure`, `storage` or `cgroup`.
    pub fn absent(&self) -> &BTreeMap<String, String> {
        &self.absent
    }

    /// Kernel names of the devices that `CounterWindow::device` sums, sorted.
    pub fn devices(&self) -> &[String] {
        self.disks.summed_devices()
    }

    pub fn read(&mut self) -> Counters {
        Counters {
            at_ns: Monotonic.now_ns(),
            names: self.disks.names.clone(),
            disks: self.disks.read(),
            memory: read(&mut self.memory, memory::parse),
            process: process_times(),
            host: read(&mut self.cpu, HostTicks::parse),
            stalls: read(&mut self.pressure, StallTimes::parse),
            storage: read(&mut self.storage, process_io::parse),
            charged: read(&mut self.cgroup, |text| {
                let disks = self.disks.names.disks.iter();
                Some(disks.map(|(_, dev)| cgroup_io::parse(text, *dev)).collect())
            }),
        }
    }
}

fn read<T>(file: &mut Option<KernelFile>, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
    parse(file.as_mut()?.read()?)
}

impl Counters {
    /// Cumulative counters in both readings, for each device by kernel name.
    pub fn readings(before: &Self, after: &Self) -> Vec<(String, DeviceCounts, DeviceCounts)> {
        let pairs = before.disks.iter().zip(&after.disks);
        pairs
            .zip(&after.names.all)
            .filter_map(|((from, to), name)| Some((name.clone(), (*from)?, (*to)?)))
            .collect()
    }

    fn charged(before: &Self, after: &Self) -> Option<Vec<CgroupDevice>> {
        let pairs = before.charged.as_ref()?.iter().zip(after.charged.as_ref()?);
        let names = after.names.all.iter().zip(&after.names.disks);
        let devices = pairs
            .zip(names)
            .map(|((from, to), (name, (disk, _)))| CgroupDevice {
                device: name.clone(),
                disk: disk.clone(),
                counts: cgroup_io::since(*from, *to),
            });
        Some(devices.collect())
    }

    /// Both readings must come from the same `Probes`.
    pub fn window(before: &Self, after: &Self) -> CounterWindow {
        let elapsed_ns = after.at_ns.saturating_sub(before.at_ns);
        let process = after.process.since(before.process);
        let pairs = before.disks.iter().zip(&after.disks);
        let disks: Vec<Option<DeviceCounts>> = pairs
            .map(|(from, to)| Some(block_stat::since((*from)?, (*to)?)))
            .collect();
        let host = before.host.zip(after.host);
        let stalls = before.stalls.zip(after.stalls);
        let storage = before.storage.zip(after.storage);
        CounterWindow {
            elapsed_ns,
            device: after.names.device(&disks),
            physical_devices: after.names.physical_devices(&disks),
            memory: after.memory,
            cpu: host.map(|(from, to)| cpu::percentages(process, to.since(from), elapsed_ns)),
            process,
            pressure: stalls.map(|(from, to)| to.share_since(from, elapsed_ns)),
            storage: storage.map(|(from, to)| process_io::since(from, to)),
            charged: Self::charged(before, after),
        }
    }
}

impl Counters {
    /// Whether a device (kernel name) completed writes, discards or flushes between two readings.
    pub(crate) fn has_written(before: &Self, after: &Self, device: &str) -> bool {
        let readings = Self::readings(before, after).into_iter();
        let mut readings = readings.filter(|(name, ..)| name == device);
        readings.any(|(_, from, to)| {
            let counts = block_stat::since(from, to);
            counts.write_ios > 0 || counts.discard_ios > 0 || counts.flush_ios > 0
        })
    }
}

impl CounterWindow {
    pub fn physical_device_counts(&self) -> Option<DeviceCounts> {
        let devices = self.physical_devices.iter();
        devices.map(|(_, counts)| *counts).reduce(block_stat::sum)
    }
}
