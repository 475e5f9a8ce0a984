//! Settings that both Leadline and fio results contain, under fio's names, for comparing runs of
//! different programs.

use crate::group::ComparedRun;
use leadline_protocol::{
    job::{
        direction::PerDirection,
        fio::printed_options::{DEFAULTS, PREFIX},
    },
    plan::job::ResolvedJob,
};
use std::collections::BTreeMap;

/// Names and values of settings; `None` for null.
type Facts = BTreeMap<String, Option<String>>;

/// The settings of the first job of a Leadline result; empty without a job.
pub(crate) fn of_leadline(run: &ComparedRun) -> Facts {
    let Some(job) = run.resolved.first() else {
        return Facts::new();
    };
    let mut facts = Facts::from([
        ("rw".into(), Some(job.pattern.rw.as_str().to_owned())),
        ("iodepth".into(), Some(job.ring.iodepth.to_string())),
        ("numjobs".into(), Some(job.numjobs.to_string())),
        ("direct".into(), Some(u8::from(job.direct).to_string())),
        (
            "ioengine".into(),
            Some(job.ring.ioengine.as_str().to_owned()),
        ),
    ]);
    if let Some(bytes) = block_size(job) {
        facts.insert("bs".into(), Some(bytes.to_string()));
    }
    prefixed(facts)
}

/// The settings of a fio result that `of_leadline` also returns.
pub(crate) fn of_fio(run: &ComparedRun) -> Facts {
    let all = run.foreign_settings().into_iter().flatten();
    let compared = all.filter(|(name, _)| {
        let name = name.strip_prefix(PREFIX);
        name.is_some_and(|name| DEFAULTS.iter().any(|(default, _)| *default == name))
    });
    compared
        .map(|(name, value)| (name.clone(), Some(value.clone())))
        .collect()
}

fn prefixed(facts: Facts) -> Facts {
    let facts = facts.into_iter();
    facts
        .map(|(name, value)| (format!("{PREFIX}{name}"), value))
        .collect()
}

/// The block size of all directions that the job uses; `None` if it varies.
fn block_size(job: &ResolvedJob) -> Option<u64> {
    let PerDirection { read, write, trim } = &job.pattern.bs;
    let rw = job.pattern.rw;
    let used = [(rw.reads(), read), (rw.writes(), write), (rw.trims(), trim)];
    let mut sizes = used
        .iter()
        .filter(|(is_used, _)| *is_used)
        .map(|(_, range)| (range.min == range.max).then_some(range.max));
    let first = sizes.next()??;
    sizes.all(|size| size == Some(first)).then_some(first)
}
