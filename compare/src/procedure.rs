//! Results of studies whose runs follow a procedure, and when they end.

use crate::{load_curve, procedure_run::ProcedureRun, snia};
use leadline_protocol::study::procedure::{Procedure, ProcedureResults};
use serde_json::Value;

/// `runs` contains one element per run of the plan, which is `None` if the run was deleted.
pub fn results(procedure: &Procedure, runs: &[Option<ProcedureRun>]) -> ProcedureResults {
    match procedure {
        Procedure::Snia(test) => ProcedureResults::Snia(snia::results(test, runs)),
        Procedure::LoadCurve(curve) => {
            ProcedureResults::LoadCurve(load_curve::results(curve, runs))
        }
    }
}

/// Why the remaining runs do not need to start, such as `steady state in round 7`; `None` if they
/// are needed.
pub fn early_end(procedure: &Procedure, runs: &[Option<ProcedureRun>]) -> Option<String> {
    match procedure {
        Procedure::Snia(test) => snia::early_end(test, runs),
        Procedure::LoadCurve(_) => None,
    }
}

/// Whether the procedure adds runs that are not in the plan.
pub fn adds_runs(procedure: &Procedure) -> bool {
    matches!(procedure, Procedure::LoadCurve(_))
}

/// Whether the result of this step (one-based) determines the remaining runs.
pub fn is_probe(procedure: &Procedure, step: u32) -> bool {
    matches!(procedure, Procedure::LoadCurve(curve) if curve.rates.is_none() && step == 1)
}

/// The next run, as a study step document; `None` if the procedure adds no further run. All runs
/// must have ended.
pub fn next_step(procedure: &Procedure, runs: &[Option<ProcedureRun>]) -> Option<Value> {
    match procedure {
        Procedure::Snia(_) => None,
        Procedure::LoadCurve(curve) => load_curve::next_step(curve, runs),
    }
}
