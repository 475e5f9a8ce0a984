//! The table of metrics. One row defines the name, unit, label and source of a number wherever it
//! appears: chart series, CSV export, comparison, run list, Prometheus and the OpenAPI schema.

use crate::counters::{CpuUse, DeviceCounts, Memory, Pressure, Residency, StorageIo};
use crate::report::Report;
use crate::report::stats::{DirectionStats, LatencyStats};
use crate::run::RunSummary;
use crate::sample::Sample;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// Unit of a metric.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub enum Unit {
    #[serde(rename = "1")]
    Count,
    #[serde(rename = "1/s")]
    PerSecond,
    #[serde(rename = "bytes")]
    Bytes,
    #[serde(rename = "bytes/s")]
    BytesPerSecond,
    #[serde(rename = "ns")]
    Nanoseconds,
    #[serde(rename = "ms")]
    Milliseconds,
    #[serde(rename = "%")]
    Percent,
}

/// Direction of improvement.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    Higher,
    Lower,
}

/// Value of a metric in one sampling window; `None` if it was not sampled.
#[derive(Clone, Copy)]
pub enum WindowValue {
    /// Count in the window. A series shows it per second, CSV as it is.
    Count(fn(&Sample) -> Option<f64>),
    /// Level at the end of the window, or share of the window.
    Gauge(fn(&Sample) -> Option<f64>),
    /// Latency percentile (0-100) of all directions.
    LatencyPercentile(f64),
    /// Longest latency of all directions.
    LatencyMax,
}

/// One row of [`METRICS`]. A `None` source means that the metric does not appear there.
#[derive(Clone, Copy)]
pub struct Metric {
    pub name: &'static str,
    pub unit: Unit,
    /// Noun phrase for headings and legends.
    pub label: &'static str,
    pub better: Option<Better>,
    pub window: Option<WindowValue>,
    /// Column of `GET /runs/{n}/series`; requires `window`.
    pub in_series: bool,
    /// Column of the CSV export; requires a `Count` or `Gauge` window value.
    pub csv: Option<&'static str>,
    /// Value in a comparison.
    pub report: Option<fn(&Report) -> Option<f64>>,
    /// Value in the run list.
    pub summary: Option<fn(&RunSummary) -> Option<f64>>,
    /// Gauge of running jobs at `/metrics`, labeled by run.
    pub prometheus: Option<&'static str>,
}

use Unit::{Bytes, BytesPerSecond, Count as One, Milliseconds, Nanoseconds, PerSecond, Percent};

