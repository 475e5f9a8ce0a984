//! Results of studies whose runs follow a procedure.

use crate::cli::text::{
    style::{BOLD, YELLOW},
    writer::{TextWriter, number_table},
};
use comfy_table::Table;
use leadline_protocol::{
    format::{bandwidth, latency, rate},
    study::{
        load_curve::LoadCurveResults,
        procedure::ProcedureResults,
        snia::{
            SniaTestName,
            results::{CellValue, SniaResults, TrackingVariable},
        },
    },
    units,
};
use std::collections::BTreeSet;

const NO_VALUE: &str = "–";

pub(crate) fn render(results: &ProcedureResults, width: usize) -> String {
    let mut out = TextWriter::new(width);
    out.blank_line();
    match results {
        ProcedureResults::Snia(results) => write_snia(&mut out, results),
        ProcedureResults::LoadCurve(results) => write_curve(&mut out, results),
    }
    out.into_text()
}

fn write_curve(out: &mut TextWriter, results: &LoadCurveResults) {
    out.styled_field(BOLD, "result", &results.sentence);
    if let Some(warning) = &results.warning {
        out.styled_field(YELLOW, "warning", warning);
    }
    if let Some(iops) = results.probe_iops {
        out.field("probe", &format!("{} IOPS with no rate limit", rate(iops)));
    }
    out.field(
        "latency",
        "measured from the intended start; ≥: lower bound, because some I/Os did not complete",
    );
    out.blank_line();
    let mut table = number_table(["offered", "achieved", "p50", "p99", "p99.9", "class"]);
    for point in &results.points {
        let bound = if point.is_lower_bound { "≥ " } else { "" };
        let time =
            |ns: Option<f64>| ns.map_or(NO_VALUE.into(), |ns| format!("{bound}{}", latency(ns)));
        table.add_row([
            rate(point.offered),
            point.achieved.map_or(NO_VALUE.into(), rate),
            time(point.lat_p50_ns),
            time(point.lat_p99_ns),
            time(point.lat_p999_ns),
            point.class.as_str().to_owned(),
        ]);
    }
    out.table(&table);
    if !results.not_run.is_empty() {
        let rates: Vec<String> = results.not_run.iter().copied().map(rate).collect();
        out.field("not run", &format!("{} IOPS", rates.join(", ")));
    }
}

fn write_snia(out: &mut TextWriter, results: &SniaResults) {
    out.styled_field(BOLD, "result", &results.sentence);
    if let Some(badge) = &results.badge {
        out.field("state", badge);
    }
    out.field("test", &format!("{}.", results.label));
    for deviation in &results.deviations {
        out.styled_field(YELLOW, "deviation", &deviation.sentence);
    }
    if !results.tracking.is_empty() {
        out.blank_line();
        out.table(&determination_table(&results.tracking));
    }
    if results.cells.iter().any(|cell| cell.value.is_some()) {
        out.blank_line();
        out.table(&cells_table(results));
    }
}

/// Steady state determination data.
fn determination_table(tracking: &[TrackingVariable]) -> Table {
    let mut table = number_table([
        "steady state",
        "average",
        "excursion",
        "allowed",
        "slope excursion",
        "allowed",
        "steady",
    ]);
    for variable in tracking {
        let mut row = vec![variable.name.clone()];
        match &variable.window {
            Some(window) => {
                let numbers = [
                    window.average,
                    window.excursion,
                    window.allowed_excursion,
                    window.slope_excursion,
                    window.allowed_slope_excursion,
                ];
                row.extend(numbers.map(rate));
                row.push(if window.is_steady { "yes" } else { "no" }.into());
            }
            None => row.extend([NO_VALUE; 6].map(String::from)),
        }
        table.add_row(row);
    }
    table
}

/// A row per block size, a column per mix.
fn cells_table(results: &SniaResults) -> Table {
    let mixes: Vec<u8> = distinct(results.cells.iter().map(|cell| cell.mix));
    let blocks: Vec<u64> = distinct(results.cells.iter().map(|cell| cell.block));
    let text: fn(&CellValue) -> String = match results.test {
        SniaTestName::Throughput => |value| bandwidth(value.bytes_per_second),
        SniaTestName::Latency => |value| value.lat_mean_ns.map_or(NO_VALUE.into(), latency),
        _ => |value| rate(value.iops),
    };
    let mut table = number_table(["block"]);
    let header = mixes.iter().map(|mix| format!("RW{mix}"));
    table.set_header(["block".to_owned()].into_iter().chain(header));
    for block in blocks {
        let mut row = vec![units::size(block)];
        for mix in &mixes {
            let mut cells = results.cells.iter();
            let cell = cells.find(|cell| cell.block == block && cell.mix == *mix);
            let value = cell.and_then(|cell| cell.value);
            row.push(value.map_or(NO_VALUE.into(), |value| text(&value)));
        }
        table.add_row(row);
    }
    table
}

/// In order of first occurrence.
fn distinct<T: Copy + Ord>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = BTreeSet::new();
    values.filter(|value| seen.insert(*value)).collect()
}
