//! Results of studies whose runs follow a procedure, and when they end.

use crate::{procedure_run::ProcedureRun, snia};
use leadline_protocol::study::procedure::{Procedure, ProcedureResults};

/// `runs` has one element per run of the plan; `None` if the run was deleted.
pub fn results(procedure: &Procedure, runs: &[Option<ProcedureRun>]) -> ProcedureResults {
    match procedure {
        Procedure::Snia(test) => ProcedureResults::Snia(snia::results(test, runs)),
    }
}

/// Why the runs that have not started are not needed, such as `steady state in round 7`; `None` if
/// they are.
pub fn early_end(procedure: &Procedure, runs: &[Option<ProcedureRun>]) -> Option<String> {
    match procedure {
        Procedure::Snia(test) => snia::early_end(test, runs),
    }
}
