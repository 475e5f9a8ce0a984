//! What to expect from a study whose runs follow a procedure.

use leadline_compare::snia::deviations::planned;
use leadline_protocol::{
    format::{bytes, duration},
    study::{
        plan::StepPlan,
        procedure::Procedure,
        snia::{MIN_ROUNDS, SniaRun, SniaTest, SniaTestName},
    },
};

/// `steps` are those of the plan.
pub(super) fn notes(procedure: Option<&Procedure>, steps: &[StepPlan]) -> Vec<String> {
    match procedure {
        Some(Procedure::Snia(test)) => snia_notes(test, steps),
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
    notes.push(writes(test, steps));
    let jobs = steps.last().map(|step| step.plan.jobs.as_slice());
    let deviations = planned(test, jobs.unwrap_or_default()).into_iter();
    notes.extend(
        deviations.map(|deviation| format!("Deviates from SNIA SSS PTS: {}", deviation.sentence)),
    );
    notes
}

/// Example: `5 h at least, at most 1 d, plus preconditioning, which depends on the device`.
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
        duration(seconds(MIN_ROUNDS) * 1000.0),
        duration(seconds(test.max_rounds) * 1000.0)
    )
}

fn writes(test: &SniaTest, steps: &[StepPlan]) -> String {
    let known = steps
        .iter()
        .zip(test.runs())
        .filter(|(_, role)| matches!(role, SniaRun::Precondition | SniaRun::Saturate))
        .filter_map(|(step, _)| step.plan.estimate.measure_write_bytes)
        .sum::<u64>();
    match test.test {
        SniaTestName::WriteSaturation => format!(
            "Writes at most {}, or for {}.",
            bytes(known),
            duration(f64::from(test.cell_seconds) * 1000.0)
        ),
        _ => format!(
            "Preconditioning writes {}. The cells of the rounds write as fast as the device permits, so their bytes are unknown before the start.",
            bytes(known)
        ),
    }
}