/// All metrics, in the order of comparison tables and CSV columns.
#[rustfmt::skip]
pub const METRICS: &[Metric] = &[
    metric("iops", PerSecond, "IOPS").higher().summary(|run| run.iops).prometheus("leadline_run_iops"),
    metric("bytes_per_second", BytesPerSecond, "Bandwidth").higher().summary(|run| run.bytes_per_second),
    metric("window_ms", Milliseconds, "Sampling window").gauge(|sample| Some(sample.window_ms)).csv("window_ms"),

    metric("read_iops", PerSecond, "Read IOPS").higher().count(|sample| Some(sample.read.ios as f64)).series().csv("read_ios").report(|report| iops(&report.read)),
    metric("read_bytes_per_second", BytesPerSecond, "Read bandwidth").higher().count(|sample| Some(sample.read.bytes as f64)).series().csv("read_bytes").report(|report| bandwidth(&report.read)),
    metric("read_lat_mean_ns", Nanoseconds, "Read latency mean").lower().report(|report| report.read.lat_ns.mean),
    metric("read_lat_p50_ns", Nanoseconds, "Read latency p50").lower().report(|report| percentile(&report.read.lat_ns, "50")),
    metric("read_lat_p99_ns", Nanoseconds, "Read latency p99").lower().report(|report| percentile(&report.read.lat_ns, "99")),
    metric("read_lat_p999_ns", Nanoseconds, "Read latency p99.9").lower().report(|report| percentile(&report.read.lat_ns, "99.9")),
    metric("read_intended_lat_p99_ns", Nanoseconds, "Read latency p99 from the intended start").lower().report(|report| intended_p99(&report.read)),
    metric("read_lat_max_ns", Nanoseconds, "Read latency max").lower().report(|report| max(&report.read.lat_ns)),

    metric("write_iops", PerSecond, "Write IOPS").higher().count(|sample| Some(sample.write.ios as f64)).series().csv("write_ios").report(|report| iops(&report.write)),
    metric("write_bytes_per_second", BytesPerSecond, "Write bandwidth").higher().count(|sample| Some(sample.write.bytes as f64)).series().csv("write_bytes").report(|report| bandwidth(&report.write)),
    metric("write_lat_mean_ns", Nanoseconds, "Write latency mean").lower().report(|report| report.write.lat_ns.mean),
    metric("write_lat_p50_ns", Nanoseconds, "Write latency p50").lower().report(|report| percentile(&report.write.lat_ns, "50")),
    metric("write_lat_p99_ns", Nanoseconds, "Write latency p99").lower().report(|report| percentile(&report.write.lat_ns, "99")),
    metric("write_lat_p999_ns", Nanoseconds, "Write latency p99.9").lower().report(|report| percentile(&report.write.lat_ns, "99.9")),
    metric("write_intended_lat_p99_ns", Nanoseconds, "Write latency p99 from the intended start").lower().report(|report| intended_p99(&report.write)),
    metric("write_lat_max_ns", Nanoseconds, "Write latency max").lower().report(|report| max(&report.write.lat_ns)),

    metric("trim_iops", PerSecond, "Trim IOPS").higher().count(|sample| Some(sample.trim.ios as f64)).series().csv("trim_ios").report(|report| iops(&report.trim)),
    metric("trim_bytes_per_second", BytesPerSecond, "Trim bandwidth").higher().count(|sample| Some(sample.trim.bytes as f64)).csv("trim_bytes").report(|report| bandwidth(&report.trim)),
    metric("trim_lat_mean_ns", Nanoseconds, "Trim latency mean").lower().report(|report| report.trim.lat_ns.mean),
    metric("trim_lat_p50_ns", Nanoseconds, "Trim latency p50").lower().report(|report| percentile(&report.trim.lat_ns, "50")),
    metric("trim_lat_p99_ns", Nanoseconds, "Trim latency p99").lower().report(|report| percentile(&report.trim.lat_ns, "99")),
    metric("trim_lat_p999_ns", Nanoseconds, "Trim latency p99.9").lower().report(|report| percentile(&report.trim.lat_ns, "99.9")),
    metric("trim_intended_lat_p99_ns", Nanoseconds, "Trim latency p99 from the intended start").lower().report(|report| intended_p99(&report.trim)),
    metric("trim_lat_max_ns", Nanoseconds, "Trim latency max").lower().report(|report| max(&report.trim.lat_ns)),

    metric("sync_iops", PerSecond, "Syncs per second").count(|sample| Some(sample.sync.ios as f64)).csv("sync_ios"),

    metric("lat_p50_ns", Nanoseconds, "Latency p50").lower().latency(50.0).series().summary(|run| Some(run.lat_p50_ns? as f64)),
    metric("lat_p99_ns", Nanoseconds, "Latency p99").lower().latency(99.0).series().summary(|run| Some(run.lat_p99_ns? as f64)),
    metric("lat_p999_ns", Nanoseconds, "Latency p99.9").lower().latency(99.9).series(),
    metric("lat_max_ns", Nanoseconds, "Latency max").lower().latency_max().series().summary(|run| Some(run.lat_max_ns? as f64)),

    metric("cpu_ns_per_io", Nanoseconds, "CPU time per I/O").lower().report(Report::cpu_ns_per_io),
    metric("achieved_depth", One, "Achieved depth").report(|report| report.achieved_depth),
    metric("in_flight", One, "I/Os in flight").gauge(|sample| Some(sample.in_flight as f64)).series().csv("in_flight"),
    metric("errors", One, "Errors").lower().count(|sample| Some(sample.errors as f64)).csv("errors").report(|report| Some(report.errors.total as f64)),

    metric("device_read_iops", PerSecond, "Device read IOPS").count(|sample| device(sample, |device| device.read_ios)).series().csv("device_read_ios").report(|report| device_rate(report, |device| device.read_ios)),
    metric("device_read_bytes_per_second", BytesPerSecond, "Device read bandwidth").count(|sample| device(sample, |device| device.read_bytes)).series().csv("device_read_bytes").report(|report| device_rate(report, |device| device.read_bytes)),
    metric("device_read_merges", One, "Device read merges").count(|sample| device(sample, |device| device.read_merges)).csv("device_read_merges"),
    metric("device_write_iops", PerSecond, "Device write IOPS").count(|sample| device(sample, |device| device.write_ios)).series().csv("device_write_ios").report(|report| device_rate(report, |device| device.write_ios)),
    metric("device_write_bytes_per_second", BytesPerSecond, "Device write bandwidth").count(|sample| device(sample, |device| device.write_bytes)).series().csv("device_write_bytes").report(|report| device_rate(report, |device| device.write_bytes)),
    metric("device_write_merges", One, "Device write merges").count(|sample| device(sample, |device| device.write_merges)).csv("device_write_merges"),
    metric("device_busy_ms", Milliseconds, "Device busy time").count(|sample| device(sample, |device| device.busy_ms)).csv("device_busy_ms"),
    metric("device_utilization", Percent, "Device utilization").report(|report| Some(report.device.as_ref()?.utilization)),
    metric("duration_ms", Milliseconds, "Measured time").report(|report| Some(report.duration_ms)),

    metric("cached", Bytes, "Page cache").gauge(|sample| memory(sample, |memory| memory.cached)).series().csv("cached_bytes"),
    metric("buffers", Bytes, "Buffers").gauge(|sample| memory(sample, |memory| memory.buffers)).series().csv("buffers_bytes"),
    metric("dirty", Bytes, "Dirty").gauge(|sample| memory(sample, |memory| memory.dirty)).series().csv("dirty_bytes"),
    metric("writeback", Bytes, "Writeback").gauge(|sample| memory(sample, |memory| memory.writeback)).series().csv("writeback_bytes"),
    metric("storage_read_bytes", Bytes, "Storage reads of the runner").count(|sample| storage(sample, |storage| storage.read_bytes)).csv("storage_read_bytes"),
    metric("storage_write_bytes", Bytes, "Storage writes of the runner").count(|sample| storage(sample, |storage| storage.write_bytes)).csv("storage_write_bytes"),
    metric("target_cached", Bytes, "Target in the page cache").gauge(|sample| residency(sample, |target| Some(target.cached))).series().csv("target_cached_bytes"),
    metric("target_dirty", Bytes, "Target dirty").gauge(|sample| residency(sample, |target| target.dirty)).series().csv("target_dirty_bytes"),

    metric("process_user", Percent, "Runner CPU, user").gauge(|sample| cpu(sample, |cpu| cpu.process_user)).series().csv("process_user_percent"),
    metric("process_system", Percent, "Runner CPU, system").gauge(|sample| cpu(sample, |cpu| cpu.process_system)).series().csv("process_system_percent"),
    metric("host_busy", Percent, "Host CPU").gauge(|sample| cpu(sample, |cpu| cpu.host_user + cpu.host_system + cpu.host_steal)).series(),
    metric("io_some", Percent, "I/O pressure, some").gauge(|sample| pressure(sample, |pressure| pressure.io_some)).series().csv("io_some_percent"),
    metric("io_full", Percent, "I/O pressure, full").gauge(|sample| pressure(sample, |pressure| pressure.io_full)).series().csv("io_full_percent"),
];

