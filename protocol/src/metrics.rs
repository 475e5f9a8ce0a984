//! The metrics table. Each row defines the name, unit, label and source of a number wherever it
//! appears: time series, CSV export, comparison, Prometheus and the OpenAPI schema.

use crate::{
    counters::DeviceCounts,
    report::{
        Report,
        stats::{DirectionStats, LatencyStats},
    },
    sample::Sample,
};
use Unit::{Bytes, BytesPerSecond, Count as One, Milliseconds, Nanoseconds, PerSecond, Percent};
use serde::{Deserialize, Serialize};
use std::{borrow::Cow, sync::LazyLock};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        RefOr, Schema,
        schema::{ObjectBuilder, Type},
    },
};

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

/// Which direction is an improvement.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    Higher,
    Lower,
}

/// How to read a metric from one sampling window; `None` if it was not sampled.
#[derive(Clone, Copy)]
pub enum WindowValue {
    /// Count within the window. Shown per second in series, and unchanged in CSV.
    Count(fn(&Sample) -> Option<f64>),
    /// Level at the end of the window, or share of the window.
    Gauge(fn(&Sample) -> Option<f64>),
    /// Latency percentile (0-100) across all directions.
    LatencyPercentile(f64),
    /// Maximum latency across all directions.
    LatencyMax,
}

/// I/Os required for a percentile: about 10 must be slower, so that chance does not determine the
/// percentile.
#[derive(Clone, Copy)]
pub struct RequiredIos {
    pub minimum: u64,
    /// Returns the run's number of I/Os.
    pub count: fn(&Report) -> u64,
}

/// A row of the table. The metric is omitted from outputs whose field is `None` or false.
#[derive(Clone, Copy)]
pub struct Metric {
    pub name: &'static str,
    pub unit: Unit,
    /// Noun phrase for headings and legends.
    pub label: &'static str,
    pub better: Option<Better>,
    pub window: Option<WindowValue>,
    /// Whether it is a column of `GET /runs/{n}/series`; requires `window`.
    pub in_series: bool,
    /// Column name in the CSV export; requires `window`.
    pub csv: Option<&'static str>,
    /// Value used in comparisons.
    pub report: Option<fn(&Report) -> Option<f64>>,
    /// Whether the value in a comparison is a lower bound.
    pub lower_bound: fn(&Report) -> bool,
    /// Whether comparisons test for a change in the value. Requires `report` and `better`.
    pub is_tested: bool,
    /// Number of I/Os that a run needs for this value to be tested.
    pub required_ios: Option<RequiredIos>,
    /// Name of a per-run gauge of active runs in `/metrics`.
    pub prometheus: Option<&'static str>,
}

/// A function that returns a field of a sample; `?` unwraps optional parts.
macro_rules! sample {
    ($($field:tt)+) => { |sample| Some(sample.$($field)+ as f64) };
}

/// A function that returns a field of a report.
macro_rules! report {
    ($($field:tt)+) => { |report| Some(report.$($field)+ as f64) };
}

/// Metrics for one direction. `$tail`, such as `.series()`, is appended to the bandwidth metric.
macro_rules! direction {
    ($name:literal, $label:literal, $field:ident, $($tail:tt)*) => {[
        metric(concat!($name, "_iops"), PerSecond, concat!($label, " IOPS")).higher().count(sample!($field.ios)).series().csv(concat!($name, "_ios")).report(|report| if_used(&report.$field, report.$field.iops)).tested(),
        metric(concat!($name, "_bytes_per_second"), BytesPerSecond, concat!($label, " bandwidth")).higher().count(sample!($field.bytes)).csv(concat!($name, "_bytes")).report(|report| if_used(&report.$field, report.$field.bytes_per_second))$($tail)*.tested(),
        metric(concat!($name, "_lat_mean_ns"), Nanoseconds, concat!($label, " mean latency")).lower().report(report!($field.lat_ns.mean?)).tested(),
        metric(concat!($name, "_lat_p50_ns"), Nanoseconds, concat!($label, " p50 latency")).lower().report(|report| percentile(&report.$field.lat_ns, "50")).lower_bound(|report| report.$field.lat_ns.is_lower_bound("50")).tested().requires(20, |report| report.$field.lat_ns.count),
        metric(concat!($name, "_lat_p99_ns"), Nanoseconds, concat!($label, " p99 latency")).lower().report(|report| percentile(&report.$field.lat_ns, "99")).lower_bound(|report| report.$field.lat_ns.is_lower_bound("99")).tested().requires(1_000, |report| report.$field.lat_ns.count),
        metric(concat!($name, "_lat_p999_ns"), Nanoseconds, concat!($label, " p99.9 latency")).lower().report(|report| percentile(&report.$field.lat_ns, "99.9")).lower_bound(|report| report.$field.lat_ns.is_lower_bound("99.9")).tested().requires(10_000, |report| report.$field.lat_ns.count),
        metric(concat!($name, "_lat_p9999_ns"), Nanoseconds, concat!($label, " p99.99 latency")).lower().report(|report| percentile(&report.$field.lat_ns, "99.99")).lower_bound(|report| report.$field.lat_ns.is_lower_bound("99.99")).tested().requires(100_000, |report| report.$field.lat_ns.count),
        metric(concat!($name, "_intended_lat_p99_ns"), Nanoseconds, concat!($label, " p99 latency from the intended start")).lower().report(|report| percentile(report.$field.intended_lat_ns.as_ref()?, "99")).lower_bound(|report| report.$field.intended_lat_ns.as_ref().is_some_and(|stats| stats.is_lower_bound("99"))).tested().requires(1_000, |report| report.$field.intended_lat_ns.as_ref().map_or(0, |stats| stats.count)),
        metric(concat!($name, "_lat_max_ns"), Nanoseconds, concat!($label, " max latency")).lower().report(report!($field.lat_ns.max?)).lower_bound(|report| report.$field.lat_ns.is_lower_bound("max")),
    ]};
}

