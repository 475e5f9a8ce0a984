//! The rounds of one cell. First a pre-pass: what each contender costs to start and end, and which batches are fio's and
//! t/io_uring's best. Then every round runs each contender once, in random order, so that what drifts (temperature,
//! neighbours, the host below a virtual machine) hits all alike and falls out of the ratios.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, ensure};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::SliceRandom;
use serde::Serialize;

use crate::args::Args;
use crate::calls;
use crate::cell::Cell;
use crate::child::{Cost, Invocation, run as run_child};
use crate::contender::runner::Runner;
use crate::contender::{Contender, Counts};
use crate::record::{OURS, OURS_REPEATING};
use crate::target::Target;
use crate::work::{Length, Rw, Work};

/// One measurement of one contender.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Figures {
    /// I/Os a second.
    pub iops: f64,
    /// Processor time in user mode for an I/O in ns, of the whole program less what starting and ending it costs.
    pub user_ns_per_io: f64,
    /// Processor time in the kernel likewise.
    pub system_ns_per_io: f64,
    /// Context switches of the whole program a second.
    pub context_switches_per_second: f64,
    /// I/Os in flight of all jobs together.
    pub achieved_depth: Option<f64>,
}

/// All of one cell, by the contenders' names.
#[derive(Debug)]
pub struct Rounds {
    /// The command of each contender.
    pub commands: BTreeMap<String, String>,
    /// The one of ours that it is compared with; none for builds of ours themselves.
    pub partners: BTreeMap<String, &'static str>,
    /// System calls for an I/O; null where perf may not count them.
    pub calls_per_io: BTreeMap<String, Option<f64>>,
    /// Its figures, one for each round.
    pub figures: BTreeMap<String, Vec<Figures>>,
}

/// One round of the pre-pass is as short as t/io_uring can.
const PREPASS: Length = Length::Seconds(1);
/// Starts of each contender; their mean is taken off.
const STARTS: u32 = 3;

/// Runs them all.
///
/// # Errors
/// Where a contender fails, or a signal came.
pub fn run(
    args: &Args,
    cell: &Cell,
    target: &dyn Target,
    interrupted: &AtomicBool,
) -> Result<Rounds> {
    let bench = Bench {
        args,
        work: &cell.work,
        target,
        interrupted,
    };
    eprintln!("[bench] {}: pre-pass", cell.name);
    let contenders = bench.contenders()?;
    let calls = |contender: &dyn Contender| Ok((contender.name(), bench.calls_per_io(contender)?));
    let calls_per_io = contenders
        .iter()
        .map(|contender| calls(&**contender))
        .collect::<Result<BTreeMap<_, _>>>()?;
    let starts = contenders
        .iter()
        .map(|contender| bench.start_cost(&**contender))
        .collect::<Result<Vec<_>>>()?;
    let mut figures: BTreeMap<String, Vec<Figures>> = BTreeMap::new();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(RandomState::new().build_hasher().finish());
    let mut order: Vec<usize> = (0..contenders.len()).collect();
    for round in 1..=args.rounds {
        eprintln!("[bench] {}: round {round} of {}", cell.name, args.rounds);
        order.shuffle(&mut rng);
        for &number in &order {
            let contender = &*contenders[number];
            figures
                .entry(contender.name())
                .or_default()
                .push(bench.figures(contender, &starts[number])?);
        }
    }
    let commands = contenders
        .iter()
        .map(|contender| (contender.name(), bench.command(&**contender)))
        .collect();
    let partners = contenders
        .iter()
        .filter_map(|contender| Some((contender.name(), partner(&**contender, &figures)?)))
        .collect();
    Ok(Rounds {
        commands,
        partners,
        calls_per_io,
        figures,
    })
}

struct Bench<'a> {
    args: &'a Args,
    work: &'a Work,
    target: &'a dyn Target,
    interrupted: &'a AtomicBool,
}

