//! What is kept of a cell: every figure of every round, and what follows from them. One JSON file a cell.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::Serialize;

use crate::cell::Cell;
use crate::host::Host;
use crate::interval::{Interval, Verdict};
use crate::rounds::{Figures, Rounds};
use crate::table;

/// Ours as it comes.
pub const OURS: &str = "ours";
/// Ours with offsets that may repeat, for comparison with contenders that do the same.
pub const OURS_REPEATING: &str = "ours norandommap";

/// One contender over all rounds, as medians.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// What was typed.
    pub command: String,
    /// I/Os a second.
    pub iops: Interval,
    /// Largest less smallest of them over their median, in percent.
    pub spread_percent: f64,
    /// Processor time in user mode for an I/O, in ns.
    pub user_ns_per_io: f64,
    /// Processor time in the kernel for an I/O, in ns.
    pub system_ns_per_io: f64,
    /// Context switches a second.
    pub context_switches_per_second: f64,
    /// System calls for an I/O, from one run more; null where perf may not count them.
    pub calls_per_io: Option<f64>,
    /// I/Os in flight; null where it records no latency.
    pub achieved_depth: Option<f64>,
    /// Ours over this one, round by round, ours with `norandommap` where this one's offsets repeat; null for ours.
    pub ratio: Option<Ratio>,
}

/// Ours over another.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Ratio {
    /// Of the per-round ratios of I/Os a second.
    #[serde(flatten)]
    pub interval: Interval,
    /// Whether ours is ahead.
    pub verdict: Verdict,
}

/// One cell.
#[derive(Debug, Serialize)]
pub struct Record {
    /// What was compared.
    pub cell: Cell,
    /// By contender.
    pub contenders: BTreeMap<String, Summary>,
    /// Every figure, by contender and round.
    pub rounds: BTreeMap<String, Vec<Figures>>,
}

impl Record {
    /// What follows from the rounds of a cell.
    pub fn new(cell: &Cell, rounds: Rounds) -> Self {
        let summary = |(name, figures): (&String, &Vec<Figures>)| {
            let ratio = rounds
                .partners
                .get(name)
                .map(|partner| ratio(&rounds.figures[*partner], figures));
            (
                name.clone(),
                Summary::new(
                    rounds.commands[name].clone(),
                    rounds.calls_per_io[name],
                    figures,
                    ratio,
                ),
            )
        };
        Self {
            cell: cell.clone(),
            contenders: rounds.figures.iter().map(summary).collect(),
            rounds: rounds.figures,
        }
    }
}

impl Summary {
    fn new(
        command: String,
        calls_per_io: Option<f64>,
        figures: &[Figures],
        ratio: Option<Ratio>,
    ) -> Self {
        let all = |pick: fn(&Figures) -> f64| figures.iter().map(pick).collect::<Vec<f64>>();
        let median = |pick| Interval::of(&all(pick)).median;
        let rates = all(|figures| figures.iops);
        let (iops, most) = (
            Interval::of(&rates),
            rates.iter().copied().fold(0.0, f64::max),
        );
        let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
        let depths: Option<Vec<f64>> = figures
            .iter()
            .map(|figures| figures.achieved_depth)
            .collect();
        Self {
            command,
            iops,
            spread_percent: (most - least) / iops.median * 100.0,
            user_ns_per_io: median(|figures| figures.user_ns_per_io),
            system_ns_per_io: median(|figures| figures.system_ns_per_io),
            context_switches_per_second: median(|figures| figures.context_switches_per_second),
            calls_per_io,
            achieved_depth: depths.map(|depths| Interval::of(&depths).median),
            ratio,
        }
    }
}

fn ratio(ours: &[Figures], theirs: &[Figures]) -> Ratio {
    let ratios: Vec<f64> = ours
        .iter()
        .zip(theirs)
        .map(|(ours, theirs)| ours.iops / theirs.iops)
        .collect();
    let interval = Interval::of(&ratios);
    Ratio {
        interval,
        verdict: interval.verdict(),
    }
}

/// All cells of one call of the bench.
pub struct Records {
    folder: PathBuf,
    host: Host,
    kept: Vec<Record>,
    skipped: Vec<String>,
}

impl Records {
    /// None yet.
    ///
    /// # Errors
    /// Where the folder cannot be made.
    pub fn new(folder: &Path, host: Host) -> Result<Self> {
        fs::create_dir_all(folder)?;
        Ok(Self {
            folder: folder.to_owned(),
            host,
            kept: Vec::new(),
            skipped: Vec::new(),
        })
    }

    /// Prints it and writes it down.
    ///
    /// # Errors
    /// What the system says.
    pub fn keep(&mut self, record: Record) -> Result<()> {
        #[derive(Serialize)]
        struct Written<'a> {
            host: &'a Host,
            #[serde(flatten)]
            record: &'a Record,
        }
        table::tell(&record)?;
        let text = serde_json::to_string_pretty(&Written {
            host: &self.host,
            record: &record,
        })?;
        fs::write(
            self.folder.join(format!("{}.json", record.cell.name)),
            text + "\n",
        )?;
        self.kept.push(record);
        Ok(())
    }

    /// Says that a cell was left out, and why.
    ///
    /// # Errors
    /// What the system says.
    pub fn skip(&mut self, cell: &Cell, reason: &str) -> Result<()> {
        let line = format!("{} skipped: {reason}", cell.name);
        table::line(&format!("[bench] {line}"))?;
        self.skipped.push(line);
        Ok(())
    }

    /// Writes the table of all cells.
    ///
    /// # Errors
    /// What the system says.
    pub fn finish(&self) -> Result<()> {
        let path = self.folder.join("table.md");
        fs::write(
            &path,
            table::markdown(&self.host, &self.kept, &self.skipped),
        )?;
        table::line(&format!("[bench] written: {}", path.display()))
    }
}
