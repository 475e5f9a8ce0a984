//! Logs of one worker: fio writes a log for each clone of a job.

use crate::fio::logs::{LogFormat, LogKind, Window};
use leadline_protocol::histogram::{Buckets, merge};
use std::fmt::Write;

/// How much shorter than the interval of a log a window may be, in ms: half of the shortest
/// sampling window.
const TOLERANCE_MS: f64 = 5.0;

/// I/Os that a worker completed between two samples.
#[derive(Clone, Debug, Default)]
pub struct WorkerWindow {
    /// Index of the job in the run.
    pub job: usize,
    /// Index of the worker in the job.
    pub worker: u32,
    /// End of the window, in ms since the start of the job's measured window.
    pub end_ms: f64,
    /// Length of the window.
    pub ms: f64,
    /// Unix time of its end, in ms.
    pub unix_ms: u64,
    /// Reads, writes and trims.
    pub directions: [DirectionWindow; 3],
}

/// I/Os of one direction in a window.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct DirectionWindow {
    pub ios: u64,
    pub bytes: u64,
    pub lat_ns: Buckets,
    /// Empty for synchronous engines, as in fio.
    pub slat_ns: Buckets,
    pub clat_ns: Buckets,
}

impl DirectionWindow {
    fn add(&mut self, other: &Self) {
        self.ios += other.ios;
        self.bytes += other.bytes;
        for (sum, buckets) in [
            (&mut self.lat_ns, &other.lat_ns),
            (&mut self.slat_ns, &other.slat_ns),
            (&mut self.clat_ns, &other.clat_ns),
        ] {
            *sum = merge([&*sum, buckets]);
        }
    }

    fn latencies(&self, kind: LogKind) -> &Buckets {
        match kind {
            LogKind::SubmissionLatency => &self.slat_ns,
            LogKind::CompletionLatency | LogKind::LatencyHistogram => &self.clat_ns,
            _ => &self.lat_ns,
        }
    }
}

/// Formats the lines of one log of a worker.
pub struct WorkerLog {
    pub kind: LogKind,
    pub format: LogFormat,
    /// 0 writes one line per window.
    interval_ms: f64,
    /// `log_unix_epoch`: times are Unix times.
    has_unix_time: bool,
    /// Windows since the last line.
    open: WorkerWindow,
}

impl WorkerLog {
    pub fn new(kind: LogKind, format: LogFormat, interval_ms: u32, has_unix_time: bool) -> Self {
        Self {
            kind,
            format,
            interval_ms: interval_ms.into(),
            has_unix_time,
            open: WorkerWindow::default(),
        }
    }

    /// Adds a window. If an interval ended, returns its lines; otherwise returns an empty string.
    pub fn add(&mut self, window: &WorkerWindow) -> String {
        let open = &mut self.open;
        let intervals = |ms: f64| ((ms + TOLERANCE_MS) / self.interval_ms).floor();
        let is_complete =
            self.interval_ms == 0.0 || intervals(window.end_ms) > intervals(open.end_ms);
        open.ms += window.ms;
        open.end_ms = window.end_ms;
        open.unix_ms = window.unix_ms;
        let directions = open.directions.iter_mut().zip(&window.directions);
        directions.for_each(|(sum, direction)| sum.add(direction));
        match is_complete {
            true => self.close(),
            false => String::new(),
        }
    }

    /// Returns the lines of the last, incomplete interval if fio writes them for this type of log.
    pub fn finish(&mut self) -> String {
        match self.kind.has_last_window() {
            true => self.close(),
            false => String::new(),
        }
    }

