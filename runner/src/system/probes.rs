//! What each layer of the kernel counted: block devices, memory, processors, I/O pressure. A snapshot is cumulative;
//! what happened in a window is the difference of two. One file a probe; all are opened once and read again by
//! pread(2), so that a reading costs no look-up of names.
//!
//! A reading with one disk takes 15 µs (2-core virtual machine, Linux 6.18, test build: `cargo test -p leadline-runner
//! --test cost -- --ignored --nocapture`, as all such figures here): 0.015 % of one processor at ten a second.

pub(crate) mod cpu;
pub(crate) mod direct_io;
pub(crate) mod disk;
pub mod extents;
pub(crate) mod kernel_file;
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

use crate::system::host::inventory::Inventory;
use crate::system::host::kernel::Kernel;
use crate::system::probes::cpu::HostTicks;
use crate::system::probes::disk::Disks;
use crate::system::probes::kernel_file::KernelFile;
use crate::system::probes::pressure::StallTimes;
use crate::system::probes::rusage::{CpuTimes, process_times};
use leadline_protocol::counters::{CpuUse, DeviceCounts, Memory, Pressure, StorageIo};
use rustix::time::{ClockId, clock_gettime};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The open books of the kernel.
#[derive(Debug)]
pub struct Probes {
    disks: Disks,
    memory: Option<KernelFile>,
    cpu: Option<KernelFile>,
    pressure: Option<KernelFile>,
    storage: Option<KernelFile>,
    absent: BTreeMap<String, String>,
}

/// Everything counted up to one moment.
#[derive(Clone, Debug)]
pub struct Counters {
    /// The moment, in ns of CLOCK_MONOTONIC.
    pub at_ns: u64,
    /// Memory at that moment.
    pub memory: Option<Memory>,
    names: Arc<disk::Names>,
    disks: Vec<Option<DeviceCounts>>,
    process: CpuTimes,
    machine: Option<HostTicks>,
    stalled: Option<StallTimes>,
    storage: Option<StorageIo>,
}

/// What was counted between two moments.
#[derive(Clone, Debug, PartialEq)]
pub struct CounterWindow {
    /// Its length in ns.
    pub elapsed_ns: u64,
    /// The devices under the targets, summed, each I/O once; `None` where there is none.
    pub device: Option<DeviceCounts>,
    /// Each physical device under them, by kernel name.
    pub physical_devices: Vec<(String, DeviceCounts)>,
    /// Memory at its end.
    pub memory: Option<Memory>,
    /// Processor time in percent.
    pub cpu: Option<CpuUse>,
    /// Processor time of this process, and its context switches.
    pub process: CpuTimes,
    /// Share of it that tasks waited for I/O, in percent.
    pub pressure: Option<Pressure>,
    /// What this process moved from and to storage.
    pub storage: Option<StorageIo>,
}

impl Probes {
    /// Opens the counters of these devices (kernel names, such as `vda`, as in `Target::device`), of what lies under
    /// them, and of the host. The other members of a btrfs count as well.
    pub fn new(devices: &[String]) -> Self {
        let kernel = Kernel::live();
        Self::open(&kernel, &Inventory::read(&kernel), devices)
    }

    fn open(kernel: &Kernel, host: &Inventory, devices: &[String]) -> Self {
        let mut absent = BTreeMap::new();
        let disks = Disks::open(host, devices, &mut absent);
        let mut book = |name: &str, path: &str, limit: usize, without: &str| {
            let book = KernelFile::open(&kernel.proc.join(path), limit);
            book.map_err(|error| {
                absent.insert(name.into(), format!("/proc/{path}: {error}{without}"))
            })
            .ok()
        };
        let memory = book("memory", "meminfo", memory::BYTES, "");
        let cpu = book("cpu", "stat", cpu::BYTES, "");
        let pressure = book(
            "pressure",
            "pressure/io",
            pressure::BYTES,
            ": the kernel has no PSI, or it is off (psi=1 at boot)",
        );
        let storage = book(
            "storage",
            "self/io",
            process_io::BYTES,
            ": the kernel does not count a process's I/O (CONFIG_TASK_IO_ACCOUNTING), or hides it",
        );
        Self {
            disks,
            memory,
            cpu,
            pressure,
            storage,
            absent,
        }
    }

    /// Reads nothing but the clock and the processor time of this process; `why` stands beside all that is missing.
    pub fn none(why: &str) -> Self {
        let absent = [
            "device",
            "physical_devices",
            "memory",
            "cpu",
            "pressure",
            "storage",
        ]
        .map(|name| (name.into(), why.into()));
        Self {
            disks: Disks::default(),
            memory: None,
            cpu: None,
            pressure: None,
            storage: None,
            absent: absent.into(),
        }
    }

    /// The counters that are missing, with the reason: `device`, `leaves`, `memory`, `cpu`, `pressure`, `storage`.
    pub fn absent(&self) -> &BTreeMap<String, String> {
        &self.absent
    }

    /// Kernel names of the devices that `Window::device` sums, sorted.
    pub fn devices(&self) -> &[String] {
        self.disks.summed()
    }

    /// Reads everything now.
    pub fn read(&mut self) -> Counters {
        let now = clock_gettime(ClockId::Monotonic);
        Counters {
            at_ns: now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64,
            names: self.disks.names(),
            disks: self.disks.read(),
            memory: self
                .memory
                .as_mut()
                .and_then(|book| memory::parse(book.read()?)),
            process: process_times(),
            machine: self
                .cpu
                .as_mut()
                .and_then(|book| HostTicks::parse(book.read()?)),
            stalled: self
                .pressure
                .as_mut()
                .and_then(|book| StallTimes::parse(book.read()?)),
            storage: self
                .storage
                .as_mut()
                .and_then(|book| process_io::parse(book.read()?)),
        }
    }
}

impl Counters {
    /// The devices' counters as they stood at two moments, by kernel name.
    pub fn readings(before: &Self, after: &Self) -> Vec<(String, DeviceCounts, DeviceCounts)> {
        let pairs = before.disks.iter().zip(&after.disks).zip(after.names.all());
        pairs
            .filter_map(|((from, to), name)| Some((name.clone(), (*from)?, (*to)?)))
            .collect()
    }

    /// What was counted from `before` to `after`, two readings of the same `Probes`.
    pub fn window(before: &Self, after: &Self) -> CounterWindow {
        let elapsed_ns = after.at_ns.saturating_sub(before.at_ns);
        let counts: Vec<Option<DeviceCounts>> = before
            .disks
            .iter()
            .zip(&after.disks)
            .map(|(from, to)| Some(disk::since((*from)?, (*to)?)))
            .collect();
        let process = after.process.since(before.process);
        CounterWindow {
            elapsed_ns,
            device: after.names.device(&counts),
            physical_devices: after.names.physical_devices(&counts),
            memory: after.memory,
            cpu: before
                .machine
                .zip(after.machine)
                .map(|(from, to)| cpu::use_of(process, to.since(from), elapsed_ns)),
            process,
            pressure: before
                .stalled
                .zip(after.stalled)
                .map(|(from, to)| to.share_since(from, elapsed_ns)),
            storage: before
                .storage
                .zip(after.storage)
                .map(|(from, to)| process_io::since(from, to)),
        }
    }
}

impl CounterWindow {
    /// The physical devices together; `None` where there is none.
    pub fn physical_device_counts(&self) -> Option<DeviceCounts> {
        self.physical_devices
            .iter()
            .map(|(_, counts)| *counts)
            .reduce(disk::sum)
    }
}
