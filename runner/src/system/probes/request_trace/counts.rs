//! Reads the trace and counts the window's requests by device, direction and size.

use crate::system::{host::kernel::Dev, probes::request_trace::line::Line};
use leadline_protocol::evidence::{DeviceRequests, RequestSize, transition::Direction};
use std::{
    collections::BTreeMap,
    io::{ErrorKind, Read},
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    thread::sleep,
    time::Duration,
};

/// At a million requests per second, the kernel's buffer fills up in 40 ms.
const READ_INTERVAL: Duration = Duration::from_millis(20);
const CHUNK_BYTES: usize = 1 << 16;

#[derive(Debug, Default)]
pub(crate) struct RequestCounts {
    requests: BTreeMap<(Dev, Direction, u64), u64>,
    /// Throttling pauses by thread ID, in ms.
    pub pauses_ms: BTreeMap<i32, u64>,
}

/// State shared with the reader thread. Times are CLOCK_MONOTONIC times in ns. The window is
/// initially empty.
#[derive(Debug, Default)]
pub(crate) struct TraceWindow {
    pub from_ns: AtomicU64,
    pub to_ns: AtomicU64,
    /// Whether tracing has stopped. If so, the reader returns after the last line.
    pub is_over: AtomicBool,
}

impl RequestCounts {
    fn add(&mut self, line: Line) {
        match line {
            Line::Request {
                dev,
                direction,
                bytes,
            } => *self.requests.entry((dev, direction, bytes)).or_default() += 1,
            Line::Pause { thread, ms } => {
                let sum = self.pauses_ms.entry(thread).or_default();
                *sum = sum.saturating_add(ms);
            }
        }
    }

    pub(crate) fn device_requests(&self, name: &str, dev: Dev) -> DeviceRequests {
        let sizes = |direction| {
            let range = (dev, direction, 0)..=(dev, direction, u64::MAX);
            let requests = self.requests.range(range);
            requests
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
pub(crate) fn count_window(pipe: &mut impl Read, window: &TraceWindow) -> RequestCounts {
    let mut counts = RequestCounts::default();
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut text = Vec::new();
    loop {
        // Load the flag before reading, so the read returns everything that was written before the
        // flag was set.
        let is_over = window.is_over.load(Ordering::Acquire);
        match pipe.read(&mut chunk) {
            Ok(length) if length > 0 => {
                text.extend_from_slice(&chunk[..length]);
                take_lines(&mut text, window, &mut counts);
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            _ if is_over => return counts,
            _ => sleep(READ_INTERVAL),
        }
    }
}

/// Counts all complete lines, and removes them from `text`.
fn take_lines(text: &mut Vec<u8>, window: &TraceWindow, counts: &mut RequestCounts) {
    let Some(end) = text.iter().rposition(|&byte| byte == b'\n') else {
        return;
    };
    let window_ns = window.from_ns.load(Ordering::Acquire)..window.to_ns.load(Ordering::Acquire);
    for line in text[..end].split(|&byte| byte == b'\n') {
        let line = std::str::from_utf8(line).ok().and_then(Line::parse);
        if let Some((at_ns, line)) = line
            && window_ns.contains(&at_ns)
        {
            counts.add(line);
        }
    }
    text.drain(..=end);
}
