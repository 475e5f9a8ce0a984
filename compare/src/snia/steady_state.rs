//! The variables that decide whether the measurement window is steady.

use crate::snia::{
    rounds::Rounds,
    window::{WINDOW, Window},
};
use leadline_protocol::study::snia::{
    SniaTest, SniaTestName, cell_name,
    results::{CellValue, SteadyStateData, TrackingVariable},
};
use leadline_stats::steady_state::{MeasurementWindow, last_window};

const KIB: u64 = 1 << 10;
/// Cells that the specification tracks in the IOPS test: read percentage and block size.
const IOPS_CELLS: [(u8, u64); 3] = [(0, 4 * KIB), (65, 64 * KIB), (100, 1024 * KIB)];

pub(crate) struct Tracked {
    pub name: String,
    /// Index of the cell.
    cell: usize,
    value: fn(&CellValue) -> Option<f64>,
}

/// The specification's tracking variables that the test measures. If it measures none of them, its
/// last cell is tracked.
pub(crate) fn tracked(test: &SniaTest) -> Vec<Tracked> {
    let find = |(mix, block): (u8, u64)| {
        let mix = test.mixes.iter().position(|percent| *percent == mix)?;
        let block = test.blocks.iter().position(|bytes| *bytes == block)?;
        Some(mix * test.blocks.len() + block)
    };
    let last = (test.mixes.len() * test.blocks.len()).saturating_sub(1);
    let mut cells: Vec<usize> = match test.test {
        SniaTestName::Iops => IOPS_CELLS.into_iter().filter_map(find).collect(),
        SniaTestName::Latency => find((0, 4 * KIB)).into_iter().collect(),
        SniaTestName::Throughput => (0..test.mixes.len()).collect(),
        SniaTestName::WriteSaturation => return Vec::new(),
    };
    if cells.is_empty() {
        cells.push(last);
    }
    cells
        .into_iter()
        .map(|cell| tracked_cell(test, cell))
        .collect()
}

/// Whether the test measures all of the specification's tracking variables.
pub(crate) fn tracks_all(test: &SniaTest) -> bool {
    let has = |(mix, block)| test.mixes.contains(&mix) && test.blocks.contains(&block);
    match test.test {
        SniaTestName::Iops => IOPS_CELLS.into_iter().all(has),
        SniaTestName::Latency => has((0, 4 * KIB)),
        SniaTestName::Throughput => test.mixes.contains(&100) && test.mixes.contains(&0),
        SniaTestName::WriteSaturation => true,
    }
}

fn tracked_cell(test: &SniaTest, cell: usize) -> Tracked {
    let mix = test.mixes[cell / test.blocks.len()];
    let cell_name = cell_name(mix, test.blocks[cell % test.blocks.len()]);
    let (unit, value): (_, fn(&CellValue) -> Option<f64>) = match test.test {
        SniaTestName::Throughput => ("bandwidth", |value| Some(value.bytes_per_second)),
        SniaTestName::Latency => ("mean latency", |value| value.lat_mean_ns),
        _ => ("IOPS", |value| Some(value.iops)),
    };
    Tracked {
        name: format!("{cell_name} {unit}"),
        cell,
        value,
    }
}

/// The first window in which all variables are steady, even if a later window is better.
pub(crate) fn first_window(test: &SniaTest, rounds: &Rounds) -> Option<Window> {
    let tracked = tracked(test);
    let mut windows = (WINDOW..=rounds.len()).map(Window::ending_at);
    windows.find(|window| {
        !tracked.is_empty()
            && rounds.is_contiguous(*window)
            && tracked.iter().all(|tracked| {
                data(tracked, rounds, *window).is_some_and(|window| window.is_steady())
            })
    })
}

/// `window`: the window to describe.
pub(crate) fn variable(
    tracked: &Tracked,
    rounds: &Rounds,
    window: Option<Window>,
) -> TrackingVariable {
    let data = window.and_then(|window| {
        let data = data(tracked, rounds, window)?;
        Some(steady_state_data(&data, window))
    });
    TrackingVariable {
        name: tracked.name.clone(),
        values: values(tracked, rounds),
        window: data,
    }
}

fn values(tracked: &Tracked, rounds: &Rounds) -> Vec<Option<f64>> {
    let values = rounds.values(tracked.cell).into_iter();
    values.map(|value| (tracked.value)(&value?)).collect()
}

fn data(tracked: &Tracked, rounds: &Rounds, window: Window) -> Option<MeasurementWindow> {
    let values: Option<Vec<f64>> = values(tracked, rounds)[window.indices()]
        .iter()
        .copied()
        .collect();
    last_window(&values?)
}

fn steady_state_data(data: &MeasurementWindow, window: Window) -> SteadyStateData {
    SteadyStateData {
        average: data.average,
        excursion: data.excursion,
        allowed_excursion: 0.2 * data.average,
        slope: data.slope,
        intercept: data.intercept - data.slope * f64::from(window.first()),
        slope_excursion: data.slope_excursion,
        allowed_slope_excursion: 0.1 * data.average,
        is_steady: data.is_steady(),
    }
}
