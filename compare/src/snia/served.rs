//! Detects runs that were served by memory.

use crate::procedure_run::ProcedureRun;
use leadline_protocol::verdict::VerdictClass;

/// The class of the first verdict (reads, then writes) that attributes the I/Os to memory; `None`
/// if there is none.
pub(crate) fn memory_class(run: &ProcedureRun) -> Option<VerdictClass> {
    let verdicts = run.run.verdict?;
    let classes = [&verdicts.read, &verdicts.write].into_iter().flatten();
    let mut classes = classes.map(|verdict| verdict.class);
    classes.find(|class| {
        matches!(
            class,
            VerdictClass::PageCache
                | VerdictClass::LowerCache
                | VerdictClass::DeferredWrite
                | VerdictClass::NoDevice
        )
    })
}
