//! Traces the sizes of requests that reach the devices, and how long this process is throttled for
//! dirtying pages. Uses the tracepoints block:block_rq_issue and writeback:balance_dirty_pages in a
//! separate tracing instance (Documentation/trace/ftrace.rst). A thread reads the kernel's buffer
//! every 20 ms and counts the events.
//!
//! Optional, because each request costs 1.3 µs of CPU time on that thread.

pub(crate) mod counts;
pub(crate) mod instance;
pub(crate) mod line;

use crate::system::{
    host::{
        inventory::Inventory,
        kernel::{Dev, names},
    },
    probes::request_trace::{
        counts::{RequestCounts, TraceWindow, count_window},
        instance::Instance,
    },
};
use leadline_protocol::evidence::Requests;
use std::{
    collections::BTreeSet,
    sync::{Arc, atomic::Ordering},
    thread::{JoinHandle, spawn},
};

/// A running trace. The tracing instance is removed on drop.
#[derive(Debug)]
pub(crate) struct RequestTrace {
    instance: Instance,
    reader: Option<JoinHandle<RequestCounts>>,
    window: Arc<TraceWindow>,
    devices: Vec<(String, Dev)>,
    threads: BTreeSet<i32>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TracedRequests {
    pub requests: Requests,
    /// Sum over all threads of this process.
    pub throttled_ms: f64,
}

impl RequestTrace {
    /// Traces these devices (kernel names), all members of their filesystems, and the physical
    /// devices below them. Nothing is counted before `start`.
    ///
    /// # Errors
    /// Returns why tracing is not possible, with a remedy.
    pub(crate) fn open(host: &Inventory, devices: &BTreeSet<String>) -> Result<Self, String> {
        let members = devices
            .iter()
            .flat_map(|name| host.filesystem_members(name));
        let mut names: BTreeSet<String> = members.collect();
        let lowest = names.iter().flat_map(|name| host.physical_devices(name));
        names.extend(lowest.collect::<Vec<_>>());
        let devices: Vec<(String, Dev)> = names
            .into_iter()
            .filter_map(|name| {
                let dev = host.blocks.get(&name)?.dev;
                Some((name, dev))
            })
            .collect();
        if devices.is_empty() {
            return Err("no block device is visible below the targets".into());
        }
        let instance = Instance::create(host, devices.iter().map(|(_, dev)| *dev))?;
        let window = Arc::new(TraceWindow::default());
        let mut pipe = instance.pipe()?;
        let shared = window.clone();
        let reader = spawn(move || count_window(&mut pipe, &shared));
        Ok(Self {
            instance,
            reader: Some(reader),
            window,
            devices,
            threads: BTreeSet::new(),
        })
    }

    /// `now_ns`: current time (CLOCK_MONOTONIC).
    pub(crate) fn start(&mut self, now_ns: u64) {
        self.window.from_ns.store(now_ns, Ordering::Release);
        self.window.to_ns.store(u64::MAX, Ordering::Release);
        self.record_threads();
    }

    /// Records the threads of this process. Must be called during the window, because io_uring
    /// workers start at the first blocking I/O and exit with the ring.
    pub(crate) fn record_threads(&mut self) {
        let tasks = names("/proc/self/task");
        self.threads
            .extend(tasks.iter().filter_map(|task| task.parse::<i32>().ok()));
    }

    pub(crate) fn end(&mut self, now_ns: u64) {
        self.window.to_ns.store(now_ns, Ordering::Release);
        self.record_threads();
    }

    pub(crate) fn finish(mut self) -> TracedRequests {
        self.instance.stop();
        let counts = self.join();
        let mut devices = Vec::new();
        for (name, dev) in &self.devices {
            let device = counts.device_requests(name, *dev);
            if !device.read.is_empty() || !device.write.is_empty() {
                devices.push(device);
            }
        }
        let own_pauses = self
            .threads
            .iter()
            .filter_map(|task| counts.pauses_ms.get(task));
        TracedRequests {
            throttled_ms: own_pauses.map(|ms| *ms as f64).sum(),
            requests: Requests {
                devices,
                lost_events: self.instance.lost_events(),
            },
        }
    }

    fn join(&mut self) -> RequestCounts {
        self.window.is_over.store(true, Ordering::Release);
        let counts = self.reader.take().and_then(|reader| reader.join().ok());
        counts.unwrap_or_default()
    }
}

impl Drop for RequestTrace {
    fn drop(&mut self) {
        self.join();
    }
}