impl Bench<'_> {
    fn contenders(&self) -> Result<Vec<Box<dyn Contender>>> {
        let (fio, tuned) = self.args.fios(self.work);
        let mut all: Vec<Box<dyn Contender>> =
            self.args.runners()?.into_iter().map(boxed).collect();
        all.extend(fio.map(boxed));
        all.extend(self.best(tuned)?.map(boxed));
        all.extend(self.best(self.args.t_io_urings(self.work))?.map(boxed));
        all.retain(|contender| contender.can(self.work, self.length()));
        if self.work.rw != Rw::Read && all.iter().any(|contender| contender.repeats()) {
            let ours = self.args.runners()?.remove(0);
            all.insert(
                1,
                Box::new(Runner {
                    label: OURS_REPEATING.into(),
                    norandommap: true,
                    ..ours
                }),
            );
        }
        Ok(all)
    }

    /// The one with the most I/Os a second in a short run of each.
    fn best<C: Contender>(&self, candidates: Vec<C>) -> Result<Option<C>> {
        let able: Vec<C> = candidates
            .into_iter()
            .filter(|candidate| candidate.can(self.work, PREPASS))
            .collect();
        if able.len() < 2 {
            return Ok(able.into_iter().next());
        }
        let rates = able
            .iter()
            .map(|candidate| Ok(self.measure(candidate, PREPASS)?.0.iops))
            .collect::<Result<Vec<f64>>>()?;
        Ok(able
            .into_iter()
            .zip(rates)
            .max_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(candidate, _)| candidate))
    }

    fn start_cost(&self, contender: &dyn Contender) -> Result<Cost> {
        let mut sum = Cost::default();
        if contender.can(self.work, Length::OneIo) {
            for _ in 0..STARTS {
                let (_, cost) = self.measure(contender, Length::OneIo)?;
                sum.user_ns += cost.user_ns / f64::from(STARTS);
                sum.system_ns += cost.system_ns / f64::from(STARTS);
            }
        }
        Ok(sum)
    }

    /// `None` as well for who tells a rate and not how many I/Os it did, and so cannot be told to do one.
    fn calls_per_io(&self, contender: &dyn Contender) -> Result<Option<f64>> {
        if !contender.can(self.work, Length::OneIo) {
            return Ok(None);
        }
        let (cores, invocation) = self.prepared(contender, PREPASS)?;
        let Some((output, calls)) = calls::count(&cores, &invocation)? else {
            return Ok(None);
        };
        Ok(Some(calls / contender.read(&output, PREPASS)?.ios))
    }

    fn figures(&self, contender: &dyn Contender, start: &Cost) -> Result<Figures> {
        let (counts, cost) = self.measure(contender, self.length())?;
        ensure!(counts.ios > 0.0, "{} did no I/O", contender.name());
        let seconds = counts.ios / counts.iops;
        Ok(Figures {
            iops: counts.iops,
            user_ns_per_io: (cost.user_ns - start.user_ns).max(0.0) / counts.ios,
            system_ns_per_io: (cost.system_ns - start.system_ns).max(0.0) / counts.ios,
            context_switches_per_second: cost.context_switches / seconds,
            achieved_depth: counts.achieved_depth,
        })
    }

    fn measure(&self, contender: &dyn Contender, length: Length) -> Result<(Counts, Cost)> {
        let (cores, invocation) = self.prepared(contender, length)?;
        let ended = run_child(&cores, &invocation);
        ensure!(
            !self.interrupted.load(Ordering::Relaxed),
            "interrupted; what was made is removed"
        );
        let (output, cost) = ended?;
        Ok((contender.read(&output, length)?, cost))
    }

    /// Brings the target into its state, and tells what to run on which processors.
    fn prepared(&self, contender: &dyn Contender, length: Length) -> Result<(String, Invocation)> {
        self.target
            .prepare(self.work)
            .context("preparing the target")?;
        let invocation =
            contender.invocation(self.work, &self.target.path().to_string_lossy(), length);
        Ok((self.args.cores(self.work.numjobs), invocation))
    }

    fn length(&self) -> Length {
        Length::Seconds(self.args.seconds)
    }

    /// What somebody would type to see it.
    fn command(&self, contender: &dyn Contender) -> String {
        let invocation = contender.invocation(
            self.work,
            &self.target.path().to_string_lossy(),
            self.length(),
        );
        let fed = invocation
            .input
            .map(|input| format!("echo '{input}' | "))
            .unwrap_or_default();
        let cores = self.args.cores(self.work.numjobs);
        format!(
            "{fed}taskset -c {cores} {} {}",
            invocation.program.display(),
            invocation.args.join(" ")
        )
    }
}

/// The one of ours whose offsets are alike.
fn partner(
    contender: &dyn Contender,
    figures: &BTreeMap<String, Vec<Figures>>,
) -> Option<&'static str> {
    let repeating = contender.repeats() && figures.contains_key(OURS_REPEATING);
    let is_ours = [OURS, OURS_REPEATING].contains(&contender.name().as_str());
    (!is_ours).then_some(if repeating { OURS_REPEATING } else { OURS })
}

fn boxed<C: Contender + 'static>(contender: C) -> Box<dyn Contender> {
    Box::new(contender)
}
