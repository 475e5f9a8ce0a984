//! fio's log files with one line per direction and window, as with `log_avg_msec`:
//! `time (ms), value, direction, block size[, offset], priority` (`iolog.c`).

pub mod worker;

use leadline_protocol::{
    counters::IoCounts,
    histogram::{self, Buckets},
    phase::Phase,
    sample::Sample,
};
use std::fmt::Write;

/// Number of fio's histogram buckets. Leadline has the same buckets, and more above them.
const FIO_BUCKETS: usize = 1856;
/// With `log_prio`: priority of I/Os without an explicit priority.
const NO_PRIORITY: &str = "0x0000";

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LogKind {
    /// In KiB/s.
    Bandwidth,
    Iops,
    /// Mean total latency in ns.
    Latency,
    /// Mean submission latency in ns. Not recorded in samples.
    SubmissionLatency,
    /// Mean completion latency in ns. Not recorded in samples.
    CompletionLatency,
    /// Number of I/Os by completion latency; by total latency if derived from samples.
    LatencyHistogram,
}

impl LogKind {
    /// Logs of a whole run that can be derived from samples.
    pub const OF_RUN: [Self; 4] = [
        Self::Bandwidth,
        Self::Iops,
        Self::Latency,
        Self::LatencyHistogram,
    ];

    /// Part of the file name, such as `bw` in `NAME_bw.1.log`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bandwidth => "bw",
            Self::Iops => "iops",
            Self::Latency => "lat",
            Self::SubmissionLatency => "slat",
            Self::CompletionLatency => "clat",
            Self::LatencyHistogram => "clat_hist",
        }
    }

    /// fio's option for the log.
    pub fn option(self) -> &'static str {
        match self {
            Self::Bandwidth => "write_bw_log",
            Self::Iops => "write_iops_log",
            Self::Latency | Self::SubmissionLatency | Self::CompletionLatency => "write_lat_log",
            Self::LatencyHistogram => "write_hist_log",
        }
    }

    /// Whether fio writes a line for the last window if it is incomplete.
    fn has_last_window(self) -> bool {
        matches!(
            self,
            Self::Latency | Self::SubmissionLatency | Self::CompletionLatency
        )
    }
}

/// Options that change the lines of a log.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct LogFormat {
    /// `log_offset`: a column for the offset, which is 0 in averages.
    pub has_offset: bool,
    /// `log_prio`: the priority is hexadecimal.
    pub has_priority: bool,
    /// `log_hist_coarseness`: log2 of the number of buckets that are merged into one.
    pub coarseness: u32,
}

impl LogFormat {
    /// Returns the timestamp of a log line of this type; `None` for other text. `line` has no line
    /// terminator.
    pub fn time_of(&self, kind: LogKind, line: &str) -> Option<u64> {
        let mut cells = line.split(", ");
        let time = number(cells.next()?)?;
        if kind == LogKind::LatencyHistogram {
            let is_direction = is_direction(cells.next()?);
            let rest: Option<Vec<u64>> = cells.map(number).collect();
            let columns = 1 + (FIO_BUCKETS >> self.coarseness);
            return (is_direction && rest?.len() == columns).then_some(time);
        }
        number(cells.next()?)?;
        let is_direction = is_direction(cells.next()?);
        (is_direction && cells.eq(self.constant_columns())).then_some(time)
    }

    /// The columns for block size, offset and priority. As in fio, they are 0 for averages.
    fn constant_columns(&self) -> impl Iterator<Item = &'static str> {
        let zeros = 1 + usize::from(self.has_offset);
        let priority = if self.has_priority { NO_PRIORITY } else { "0" };
        std::iter::repeat_n("0", zeros).chain([priority])
    }

    fn counts(&self, buckets: &Buckets) -> String {
        let mut counts = vec![0_u64; FIO_BUCKETS >> self.coarseness];
        let last = counts.len() - 1;
        for (bucket, count) in buckets {
            counts[(*bucket as usize >> self.coarseness).min(last)] += count;
        }
        let texts: Vec<String> = counts.iter().map(ToString::to_string).collect();
        texts.join(", ")
    }
}

fn is_direction(cell: &str) -> bool {
    ["0", "1", "2"].contains(&cell)
}

/// A decimal number without a sign or leading zeros.
fn number(cell: &str) -> Option<u64> {
    let value: u64 = cell.parse().ok()?;
    (value.to_string() == cell).then_some(value)
}

/// I/Os of one direction in a window.
struct Window<'a> {
    ios: u64,
    bytes: u64,
    /// Latencies of the type that the log records.
    latencies: &'a Buckets,
    ms: f64,
}

impl Window<'_> {
    /// Whether the window has a line in this log. In the server's exports, the histograms of 20
    /// samples are merged into the last one (`query::export`), so a line of latencies covers the
    /// time since the previous line.
    fn has_value(&self, kind: LogKind) -> bool {
        match kind {
            LogKind::Bandwidth | LogKind::Iops => self.ios > 0,
            _ => !self.latencies.is_empty(),
        }
    }

    fn line(&self, kind: LogKind, format: &LogFormat, time: u64, direction: usize) -> String {
        let per_second = |count: f64| (count * 1e3 / self.ms).round() as u64;
        let value = match kind {
            LogKind::Bandwidth => per_second(self.bytes as f64 / 1024.0),
            LogKind::Iops => per_second(self.ios as f64),
            LogKind::LatencyHistogram => {
                let block_size = self.bytes / self.ios.max(1);
                let counts = format.counts(self.latencies);
                return format!("{time}, {direction}, {block_size}, {counts}");
            }
            _ => mean_ns(self.latencies),
        };
        let columns: Vec<&str> = format.constant_columns().collect();
        format!("{time}, {value}, {direction}, {}", columns.join(", "))
    }
}

/// Formats the lines of one log of a run.
pub struct Log {
    kind: LogKind,
    /// Start of the measured window, on the samples' time axis.
    start_ms: Option<f64>,
}

impl Log {
    pub fn new(kind: LogKind) -> Self {
        Self {
            kind,
            start_ms: None,
        }
    }

    pub fn kind(&self) -> LogKind {
        self.kind
    }

    /// The lines for a sample that ends at `t_ms`; empty outside the measured window.
    pub fn lines(&mut self, t_ms: f64, sample: &Sample) -> String {
        if sample.phase != Phase::Measure {
            return String::new();
        }
        let start_ms = *self.start_ms.get_or_insert(t_ms - sample.window_ms);
        let time = (t_ms - start_ms).round() as u64;
        let mut lines = String::new();
        let directions: [&IoCounts; 3] = [&sample.read, &sample.write, &sample.trim];
        for (direction, counts) in directions.into_iter().enumerate() {
            let window = Window {
                ios: counts.ios,
                bytes: counts.bytes,
                latencies: &counts.lat_ns,
                ms: sample.window_ms,
            };
            if window.has_value(self.kind) {
                let line = window.line(self.kind, &LogFormat::default(), time, direction);
                let _ = writeln!(lines, "{line}");
            }
        }
        lines
    }
}

fn mean_ns(buckets: &Buckets) -> u64 {
    let count: u64 = buckets.iter().map(|(_, count)| count).sum();
    let latencies = buckets
        .iter()
        .map(|(bucket, count)| histogram::midpoint_of(*bucket as usize) as f64 * *count as f64);
    (latencies.sum::<f64>() / count.max(1) as f64).round() as u64
}
