//! The rounds of one cell. A pre-pass measures the start-up cost of each contender and finds the
//! best batch sizes of fio and t/io_uring. Each round then runs every contender once, in random
//! order, so that drift affects all contenders alike and cancels out in the ratios.

use crate::{
    args::Args,
    calls,
    cell::Cell,
    child::{Cost, Invocation, run as run_child},
    contender::{
        Contender, Counts,
        runner::{LEADLINE, LEADLINE_REPEATING, Runner},
    },
    target::interface::Target,
    work::{Length, Rw, Work},
};
use anyhow::{Context, Result, ensure};
use rand::{SeedableRng, rngs::Xoshiro256PlusPlus, seq::SliceRandom};
use serde::Serialize;
use std::{
    collections::BTreeMap,
    hash::{BuildHasher, Hasher, RandomState},
    sync::atomic::{AtomicBool, Ordering},
};

#[derive(Clone, Copy, Debug, Serialize)]
pub struct RoundValues {
    pub iops: f64,
    /// User CPU time per I/O in ns, excluding the start-up cost.
    pub user_ns_per_io: f64,
    pub system_ns_per_io: f64,
    pub context_switches_per_second: f64,
    /// Sum across all jobs.
    pub achieved_depth: Option<f64>,
}

/// Results of a cell, per contender.
#[derive(Debug)]
pub struct Rounds {
    pub commands: BTreeMap<String, String>,
    /// The Leadline build that the contender is compared with.
    pub reference_builds: BTreeMap<String, &'static str>,
    /// `None` if perf is not available.
    pub calls_per_io: BTreeMap<String, Option<f64>>,
    pub values: BTreeMap<String, Vec<RoundValues>>,
}

