//! The result of a cell: the values of each round and their medians.

use crate::{
    cell::Cell,
    rounds::{RoundValues, Rounds},
    verdict::Verdict,
};
use leadline_stats::{Estimate, median};
use serde::Serialize;
use std::collections::BTreeMap;

/// Medians of one contender across all rounds.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    pub command: String,
    pub iops: Estimate,
    /// (max − min) / median of IOPS, as a percentage.
    pub spread_percent: f64,
    pub user_ns_per_io: f64,
    pub system_ns_per_io: f64,
    pub context_switches_per_second: f64,
    /// From a separate run; null if perf is not available.
    pub calls_per_io: Option<f64>,
    /// null if the contender records no latency.
    pub achieved_depth: Option<f64>,
    /// Leadline's IOPS divided by this contender's, per round; null for Leadline.
    pub ratio: Option<Ratio>,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub struct Ratio {
    /// Interval of the per-round IOPS ratios.
    #[serde(flatten)]
    pub interval: Estimate,
    pub verdict: Verdict,
}

#[derive(Debug, Serialize)]
pub struct Record {
    pub cell: Cell,
    pub contenders: BTreeMap<String, Summary>,
    pub rounds: BTreeMap<String, Vec<RoundValues>>,
}

impl Record {
    pub fn new(cell: &Cell, rounds: Rounds) -> Self {
        let summary = |(name, values): (&String, &Vec<RoundValues>)| {
            let ratio = rounds
                .reference_builds
                .get(name)
                .map(|reference| ratio(&rounds.values[*reference], values));
            (
                name.clone(),
                Summary::new(
                    rounds.commands[name].clone(),
                    rounds.calls_per_io[name],
                    values,
                    ratio,
                ),
            )
        };
        Self {
            cell: cell.clone(),
            contenders: rounds.values.iter().map(summary).collect(),
            rounds: rounds.values,
        }
    }
}

impl Summary {
    fn new(
        command: String,
        calls_per_io: Option<f64>,
        values: &[RoundValues],
        ratio: Option<Ratio>,
    ) -> Self {
        let all = |pick: fn(&RoundValues) -> f64| values.iter().map(pick).collect::<Vec<f64>>();
        let median_of = |pick| median::median(&all(pick));
        let rates = all(|values| values.iops);
        let (iops, max) = (
            median::interval(&rates),
            rates.iter().copied().fold(0.0, f64::max),
        );
        let min = rates.iter().copied().fold(f64::INFINITY, f64::min);
        let depths: Option<Vec<f64>> = values.iter().map(|values| values.achieved_depth).collect();
        Self {
            command,
            iops,
            spread_percent: (max - min) / iops.value * 100.0,
            user_ns_per_io: median_of(|values| values.user_ns_per_io),
            system_ns_per_io: median_of(|values| values.system_ns_per_io),
            context_switches_per_second: median_of(|values| values.context_switches_per_second),
            calls_per_io,
            achieved_depth: depths.map(|depths| median::median(&depths)),
            ratio,
        }
    }
}

fn ratio(leadline: &[RoundValues], contender: &[RoundValues]) -> Ratio {
    let ratios: Vec<f64> = leadline
        .iter()
        .zip(contender)
        .map(|(leadline, contender)| leadline.iops / contender.iops)
        .collect();
    let interval = median::interval(&ratios);
    Ratio {
        interval,
        verdict: Verdict::of(&interval),
    }
}