/// All metrics, in the order of comparison tables and CSV columns.
pub static METRICS: LazyLock<Vec<Metric>> = LazyLock::new(|| {
    [
        TOTALS,
        &direction!("read", "Read", read, .series()),
        &direction!("write", "Write", write, .series()),
        &direction!("trim", "Trim", trim,),
        OTHERS,
    ]
    .concat()
});

#[rustfmt::skip]
const TOTALS: &[Metric] = &[
    metric("iops", PerSecond, "IOPS").higher().count(|sample| Some(sample.ios() as f64)).prometheus("leadline_run_iops"),
    metric("window_ms", Milliseconds, "Sampling window").gauge(sample!(window_ms)).csv("window_ms"),
];

#[rustfmt::skip]
const OTHERS: &[Metric] = &[
    metric("sync_iops", PerSecond, "Syncs per second").count(sample!(sync.ios)).csv("sync_ios"),
    metric("sync_lat_mean_ns", Nanoseconds, "Sync mean latency").lower().report(report!(sync.lat_ns.mean?)).tested(),
    metric("sync_lat_p99_ns", Nanoseconds, "Sync p99 latency").lower().report(|report| percentile(&report.sync.lat_ns, "99")).lower_bound(|report| report.sync.lat_ns.is_lower_bound("99")).tested().requires(1_000, |report| report.sync.lat_ns.count),

    metric("lat_p50_ns", Nanoseconds, "p50 latency").lower().latency(50.0).csv("lat_p50_ns"),
    metric("lat_p99_ns", Nanoseconds, "p99 latency").lower().latency(99.0).csv("lat_p99_ns"),
    metric("lat_p999_ns", Nanoseconds, "p99.9 latency").lower().latency(99.9).csv("lat_p999_ns"),
    metric("lat_max_ns", Nanoseconds, "Max latency").lower().latency_max().csv("lat_max_ns"),

    metric("cpu_ns_per_io", Nanoseconds, "CPU time per I/O").lower().report(Report::cpu_ns_per_io).tested(),
    metric("achieved_depth", One, "Achieved depth").report(report!(achieved_depth?)),
    metric("in_flight", One, "I/Os in flight").gauge(sample!(in_flight)).series().csv("in_flight"),
    metric("errors", One, "Errors").lower().count(sample!(errors)).csv("errors").report(report!(errors.total)),

    metric("device_ios_per_io", One, "Device I/Os per I/O").lower().report(Report::device_ios_per_io).tested(),
    metric("device_read_iops", PerSecond, "Device read IOPS").count(sample!(device?.read_ios)).series().csv("device_read_ios").report(|report| device_rate(report, |device| device.read_ios)),
    metric("device_read_bytes_per_second", BytesPerSecond, "Device read bandwidth").count(sample!(device?.read_bytes)).series().csv("device_read_bytes").report(|report| device_rate(report, |device| device.read_bytes)),
    metric("device_read_merges", One, "Device read merges").count(sample!(device?.read_merges)).csv("device_read_merges"),
    metric("device_write_iops", PerSecond, "Device write IOPS").count(sample!(device?.write_ios)).series().csv("device_write_ios").report(|report| device_rate(report, |device| device.write_ios)),
    metric("device_write_bytes_per_second", BytesPerSecond, "Device write bandwidth").count(sample!(device?.write_bytes)).series().csv("device_write_bytes").report(|report| device_rate(report, |device| device.write_bytes)),
    metric("device_write_merges", One, "Device write merges").count(sample!(device?.write_merges)).csv("device_write_merges"),
    metric("device_discard_iops", PerSecond, "Device discard IOPS").count(sample!(device?.discard_ios)).series().csv("device_discard_ios"),
    metric("device_busy_ms", Milliseconds, "Device busy time").count(sample!(device?.busy_ms)).csv("device_busy_ms"),
    metric("device_utilization", Percent, "Device utilization").report(report!(device.as_ref()?.utilization)),
    metric("duration_ms", Milliseconds, "Measured time").report(report!(duration_ms)),

    metric("cached", Bytes, "Page cache").gauge(sample!(memory?.cached)).series().csv("cached_bytes"),
    metric("buffers", Bytes, "Buffers").gauge(sample!(memory?.buffers)).series().csv("buffers_bytes"),
    metric("dirty", Bytes, "Dirty").gauge(sample!(memory?.dirty)).series().csv("dirty_bytes"),
    metric("writeback", Bytes, "Writeback").gauge(sample!(memory?.writeback)).series().csv("writeback_bytes"),
    metric("storage_read_bytes", Bytes, "Runner storage reads").count(sample!(storage?.read_bytes)).csv("storage_read_bytes"),
    metric("storage_write_bytes", Bytes, "Runner storage writes").count(sample!(storage?.write_bytes)).csv("storage_write_bytes"),
    metric("target_cached", Bytes, "Cached target data").gauge(sample!(residency?.cached)).series().csv("target_cached_bytes"),
    metric("target_dirty", Bytes, "Dirty target data").gauge(sample!(residency?.dirty?)).series().csv("target_dirty_bytes"),

    metric("process_user", Percent, "Runner CPU, user").gauge(sample!(cpu?.process_user)).series().csv("process_user_percent"),
    metric("process_system", Percent, "Runner CPU, system").gauge(sample!(cpu?.process_system)).series().csv("process_system_percent"),
    metric("host_busy", Percent, "Host CPU").gauge(|sample| sample.cpu.map(|cpu| cpu.host_user + cpu.host_system + cpu.host_steal)).series(),
    metric("io_some", Percent, "I/O pressure, some").gauge(sample!(pressure?.io_some)).series().csv("io_some_percent"),
    metric("io_full", Percent, "I/O pressure, full").gauge(sample!(pressure?.io_full)).series().csv("io_full_percent"),
];