const fn metric(name: &'static str, unit: Unit, label: &'static str) -> Metric {
    Metric {
        name,
        unit,
        label,
        better: None,
        window: None,
        in_series: false,
        csv: None,
        report: None,
        summary: None,
        prometheus: None,
    }
}

impl Metric {
    const fn higher(mut self) -> Self {
        self.better = Some(Better::Higher);
        self
    }

    const fn lower(mut self) -> Self {
        self.better = Some(Better::Lower);
        self
    }

    const fn count(mut self, value: fn(&Sample) -> Option<f64>) -> Self {
        self.window = Some(WindowValue::Count(value));
        self
    }

    const fn gauge(mut self, value: fn(&Sample) -> Option<f64>) -> Self {
        self.window = Some(WindowValue::Gauge(value));
        self
    }

    const fn latency(mut self, percentile: f64) -> Self {
        self.window = Some(WindowValue::LatencyPercentile(percentile));
        self
    }

    const fn latency_max(mut self) -> Self {
        self.window = Some(WindowValue::LatencyMax);
        self
    }

    const fn series(mut self) -> Self {
        self.in_series = true;
        self
    }

    const fn csv(mut self, name: &'static str) -> Self {
        self.csv = Some(name);
        self
    }

    const fn report(mut self, value: fn(&Report) -> Option<f64>) -> Self {
        self.report = Some(value);
        self
    }

