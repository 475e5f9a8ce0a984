//! Throughput in windows of 500 ms, which is the default of fio's `bwavgtime` and `iopsavgtime`.

use leadline_protocol::{counters::IoCounts, phase::Phase, sample::Sample};

const WINDOW_MS: f64 = 500.0;
/// How much shorter than `WINDOW_MS` a window may be: half of the shortest sampling window. The end
/// of a window rarely coincides with a sample, so the window ends with the closest sample.
const TOLERANCE_MS: f64 = 5.0;

/// Throughput of a run in each direction.
#[derive(Clone, Debug, Default)]
pub struct Windows {
    open: OpenWindow,
    pub read: Throughput,
    pub write: Throughput,
    pub trim: Throughput,
}

#[derive(Clone, Debug, Default)]
struct OpenWindow {
    ms: f64,
    read: Counts,
    write: Counts,
    trim: Counts,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    ios: u64,
    bytes: u64,
}

/// One value per window.
#[derive(Clone, Debug, Default)]
pub struct Throughput {
    pub bytes_per_second: Vec<f64>,
    pub iops: Vec<f64>,
}

impl Windows {
    /// Adds a sample. Ignores samples outside the measurement. A last window shorter than 500 ms is
    /// dropped.
    pub fn add(&mut self, sample: &Sample) {
        if sample.phase != Phase::Measure {
            return;
        }
        let open = &mut self.open;
        open.ms += sample.window_ms;
        open.read.add(&sample.read);
        open.write.add(&sample.write);
        open.trim.add(&sample.trim);
        if open.ms >= WINDOW_MS - TOLERANCE_MS {
            let closed = std::mem::take(open);
            self.read.push(closed.read, closed.ms);
            self.write.push(closed.write, closed.ms);
            self.trim.push(closed.trim, closed.ms);
        }
    }
}

impl Counts {
    fn add(&mut self, counts: &IoCounts) {
        self.ios = self.ios.saturating_add(counts.ios);
        self.bytes = self.bytes.saturating_add(counts.bytes);
    }
}

impl Throughput {
    fn push(&mut self, counts: Counts, ms: f64) {
        self.bytes_per_second.push(counts.bytes as f64 * 1e3 / ms);
        self.iops.push(counts.ios as f64 * 1e3 / ms);
    }
}

/// Minimum, maximum, mean and sample standard deviation; all 0 without values, as in fio.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    pub min: f64,
    pub max: f64,
    pub mean: f64,
    pub stddev: f64,
    pub count: usize,
}

impl Spread {
    pub fn of(values: &[f64]) -> Self {
        if values.is_empty() {
            return Self::default();
        }
        let count = values.len();
        let mean = values.iter().sum::<f64>() / count as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Self {
            min: values.iter().copied().fold(f64::INFINITY, f64::min),
            max: values.iter().copied().fold(0.0, f64::max),
            mean,
            stddev: (squares / count.saturating_sub(1).max(1) as f64).sqrt(),
            count,
        }
    }
}
