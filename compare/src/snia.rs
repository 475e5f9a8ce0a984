//! Tests that follow the SNIA performance test specification: rounds, the measurement window, and
//! the deviations from the specification.
//!
//! Source: SNIA Solid State Storage Performance Test Specification 2.0.2, definition 2.1.24 (steady
//! state), and the order of purge, preconditioning and rounds.

pub mod deviations;
mod rounds;
mod served;
mod steady_state;
#[cfg(test)]
mod tests;
mod window;

use crate::{
    procedure_run::ProcedureRun,
    snia::{
        deviations::deviations,
        rounds::{Rounds, rounds},
        served::memory_class,
        steady_state::{first_window, tracked, variable},
        window::{WINDOW, Window},
    },
};
use leadline_protocol::{
    format::plural,
    status::RunStatus,
    study::snia::{
        SniaRun, SniaTest, SniaTestName,
        results::{CellValue, SniaCell, SniaResults, SniaState},
    },
};

pub(crate) fn early_end(test: &SniaTest, runs: &[Option<ProcedureRun>]) -> Option<String> {
    let window = first_window(test, &rounds(test, runs))?;
    Some(format!("steady state in round {}", window.last))
}

pub(crate) fn results(test: &SniaTest, runs: &[Option<ProcedureRun>]) -> SniaResults {
    let rounds = rounds(test, runs);
    let steady = first_window(test, &rounds);
    let window = steady.or_else(|| rounds.last_window());
    let state = state(test, runs, &rounds, steady);
    let deviations = deviations(test, runs, &rounds, steady);
    let badge = steady
        .filter(|_| !is_served_by_memory(test, runs))
        .map(|window| badge(test, window));
    SniaResults {
        test: test.test,
        label: label(state, deviations.len()),
        state,
        sentence: sentence(test, state, &rounds, window),
        badge,
        window: window.map(Window::range),
        tracking: tracked(test)
            .iter()
            .map(|tracked| variable(tracked, &rounds, window))
            .collect(),
        cells: cells(test, &rounds, window),
        rounds: rounds.into_results(),
        deviations,
    }
}

fn state(
    test: &SniaTest,
    runs: &[Option<ProcedureRun>],
    rounds: &Rounds,
    steady: Option<Window>,
) -> SniaState {
    let statuses = || runs.iter().flatten().map(|run| run.run.status);
    let is_active = statuses().any(|status| !status.is_final());
    let is_done = statuses().all(|status| status == RunStatus::Done);
    let has_all = runs.len() == test.runs().len() && runs.iter().all(Option::is_some);
    if steady.is_some() {
        SniaState::Steady
    } else if is_active {
        match rounds.is_empty() {
            true => SniaState::Preparing,
            false => SniaState::Running,
        }
    } else if !is_done || !has_all {
        SniaState::Incomplete
    } else if test.test == SniaTestName::WriteSaturation {
        SniaState::Complete
    } else {
        SniaState::NotReached
    }
}

/// Never claims compliance. An incomplete test gets no label, because it does not characterize the
/// device.
fn label(state: SniaState, deviations: usize) -> String {
    let specification = "SNIA SSS PTS 2.0.2";
    match (state, deviations) {
        (SniaState::Incomplete, _) => format!("Incomplete {specification} test"),
        (_, 0) => format!("Follows {specification}, no deviations found"),
        (_, 1) => format!("Follows {specification}, with 1 deviation"),
        (_, count) => format!("Follows {specification}, with {count} deviations"),
    }
}

fn badge(test: &SniaTest, window: Window) -> String {
    let rounds = format!("rounds {}–{}", window.first(), window.last);
    match tracked(test).as_slice() {
        [only] if test.test == SniaTestName::Iops => {
            format!("steady ({} only, {rounds})", only.name)
        }
        _ => format!("steady ({rounds})"),
    }
}

fn sentence(test: &SniaTest, state: SniaState, rounds: &Rounds, window: Option<Window>) -> String {
    let title = test.test.title();
    let complete = rounds.complete();
    match (state, window) {
        (SniaState::Steady, Some(window)) => format!(
            "Steady state in round {}: results are means of rounds {} to {}.",
            window.last,
            window.first(),
            window.last
        ),
        (SniaState::NotReached, Some(window)) => format!(
            "Steady state was not reached in {} rounds. The values are means of rounds {} to {}.",
            test.max_rounds,
            window.first(),
            window.last
        ),
        (SniaState::NotReached, None) => format!(
            "Steady state was not reached in {} rounds, and no five consecutive rounds are complete.",
            test.max_rounds
        ),
        (SniaState::Preparing, _) => format!("The {title} purges and preconditions the target."),
        (SniaState::Running, _) => format!(
            "{complete} of at most {} rounds are complete; the measurement window has {WINDOW}.",
            test.max_rounds
        ),
        (SniaState::Complete, _) => {
            "The test is complete. The curve is in the last run; a flat curve does not imply steady state."
                .into()
        }
        (SniaState::Incomplete | SniaState::Steady, _) => {
            format!(
                "The {title} ended after {} without reaching steady state.",
                plural(complete as u64, "complete round")
            )
        }
    }
}

/// Mean values of each cell over the window. As in the specification, latency means are not
/// weighted by the number of I/Os.
fn cells(test: &SniaTest, rounds: &Rounds, window: Option<Window>) -> Vec<SniaCell> {
    let mut cells = Vec::new();
    for (mix, percent) in test.mixes.iter().enumerate() {
        for (index, block) in test.blocks.iter().enumerate() {
            let cell = mix * test.blocks.len() + index;
            let values = window.and_then(|window| {
                let values = rounds.values(cell);
                values[window.indices()]
                    .iter()
                    .copied()
                    .collect::<Option<Vec<_>>>()
            });
            cells.push(SniaCell {
                mix: *percent,
                block: *block,
                value: values.map(|values| mean(&values)),
            });
        }
    }
    if test.test == SniaTestName::WriteSaturation {
        cells.clear();
    }
    cells
}

fn mean(values: &[CellValue]) -> CellValue {
    let count = values.len() as f64;
    let sum = |value: fn(&CellValue) -> f64| values.iter().map(value).sum::<f64>() / count;
    let optional = |value: fn(&CellValue) -> Option<f64>| {
        let sum: Option<f64> = values.iter().map(value).sum();
        sum.map(|sum| sum / count)
    };
    let max = values.iter().filter_map(|value| value.lat_max_ns);
    CellValue {
        iops: sum(|value| value.iops),
        bytes_per_second: sum(|value| value.bytes_per_second),
        lat_mean_ns: optional(|value| value.lat_mean_ns),
        lat_p99999_ns: optional(|value| value.lat_p99999_ns),
        lat_max_ns: max.reduce(f64::max),
        ios: values.iter().map(|value| value.ios).sum(),
    }
}

/// A test that was served by memory gets no badge, because memory is always steady.
fn is_served_by_memory(test: &SniaTest, runs: &[Option<ProcedureRun>]) -> bool {
    let in_rounds = runs.iter().zip(test.runs());
    in_rounds
        .filter(|(_, role)| matches!(role, SniaRun::Round { .. }))
        .filter_map(|(run, _)| run.as_ref())
        .any(|run| {
            let is_buffered = run.run.resolved.iter().any(|job| !job.direct);
            is_buffered || memory_class(run).is_some()
        })
}