    const fn summary(mut self, value: fn(&RunSummary) -> Option<f64>) -> Self {
        self.summary = Some(value);
        self
    }

    const fn prometheus(mut self, name: &'static str) -> Self {
        self.prometheus = Some(name);
        self
    }

    /// Value of a CSV cell.
    pub fn window_value(&self, sample: &Sample) -> Option<f64> {
        match self.window? {
            WindowValue::Count(value) | WindowValue::Gauge(value) => value(sample),
            WindowValue::LatencyPercentile(_) | WindowValue::LatencyMax => None,
        }
    }
}

fn iops(stats: &DirectionStats) -> Option<f64> {
    (stats.ios > 0).then_some(stats.iops)
}

fn bandwidth(stats: &DirectionStats) -> Option<f64> {
    (stats.ios > 0).then_some(stats.bytes_per_second)
}

fn percentile(latency: &LatencyStats, percentile: &str) -> Option<f64> {
    latency.percentiles.get(percentile).map(|ns| *ns as f64)
}

fn intended_p99(stats: &DirectionStats) -> Option<f64> {
    percentile(stats.intended_lat_ns.as_ref()?, "99")
}

fn max(latency: &LatencyStats) -> Option<f64> {
    latency.max.map(|ns| ns as f64)
}

fn device_rate(report: &Report, count: fn(&DeviceCounts) -> u64) -> Option<f64> {
    let device = report.device.as_ref()?;
    (report.duration_ms > 0.0).then(|| count(&device.counts) as f64 / report.duration_ms * 1e3)
}

fn device(sample: &Sample, count: fn(&DeviceCounts) -> u64) -> Option<f64> {
    sample.device.as_ref().map(|device| count(device) as f64)
}

fn memory(sample: &Sample, bytes: fn(&Memory) -> u64) -> Option<f64> {
    sample.memory.as_ref().map(|memory| bytes(memory) as f64)
}

fn storage(sample: &Sample, bytes: fn(&StorageIo) -> u64) -> Option<f64> {
    sample.storage.as_ref().map(|storage| bytes(storage) as f64)
}

fn residency(sample: &Sample, bytes: fn(&Residency) -> Option<u64>) -> Option<f64> {
    bytes(sample.residency.as_ref()?).map(|bytes| bytes as f64)
}

fn cpu(sample: &Sample, percent: fn(&CpuUse) -> f64) -> Option<f64> {
    sample.cpu.as_ref().map(percent)
}

fn pressure(sample: &Sample, percent: fn(&Pressure) -> f64) -> Option<f64> {
    sample.pressure.as_ref().map(percent)
}

/// OpenAPI enum of the series columns.
pub struct SeriesColumnName;

impl ToSchema for SeriesColumnName {
    fn name() -> Cow<'static, str> {
        "SeriesColumnName".into()
    }
}

impl PartialSchema for SeriesColumnName {
    fn schema() -> RefOr<Schema> {
        names(|metric| metric.in_series)
    }
}

/// OpenAPI enum of the compared metrics.
pub struct ComparedMetricName;

impl ToSchema for ComparedMetricName {
    fn name() -> Cow<'static, str> {
        "ComparedMetricName".into()
    }
}

impl PartialSchema for ComparedMetricName {
    fn schema() -> RefOr<Schema> {
        names(|metric| metric.report.is_some())
    }
}

fn names(filter: fn(&Metric) -> bool) -> RefOr<Schema> {
    let names = METRICS
        .iter()
        .filter(|metric| filter(metric))
        .map(|metric| metric.name);
    ObjectBuilder::new()
        .schema_type(Type::String)
        .enum_values(Some(names))
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique() {
        let names: BTreeSet<&str> = METRICS.iter().map(|metric| metric.name).collect();
        assert_eq!(names.len(), METRICS.len());
        let csv: Vec<&str> = METRICS.iter().filter_map(|metric| metric.csv).collect();
        assert_eq!(csv.iter().collect::<BTreeSet<_>>().len(), csv.len());
    }

    #[test]
    fn every_surface_has_a_source() {
        for metric in METRICS {
            assert!(
                !metric.in_series || metric.window.is_some(),
                "{}",
                metric.name
            );
            let has_cell = matches!(
                metric.window,
                Some(WindowValue::Count(_) | WindowValue::Gauge(_))
            );
            assert!(metric.csv.is_none() || has_cell, "{}", metric.name);
        }
    }
}
