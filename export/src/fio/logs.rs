//! fio's log files with one line per direction and sampling window, as with `log_avg_msec`:
//! `time (ms), value, direction, block size, offset[, ...]` (`iolog.c`).

use leadline_protocol::{
    counters::IoCounts,
    histogram::{self, Buckets},
    phase::Phase,
    sample::Sample,
};
use std::fmt::Write;

/// Number of fio's histogram buckets. Leadline's are the same, but there are more of them.
const FIO_BUCKETS: usize = 1856;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LogKind {
    /// In KiB/s.
    Bandwidth,
    Iops,
    /// Mean total latency in ns.
    Latency,
    /// I/Os in each bucket of total latency. fio's file has completion latencies, which are not
    /// recorded for each window.
    LatencyHistogram,
}

impl LogKind {
    pub const ALL: [Self; 4] = [
        Self::Bandwidth,
        Self::Iops,
        Self::Latency,
        Self::LatencyHistogram,
    ];

    /// As in `NAME_bw.1.log`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bandwidth => "bw",
            Self::Iops => "iops",
            Self::Latency => "lat",
            Self::LatencyHistogram => "clat_hist",
        }
    }

    /// Returns the time of a line that [`Log::lines`] could have returned; `None` for other text.
    /// `line` has no line end.
    pub fn time_of(self, line: &str) -> Option<u64> {
        let mut cells = line.split(", ");
        let time = number(cells.next()?)?;
        let columns = match self {
            Self::LatencyHistogram => {
                let direction = cells.next()?;
                is_direction(direction).then_some(1 + FIO_BUCKETS)
            }
            _ => {
                number(cells.next()?)?;
                let direction = cells.next()?;
                let has_no_position = cells.clone().all(|cell| cell == "0");
                (is_direction(direction) && has_no_position).then_some(2)
            }
        };
        let rest: Option<Vec<u64>> = cells.map(number).collect();
        (rest?.len() == columns?).then_some(time)
    }
}

fn is_direction(cell: &str) -> bool {
    ["0", "1", "2"].contains(&cell)
}

/// A number as it is written; not `+1` or `01`.
fn number(cell: &str) -> Option<u64> {
    let value: u64 = cell.parse().ok()?;
    (value.to_string() == cell).then_some(value)
}

/// Writes the lines of one log.
pub struct Log {
    kind: LogKind,
    /// Start of the measured window, in the time of the samples.
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
        for (direction, counts) in [&sample.read, &sample.write, &sample.trim]
            .iter()
            .enumerate()
        {
            if self.has_value(counts) {
                let line = self.line(time, direction, counts, sample.window_ms);
                let _ = writeln!(lines, "{line}");
            }
        }
        lines
    }

    /// In exports of the server, the histograms of 20 samples are merged into the last one
    /// (`query::export`), so that a line of latencies covers the time since the previous line.
    fn has_value(&self, counts: &IoCounts) -> bool {
        match self.kind {
            LogKind::Bandwidth | LogKind::Iops => counts.ios > 0,
            LogKind::Latency | LogKind::LatencyHistogram => !counts.lat_ns.is_empty(),
        }
    }

    fn line(&self, time: u64, direction: usize, counts: &IoCounts, window_ms: f64) -> String {
        let per_second = |count: f64| (count * 1e3 / window_ms).round() as u64;
        let value = match self.kind {
            LogKind::Bandwidth => per_second(counts.bytes as f64 / 1024.0),
            LogKind::Iops => per_second(counts.ios as f64),
            LogKind::Latency => mean_ns(&counts.lat_ns),
            LogKind::LatencyHistogram => {
                let block_size = counts.bytes / counts.ios.max(1);
                let counts = bucket_counts(&counts.lat_ns);
                return format!("{time}, {direction}, {block_size}, {counts}");
            }
        };
        // As in fio, averages have no block size and no offset.
        format!("{time}, {value}, {direction}, 0, 0")
    }
}

fn mean_ns(buckets: &Buckets) -> u64 {
    let count: u64 = buckets.iter().map(|(_, count)| count).sum();
    let latencies = buckets
        .iter()
        .map(|(bucket, count)| histogram::midpoint_of(*bucket as usize) as f64 * *count as f64);
    (latencies.sum::<f64>() / count.max(1) as f64).round() as u64
}

fn bucket_counts(buckets: &Buckets) -> String {
    let mut counts = vec![0_u64; FIO_BUCKETS];
    for (bucket, count) in buckets {
        counts[(*bucket as usize).min(FIO_BUCKETS - 1)] += count;
    }
    let texts: Vec<String> = counts.iter().map(ToString::to_string).collect();
    texts.join(", ")
}
