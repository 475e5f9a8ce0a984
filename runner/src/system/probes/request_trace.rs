//! Sizes of the requests that reach the devices, and how long the dirty limit made our writers wait: tracepoints
//! block:block_rq_issue and writeback:balance_dirty_pages, in a tracing instance of our own (Documentation/trace/ftrace.rst),
//! which is removed when this is dropped. A thread reads what the kernel wrote every 20 ms and counts.
//!
//! Costs 1.3 µs of processor time for each request, on a thread of its own, so it is only done when asked for.

pub(crate) mod instance;
pub(crate) mod line;

use crate::system::host::inventory::Inventory;
use crate::system::host::kernel::Dev;
use crate::system::probes::request_trace::instance::Instance;
use crate::system::probes::request_trace::line::Line;
use leadline_protocol::evidence::{DeviceRequests, Direction, RequestSize, Requests};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::Duration;

/// How often the kernel's buffer is emptied: at a million requests a second it fills in 40 ms.
const EMPTY_EVERY: Duration = Duration::from_millis(20);
/// Bytes read at once.
const CHUNK_BYTES: usize = 1 << 16;

/// Requests by device, direction and size; and pauses in ms by thread.
#[derive(Debug, Default)]
struct Tally {
    requests: BTreeMap<(Dev, Direction, u64), u64>,
    pauses_ms: BTreeMap<i32, u64>,
}

/// The window that counts, in ns of CLOCK_MONOTONIC.
#[derive(Debug)]
struct Window {
    from_ns: AtomicU64,
    to_ns: AtomicU64,
    is_over: AtomicBool,
}

/// A tracing under way.
#[derive(Debug)]
pub struct RequestTrace {
    instance: Instance,
    reader: Option<JoinHandle<Tally>>,
    window: Arc<Window>,
    devices: Vec<(String, Dev)>,
    threads: BTreeSet<i32>,
}

/// What was traced.
#[derive(Clone, Debug, PartialEq)]
pub struct TracedRequests {
    /// Requests by device and size.
    pub requests: Requests,
    /// What the dirty limit made our threads wait, summed, in ms.
    pub throttled_ms: f64,
}

impl RequestTrace {
    /// Begins to trace the requests of these devices (kernel names), of all members of their filesystems, and of what lies
    /// under them. Nothing counts before `start`.
    ///
    /// # Errors
    /// Why that cannot be done, and what to do about it.
    pub fn begin(host: &Inventory, devices: &BTreeSet<String>) -> Result<Self, String> {
        let targets: BTreeSet<String> = devices.iter().flat_map(|name| host.spread(name)).collect();
        let physical_devices: BTreeSet<String> = targets
            .iter()
            .flat_map(|name| host.physical_devices(name))
            .collect();
        let devices: Vec<(String, Dev)> = targets
            .union(&physical_devices)
            .filter_map(|name| Some((name.clone(), host.blocks.get(name)?.dev)))
            .collect();
        if devices.is_empty() {
            return Err("no target lies on a block device of this host".into());
        }
        let instance = Instance::make(host, devices.iter().map(|(_, dev)| *dev))?;
        let window = Arc::new(Window {
            from_ns: AtomicU64::new(u64::MAX),
            to_ns: AtomicU64::new(u64::MAX),
            is_over: AtomicBool::new(false),
        });
        let (mut pipe, shared) = (instance.pipe()?, window.clone());
        let reader = spawn(move || read(&mut pipe, &shared));
        Ok(Self {
            instance,
            reader: Some(reader),
            window,
            devices,
            threads: BTreeSet::new(),
        })
    }

    /// The window begins at this moment, in ns of CLOCK_MONOTONIC.
    pub fn start(&mut self, now_ns: u64) {
        self.window.from_ns.store(now_ns, Ordering::Release);
        self.note_threads();
    }