    fn close(&mut self) -> String {
        let next = WorkerWindow {
            end_ms: self.open.end_ms,
            ..WorkerWindow::default()
        };
        let open = std::mem::replace(&mut self.open, next);
        let time = match self.has_unix_time {
            true => open.unix_ms,
            false => open.end_ms.round() as u64,
        };
        let mut lines = String::new();
        for (number, direction) in open.directions.iter().enumerate() {
            let window = Window {
                ios: direction.ios,
                bytes: direction.bytes,
                latencies: direction.latencies(self.kind),
                ms: open.ms,
            };
            if window.has_value(self.kind) {
                let line = window.line(self.kind, &self.format, time, number);
                let _ = writeln!(lines, "{line}");
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(end_ms: f64, ms: f64, reads: u64) -> WorkerWindow {
        let read = DirectionWindow {
            ios: reads,
            bytes: reads * 4096,
            lat_ns: vec![(100, reads)],
            slat_ns: vec![(40, reads)],
            clat_ns: vec![(60, reads)],
        };
        WorkerWindow {
            end_ms,
            ms,
            unix_ms: 1_000_000 + end_ms as u64,
            directions: [read, DirectionWindow::default(), DirectionWindow::default()],
            ..WorkerWindow::default()
        }
    }

    fn lines(kind: LogKind, format: LogFormat, interval_ms: u32) -> String {
        let mut log = WorkerLog::new(kind, format, interval_ms, false);
        let windows = [(50.2, 10), (99.8, 30), (150.1, 5), (200.0, 5), (230.0, 2)];
        let mut last_ms = 0.0;
        let mut text = String::new();
        for (end_ms, reads) in windows {
            text += &log.add(&window(end_ms, end_ms - last_ms, reads));
            last_ms = end_ms;
        }
        text + &log.finish()
    }

    #[test]
    fn windows_are_collected_until_the_interval_ends() {
        let plain = LogFormat::default();
        let iops = lines(LogKind::Iops, plain, 100);
        assert_eq!(iops, "100, 401, 0, 0, 0\n200, 100, 0, 0, 0\n");
        let bandwidth = lines(LogKind::Bandwidth, plain, 100);
        assert_eq!(bandwidth, "100, 1603, 0, 0, 0\n200, 399, 0, 0, 0\n");
        // Only latencies have a line for the last, incomplete interval.
        let latency = lines(LogKind::Latency, plain, 100);
        assert_eq!(
            latency,
            "100, 100, 0, 0, 0\n200, 100, 0, 0, 0\n230, 100, 0, 0, 0\n"
        );
        let slat = lines(LogKind::SubmissionLatency, plain, 1000);
        assert_eq!(slat, "230, 40, 0, 0, 0\n");
        assert_eq!(lines(LogKind::Iops, plain, 0).lines().count(), 5);
    }

    #[test]
    fn options_change_the_columns_as_in_fio() {
        let offset = LogFormat {
            has_offset: true,
            ..LogFormat::default()
        };
        let priority = LogFormat {
            has_priority: true,
            ..offset
        };
        assert!(lines(LogKind::Iops, offset, 200).ends_with("200, 250, 0, 0, 0, 0\n"));
        assert!(lines(LogKind::Iops, priority, 200).ends_with("200, 250, 0, 0, 0, 0x0000\n"));
        let coarse = LogFormat {
            coarseness: 3,
            ..LogFormat::default()
        };
        let histogram = lines(LogKind::LatencyHistogram, coarse, 200);
        let cells: Vec<&str> = histogram.trim_end().split(", ").collect();
        assert_eq!(cells[..3], ["200", "0", "4096"]);
        assert_eq!(cells.len(), 3 + 1856 / 8);
        assert_eq!(cells[3 + 60 / 8], "50");
        for (kind, format, line) in [
            (LogKind::Iops, offset, "200, 250, 0, 0, 0, 0"),
            (LogKind::Iops, priority, "200, 250, 0, 0, 0, 0x0000"),
            (LogKind::LatencyHistogram, coarse, histogram.trim_end()),
        ] {
            assert_eq!(format.time_of(kind, line), Some(200));
            assert_eq!(LogFormat::default().time_of(kind, line), None);
        }
    }

    #[test]
    fn times_can_be_unix_times() {
        let mut log = WorkerLog::new(LogKind::Iops, LogFormat::default(), 100, true);
        assert_eq!(log.add(&window(100.0, 100.0, 1)), "1000100, 10, 0, 0, 0\n");
    }
}
