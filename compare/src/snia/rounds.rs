//! The rounds of a test, and their interruptions.

use crate::{
    procedure_run::ProcedureRun,
    snia::window::{WINDOW, Window},
};
use leadline_protocol::{
    report::{JobReport, stats::DirectionStats},
    status::RunStatus,
    study::snia::{
        SniaRun, SniaTest,
        results::{CellValue, SniaRound},
    },
};

/// Pauses up to this length never interrupt the rounds. During a longer pause, the device may
/// recover.
const MIN_PAUSE_MS: f64 = 60_000.0;
/// Minimum number of I/Os for the 99.999th percentile, so that 10 I/Os are slower than it.
const MIN_IOS_P99999: u64 = 1_000_000;

#[derive(Default)]
pub(crate) struct Rounds {
    rounds: Vec<Round>,
}

pub(crate) struct Round {
    /// One value per cell, in the order of the test.
    values: Vec<Option<CellValue>>,
    interruption: Option<Interruption>,
}

/// An interruption of the rounds. A window cannot contain rounds from before and after it.
struct Interruption {
    /// Whether the interruption precedes the round, so that a window can start with this round.
    is_before: bool,
    sentence: String,
}

/// The rounds up to the last one with an ended run, in order.
pub(crate) fn rounds(test: &SniaTest, runs: &[Option<ProcedureRun>]) -> Rounds {
    let mut rounds: Vec<Round> = Vec::new();
    let mut last_end_ms = None;
    for (run, role) in runs.iter().zip(test.runs()) {
        let Some(run) = run.as_ref().filter(|run| has_ended(run)) else {
            continue;
        };
        let pause = last_end_ms.and_then(|end_ms| pause(test, end_ms, run));
        last_end_ms = end_ms(run).or(last_end_ms);
        let SniaRun::Round { round, mix } = role else {
            continue;
        };
        let index = round as usize - 1;
        let cells = test.mixes.len() * test.blocks.len();
        while rounds.len() <= index {
            rounds.push(Round {
                values: vec![None; cells],
                interruption: None,
            });
        }
        let round = &mut rounds[index];
        if run.run.is_complete() {
            let first = mix * test.blocks.len();
            let jobs = run.run.report.iter().flat_map(|report| &report.jobs);
            for (value, job) in round.values[first..].iter_mut().zip(jobs) {
                *value = Some(cell_value(job));
            }
        }
        if run.first_attempt == Some(RunStatus::Interrupted) {
            round.interruption = Some(Interruption {
                is_before: false,
                sentence: "Interrupted: a run of this round was repeated.".into(),
            });
        } else if let Some(seconds) = pause
            && round.interruption.is_none()
        {
            round.interruption = Some(Interruption {
                is_before: mix == 0,
                sentence: format!("Interrupted for {seconds} s."),
            });
        }
    }
    Rounds { rounds }
}

/// Runs that did not start are not part of a round.
fn has_ended(run: &ProcedureRun) -> bool {
    let status = run.run.status;
    status.is_final() && (status != RunStatus::Cancelled || run.run.report.is_some())
}

/// Seconds since the previous run ended; `None` if the pause is too short to interrupt the rounds.
fn pause(test: &SniaTest, end_ms: f64, run: &ProcedureRun) -> Option<u64> {
    let start_ms = run.run.report?.started_at_ms as f64;
    let paused_ms = start_ms - end_ms;
    let allowed_ms = MIN_PAUSE_MS.max(f64::from(test.cell_seconds) * 1000.0);
    (paused_ms > allowed_ms).then_some((paused_ms / 1000.0) as u64)
}

fn end_ms(run: &ProcedureRun) -> Option<f64> {
    let report = run.run.report?;
    Some(report.started_at_ms as f64 + report.duration_ms)
}

fn cell_value(job: &JobReport) -> CellValue {
    let used: Vec<&DirectionStats> = [&job.read, &job.write]
        .into_iter()
        .filter(|stats| stats.ios > 0)
        .collect();
    let sum = |value: fn(&DirectionStats) -> f64| used.iter().map(|stats| value(stats)).sum();
    let ios: u64 = used.iter().map(|stats| stats.ios).sum();
    let lat_sum: Option<f64> = used
        .iter()
        .map(|stats| Some(stats.lat_ns.mean? * stats.ios as f64))
        .sum();
    let max = used.iter().filter_map(|stats| stats.lat_ns.max).max();
    // The percentile across both directions is unknown.
    let p99999 = match used.as_slice() {
        [only] if only.ios >= MIN_IOS_P99999 => only.lat_ns.percentiles.get("99.999"),
        _ => None,
    };
    CellValue {
        iops: sum(|stats| stats.iops),
        bytes_per_second: sum(|stats| stats.bytes_per_second),
        lat_mean_ns: lat_sum.filter(|_| ios > 0).map(|sum| sum / ios as f64),
        lat_p99999_ns: p99999.map(|ns| *ns as f64),
        lat_max_ns: max.map(|ns| ns as f64),
        ios,
    }
}

impl Rounds {
    pub(crate) fn is_empty(&self) -> bool {
        self.rounds.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.rounds.len()
    }

    /// Number of rounds with values for all cells.
    pub(crate) fn complete(&self) -> usize {
        let rounds = self.rounds.iter();
        rounds.filter(|round| round.is_complete()).count()
    }

    /// The values of one cell, one per round.
    pub(crate) fn values(&self, cell: usize) -> Vec<Option<CellValue>> {
        let rounds = self.rounds.iter();
        rounds
            .map(|round| round.values.get(cell).copied().flatten())
            .collect()
    }

    /// Whether the rounds can be a window: they are complete, and nothing interrupted them.
    pub(crate) fn is_contiguous(&self, window: Window) -> bool {
        let rounds = &self.rounds[window.indices()];
        rounds.iter().enumerate().all(|(index, round)| {
            let is_interrupted = |interruption: &Interruption| index > 0 || !interruption.is_before;
            round.is_complete() && !round.interruption.as_ref().is_some_and(is_interrupted)
        })
    }

    /// The last five rounds that can be a window.
    pub(crate) fn last_window(&self) -> Option<Window> {
        let ends = (WINDOW..=self.len()).rev();
        ends.map(Window::ending_at)
            .find(|window| self.is_contiguous(*window))
    }

    /// Appends a round. `is_after_gap`: the test was interrupted before this round.
    #[cfg(test)]
    pub(crate) fn push(&mut self, values: Vec<Option<CellValue>>, is_after_gap: bool) {
        let interruption = is_after_gap.then(|| Interruption {
            is_before: true,
            sentence: String::new(),
        });
        self.rounds.push(Round {
            values,
            interruption,
        });
    }

    pub(crate) fn into_results(self) -> Vec<SniaRound> {
        let rounds = (1..).zip(self.rounds);
        rounds
            .map(|(number, round)| SniaRound {
                round: number,
                interruption: round.interruption.map(|interruption| interruption.sentence),
                values: round.values,
            })
            .collect()
    }
}

impl Round {
    fn is_complete(&self) -> bool {
        self.values.iter().all(Option::is_some)
    }
}