    /// Keeps in mind which threads are ours: io_uring's workers, which do what would make the submitter wait, come with the
    /// first such I/O and go with the ring.
    pub fn note_threads(&mut self) {
        let entries = fs::read_dir("/proc/self/task")
            .into_iter()
            .flatten()
            .flatten();
        self.threads
            .extend(entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok()));
    }

    /// The window ended at this moment.
    pub fn end(&mut self, now_ns: u64) {
        self.window.to_ns.store(now_ns, Ordering::Release);
        self.note_threads();
    }

    /// What was traced in the window.
    pub fn finish(mut self) -> TracedRequests {
        self.instance.stop();
        self.window.is_over.store(true, Ordering::Release);
        let tally = self
            .reader
            .take()
            .and_then(|reader| reader.join().ok())
            .unwrap_or_default();
        let ours = tally
            .pauses_ms
            .iter()
            .filter(|(thread, _)| self.threads.contains(thread));
        let devices = self
            .devices
            .iter()
            .map(|(name, dev)| tally.of_device(name, *dev));
        TracedRequests {
            throttled_ms: ours.map(|(_, ms)| *ms).sum::<u64>() as f64,
            requests: Requests {
                devices: devices
                    .filter(|device| !device.read.is_empty() || !device.write.is_empty())
                    .collect(),
                lost_events: self.instance.lost(),
            },
        }
    }
}

impl Drop for RequestTrace {
    fn drop(&mut self) {
        self.window.is_over.store(true, Ordering::Release);
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }
}

impl Tally {
    fn add(&mut self, line: Line) {
        match line {
            Line::Request {
                dev,
                direction,
                bytes,
            } => *self.requests.entry((dev, direction, bytes)).or_default() += 1,
            Line::Pause { thread, ms } => *self.pauses_ms.entry(thread).or_default() += ms,
        }
    }

    fn of_device(&self, name: &str, dev: Dev) -> DeviceRequests {
        let sizes = |direction: Direction| {
            let range = (dev, direction, 0)..=(dev, direction, u64::MAX);
            self.requests
                .range(range)
                .map(|((.., bytes), ios)| RequestSize {
                    bytes: *bytes,
                    ios: *ios,
                })
                .collect()
        };
        DeviceRequests {
            name: name.into(),
            read: sizes(Direction::Read),
            write: sizes(Direction::Write),
        }
    }
}

/// Counts until the window is over and the pipe is empty.
fn read(pipe: &mut impl Read, window: &Window) -> Tally {
    let (mut tally, mut chunk, mut text) = (Tally::default(), vec![0; CHUNK_BYTES], Vec::new());
    loop {
        // Asked before reading: what is written until then is read below.
        let is_over = window.is_over.load(Ordering::Acquire);
        match pipe.read(&mut chunk) {
            Ok(length) if length > 0 => {
                text.extend_from_slice(&chunk[..length]);
                count(&mut text, window, &mut tally);
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            _ if is_over => return tally,
            _ => sleep(EMPTY_EVERY),
        }
    }
}

/// Counts the whole lines of a text and takes them out of it.
fn count(text: &mut Vec<u8>, window: &Window, tally: &mut Tally) {
    let Some(end) = text.iter().rposition(|&byte| byte == b'\n') else {
        return;
    };
    let counts = window.from_ns.load(Ordering::Acquire)..window.to_ns.load(Ordering::Acquire);
    for line in text[..end].split(|&byte| byte == b'\n') {
        let line = std::str::from_utf8(line).ok().and_then(Line::parse);
        if let Some((_, line)) = line.filter(|(at_ns, _)| counts.contains(at_ns)) {
            tally.add(line);
        }
    }
    text.drain(..=end);
}

/// Where the tracing filesystem is mounted.
fn tracefs(host: &Inventory) -> &Path {
    let mount = host
        .mounts
        .iter()
        .find(|mount| mount.filesystem == "tracefs" && mount.elsewhere.is_none());
    mount.map_or(Path::new("/sys/kernel/tracing"), |mount| {
        Path::new(&mount.point)
    })
}