fn if_used(stats: &DirectionStats, value: f64) -> Option<f64> {
    (stats.ios > 0).then_some(value)
}

fn percentile(latency: &LatencyStats, percentile: &str) -> Option<f64> {
    latency.percentiles.get(percentile).map(|ns| *ns as f64)
}

fn device_rate(report: &Report, count: fn(&DeviceCounts) -> u64) -> Option<f64> {
    let device = report.device.as_ref()?;
    (report.duration_ms > 0.0).then(|| count(&device.counts) as f64 / report.duration_ms * 1e3)
}

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
        lower_bound: |_| false,
        is_tested: false,
        required_ios: None,
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
        self.series()
    }

    const fn latency_max(mut self) -> Self {
        self.window = Some(WindowValue::LatencyMax);
        self.series()
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

    const fn lower_bound(mut self, value: fn(&Report) -> bool) -> Self {
        self.lower_bound = value;
        self
    }

    const fn tested(mut self) -> Self {
        self.is_tested = true;
        self
    }

    const fn requires(mut self, minimum: u64, count: fn(&Report) -> u64) -> Self {
        self.required_ios = Some(RequiredIos { minimum, count });
        self
    }

    const fn prometheus(mut self, name: &'static str) -> Self {
        self.prometheus = Some(name);
        self
    }
}

/// OpenAPI enum of series columns.
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

/// OpenAPI enum of compared metrics.
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
    let metrics = || METRICS.iter().filter(|metric| filter(metric));
    let labels: Vec<String> = metrics()
        .map(|metric| format!("- `{}`: {}", metric.name, metric.label))
        .collect();
    ObjectBuilder::new()
        .schema_type(Type::String)
        .enum_values(Some(metrics().map(|metric| metric.name)))
        .description(Some(labels.join("\n")))
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
    fn tested_metrics_have_a_value_and_a_better_direction() {
        let tested = || METRICS.iter().filter(|metric| metric.is_tested);
        assert!(tested().count() > 20);
        assert!(tested().all(|metric| metric.report.is_some() && metric.better.is_some()));
    }

    #[test]
    fn every_column_has_a_source() {
        for metric in METRICS.iter() {
            assert!(
                !metric.in_series || metric.window.is_some(),
                "{}",
                metric.name
            );
            assert!(
                metric.csv.is_none() || metric.window.is_some(),
                "{}",
                metric.name
            );
        }
    }
}
