//! Notes on the runs, duration and writes of a study that follows a procedure.

use leadline_compare::{
    load_curve::{MAX_EXTRA, planned_seconds},
    snia::deviations::planned,
};
use leadline_protocol::{
    format::{bytes, duration},
    plan::job::ResolvedJob,
    study::{
        load_curve::LoadCurve,
        plan::StepPlan,
        procedure::Procedure,
        snia::{MIN_ROUNDS, SniaRun, SniaTest, SniaTestName},
    },
};

/// Number of rates derived from a probe.
const PLANNED_RATES: usize = 10;

/// `steps`: the steps of the plan.
pub(super) fn notes(procedure: Option<&Procedure>, steps: &[StepPlan]) -> Vec<String> {
    match procedure {
        Some(Procedure::Snia(test)) => snia_notes(test, steps),
        Some(Procedure::LoadCurve(curve)) => curve_notes(curve, steps),
        None => Vec::new(),
    }
}

fn snia_notes(test: &SniaTest, steps: &[StepPlan]) -> Vec<String> {
    let mut notes = Vec::new();
    if test.test != SniaTestName::WriteSaturation {
        notes.push(format!(
            "{} to {} rounds; {}.",
            MIN_ROUNDS,
            test.max_rounds,
            rounds_time(test, steps)
        ));
    }
    notes.push(test_writes(test, steps));
    let jobs = steps.last().map(|step| step.plan.jobs.as_slice());
    let deviations = planned(test, jobs.unwrap_or_default()).into_iter();
    notes.extend(
        deviations.map(|deviation| format!("Deviates from SNIA SSS PTS: {}", deviation.sentence)),
    );
    notes
}

/// For example, `about 4 h 40 min to 23 h 20 min in total, plus the time to write the active range
/// twice`.
fn rounds_time(test: &SniaTest, steps: &[StepPlan]) -> String {
    let seconds = |most: u32| -> f64 {
        let runs = steps.iter().zip(test.runs());
        let known = runs.filter(|(_, role)| match role {
            SniaRun::Round { round, .. } => *round <= most,
            _ => true,
        });
        known
            .filter_map(|(step, _)| step.plan.estimate.seconds)
            .sum()
    };
    format!(
        "about {} to {} in total, plus the time to write the active range twice",
        hours(seconds(MIN_ROUNDS)),
        hours(seconds(test.max_rounds))
    )
}

/// Example: `4 h 40 min`.
fn hours(seconds: f64) -> String {
    let minutes = (seconds / 60.0).round() as u64;
    match minutes {
        0..120 => duration(seconds * 1000.0),
        _ => format!("{} h {} min", minutes / 60, minutes % 60),
    }
}

fn test_writes(test: &SniaTest, steps: &[StepPlan]) -> String {
    let known = steps
        .iter()
        .zip(test.runs())
        .filter(|(_, role)| matches!(role, SniaRun::Precondition | SniaRun::Saturate))
        .filter_map(|(step, _)| step.plan.estimate.measure_write_bytes)
        .sum::<u64>();
    match test.test {
        SniaTestName::WriteSaturation => format!(
            "Writes at most {}, for at most {}.",
            bytes(known),
            duration(f64::from(test.cell_seconds) * 1000.0)
        ),
        _ => format!(
            "Preconditioning writes {}. The measured rounds write as fast as the device allows, so their total is unknown in advance.",
            bytes(known)
        ),
    }
}

/// For example, `3 rates take at most 3 min. An overloaded rate is repeated once, ...`.
fn curve_notes(curve: &LoadCurve, steps: &[StepPlan]) -> Vec<String> {
    let Some(rates) = planned_seconds(curve) else {
        let writes = steps.iter().any(|step| writes(&step.plan.jobs));
        let bytes = if writes {
            " The amount of data written depends on the IOPS of the first run and is unknown in advance."
        } else {
            ""
        };
        let most = PLANNED_RATES + MAX_EXTRA;
        return vec![format!(
            "The first run has no rate limit. It is followed by up to {most} rates of 10 to 120 s each, from 10 % of its IOPS upward. An overloaded rate is repeated once; higher ones are not run.{bytes}"
        )];
    };
    let seconds: u32 = rates.iter().map(|(_, seconds)| seconds).sum();
    let longest = rates.iter().map(|(_, seconds)| *seconds).max().unwrap_or(0);
    let mut notes = vec![format!(
        "{} rates take at most {}. An overloaded rate is repeated once, higher ones are not run, and up to {MAX_EXTRA} more runs of up to {} narrow down the saturation point.",
        rates.len(),
        duration(f64::from(seconds) * 1000.0),
        duration(f64::from(longest) * 1000.0)
    )];
    if let Some(most) = likely_max_bytes(&rates, steps) {
        notes.push(format!(
            "The specified rates write at most {}.",
            bytes(most)
        ));
    }
    notes
}

/// Returns a number of bytes that the runs will almost certainly not exceed; `None` for reads. The
/// number of arrivals is random, and its standard deviation is the square root of its mean. About
/// one run in 30,000 exceeds the mean by more than four standard deviations.
fn likely_max_bytes(rates: &[(f64, u32)], steps: &[StepPlan]) -> Option<u64> {
    let jobs = &steps.first()?.plan.jobs;
    let job = jobs.iter().find(|_| writes(jobs))?;
    let ios = rates.iter().map(|(rate, seconds)| {
        let mean = rate * f64::from(*seconds);
        (mean + 4.0 * mean.sqrt()).ceil()
    });
    Some(ios.sum::<f64>() as u64 * job.pattern.bs.write.max)
}

fn writes(jobs: &[ResolvedJob]) -> bool {
    jobs.iter().any(|job| job.pattern.rw.writes())
}