/// The shortest run that t/io_uring supports.
const PREPASS_LENGTH: Length = Length::Seconds(1);
/// Number of runs that measure the start-up cost.
const START_COST_RUNS: u32 = 3;

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
    let start_costs = contenders
        .iter()
        .map(|contender| bench.start_cost(&**contender))
        .collect::<Result<Vec<_>>>()?;
    let mut values: BTreeMap<String, Vec<RoundValues>> = BTreeMap::new();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(RandomState::new().build_hasher().finish());
    let mut order: Vec<usize> = (0..contenders.len()).collect();
    for round in 1..=args.rounds {
        eprintln!("[bench] {}: round {round} of {}", cell.name, args.rounds);
        order.shuffle(&mut rng);
        for &number in &order {
            let contender = &*contenders[number];
            values
                .entry(contender.name())
                .or_default()
                .push(bench.values(contender, &start_costs[number])?);
        }
    }
    let commands = contenders
        .iter()
        .map(|contender| (contender.name(), bench.command(&**contender)))
        .collect();
    let reference_builds = contenders
        .iter()
        .filter_map(|contender| Some((contender.name(), reference_build(&**contender, &values)?)))
        .collect();
    Ok(Rounds {
        commands,
        reference_builds,
        calls_per_io,
        values,
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
        let (fio, tuned) = self.args.fio_contenders(self.work);
        let mut all: Vec<Box<dyn Contender>> =
            self.args.runners()?.into_iter().map(boxed).collect();
        all.extend(fio.map(boxed));
        all.extend(self.best(tuned)?.map(boxed));
        all.extend(
            self.best(self.args.t_io_uring_contenders(self.work))?
                .map(boxed),
        );
        all.retain(|contender| contender.supports(self.work, self.length()));
        if self.work.rw != Rw::Read && all.iter().any(|contender| contender.may_repeat_offsets()) {
            let leadline = self.args.runners()?.remove(0);
            all.insert(
                1,
                Box::new(Runner {
                    label: LEADLINE_REPEATING.into(),
                    norandommap: true,
                    ..leadline
                }),
            );
        }
        Ok(all)
    }

    /// Returns the candidate with the highest IOPS in a short run.
    fn best<C: Contender>(&self, candidates: Vec<C>) -> Result<Option<C>> {
        let supported: Vec<C> = candidates
            .into_iter()
            .filter(|candidate| candidate.supports(self.work, PREPASS_LENGTH))
            .collect();
        if supported.len() < 2 {
            return Ok(supported.into_iter().next());
        }
        let rates = supported
            .iter()
            .map(|candidate| Ok(self.measure(candidate, PREPASS_LENGTH)?.0.iops))
            .collect::<Result<Vec<f64>>>()?;
        Ok(supported
            .into_iter()
            .zip(rates)
            .max_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(candidate, _)| candidate))
    }

    fn start_cost(&self, contender: &dyn Contender) -> Result<Cost> {
        let mut sum = Cost::default();
        if contender.supports(self.work, Length::OneIo) {
            for _ in 0..START_COST_RUNS {
                let (_, cost) = self.measure(contender, Length::OneIo)?;
                sum.user_ns += cost.user_ns / f64::from(START_COST_RUNS);
                sum.system_ns += cost.system_ns / f64::from(START_COST_RUNS);
            }
        }
        Ok(sum)
    }

    /// `None` if perf is not available or the contender does not report its number of I/Os.
    fn calls_per_io(&self, contender: &dyn Contender) -> Result<Option<f64>> {
        if !contender.supports(self.work, Length::OneIo) {
            return Ok(None);
        }
        let (cpus, invocation) = self.prepare(contender, PREPASS_LENGTH)?;
        let Some((output, calls)) = calls::count(&cpus, &invocation)? else {
            return Ok(None);
        };
        Ok(Some(calls / contender.parse(&output, PREPASS_LENGTH)?.ios))
    }

    fn values(&self, contender: &dyn Contender, start: &Cost) -> Result<RoundValues> {
        let (counts, cost) = self.measure(contender, self.length())?;
        ensure!(counts.ios > 0.0, "{} did no I/O", contender.name());
        let seconds = counts.ios / counts.iops;
        Ok(RoundValues {
            iops: counts.iops,
            user_ns_per_io: (cost.user_ns - start.user_ns).max(0.0) / counts.ios,
            system_ns_per_io: (cost.system_ns - start.system_ns).max(0.0) / counts.ios,
            context_switches_per_second: cost.context_switches / seconds,
            achieved_depth: counts.achieved_depth,
        })
    }

    fn measure(&self, contender: &dyn Contender, length: Length) -> Result<(Counts, Cost)> {
        let (cpus, invocation) = self.prepare(contender, length)?;
        let result = run_child(&cpus, &invocation);
        ensure!(
            !self.interrupted.load(Ordering::Relaxed),
            "interrupted; all targets were removed"
        );
        let (output, cost) = result?;
        Ok((contender.parse(&output, length)?, cost))
    }

    /// Prepares the target. Returns the CPUs and the command line of the contender.
    fn prepare(&self, contender: &dyn Contender, length: Length) -> Result<(String, Invocation)> {
        self.target
            .prepare(self.work)
            .context("preparing the target")?;
        let invocation =
            contender.invocation(self.work, &self.target.path().to_string_lossy(), length);
        Ok((self.args.cpu_list(self.work.numjobs), invocation))
    }

    fn length(&self) -> Length {
        Length::Seconds(self.args.seconds)
    }

    /// The command as typed in a shell.
    fn command(&self, contender: &dyn Contender) -> String {
        let invocation = contender.invocation(
            self.work,
            &self.target.path().to_string_lossy(),
            self.length(),
        );
        let input = invocation
            .input
            .map(|input| format!("echo '{input}' | "))
            .unwrap_or_default();
        let cpus = self.args.cpu_list(self.work.numjobs);
        format!(
            "{input}taskset -c {cpus} {} {}",
            invocation.program.display(),
            invocation.args.join(" ")
        )
    }
}

/// Label of the Leadline build that the contender is compared with: the one with repeating offsets
/// if the contender's offsets may repeat. `None` if the contender is Leadline.
fn reference_build(
    contender: &dyn Contender,
    values: &BTreeMap<String, Vec<RoundValues>>,
) -> Option<&'static str> {
    let repeating = contender.may_repeat_offsets() && values.contains_key(LEADLINE_REPEATING);
    let is_leadline = [LEADLINE, LEADLINE_REPEATING].contains(&contender.name().as_str());
    (!is_leadline).then_some(if repeating {
        LEADLINE_REPEATING
    } else {
        LEADLINE
    })
}

fn boxed<C: Contender + 'static>(contender: C) -> Box<dyn Contender> {
    Box::new(contender)
}
