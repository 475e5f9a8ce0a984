//! Data that a run would destroy: it must be unused by other processes, and confirmed.
//!
//! A confirmation is `TEXT@CODE`. A person types the text, such as the serial number of the device.
//! The code is that of a plan, and is bound to the jobs, to the state of the target and to the time
//! of the plan. It is no secret: it proves that the plan was seen, not who saw it.

use crate::plan::{host_view::HostView, issues::Issues};
use leadline_protocol::{
    format::hex,
    job::run_spec::RunSpec,
    plan::{
        Confirmation,
        job::ResolvedJob,
        planned_minute,
        target::{Target, TargetKind},
    },
    problem::Problem,
};
use sha2::{Digest, Sha256};
use std::{collections::BTreeMap, ops::Range};

/// Time from a plan to the start of the run, in minutes.
const VALID_MINUTES: u64 = 10;
/// Hexadecimal digits of the digest in a code.
const DIGEST_LENGTH: usize = 16;
const FIELD: &str = "confirm";

/// Byte ranges of existing targets that the jobs write, by path.
pub(crate) type Overwrites<'a> = BTreeMap<&'a str, Vec<Range<u64>>>;

pub(crate) fn overwrites(jobs: &[ResolvedJob]) -> Overwrites<'_> {
    let mut found = Overwrites::new();
    for job in jobs {
        for target in &job.targets {
            let is_existing = target.existed && target.kind != TargetKind::Null;
            let ranges = written(job, target);
            if is_existing && !ranges.is_empty() {
                found.entry(&target.path).or_default().extend(ranges);
            }
        }
    }
    found
}

/// By the job itself, and by its layout.
fn written(job: &ResolvedJob, target: &Target) -> Vec<Range<u64>> {
    let mut ranges = Vec::new();
    if job.pattern.rw.destroys() {
        ranges.push(target.offset..target.offset + target.size);
    }
    if let Some(offset) = target.layout_offset {
        ranges.push(offset..offset + target.layout_bytes);
    }
    ranges
}

/// Checks all targets that the jobs overwrite. Returns the confirmations that the run needs,
/// whether they were given or not.
pub(crate) fn check(
    run: &RunSpec,
    jobs: &[ResolvedJob],
    host: &dyn HostView,
    issues: &mut Issues,
) -> Vec<Confirmation> {
    let is_step = run.study.is_some();
    let accepted = run.accepted_minute.unwrap_or(host.minute());
    let mut confirmations = Vec::new();
    for (path, regions) in overwrites(jobs) {
        if is_file_of_study(run, path) {
            continue;
        }
        let overwritten = match host.overwritten(path, &regions) {
            Ok(Some(overwritten)) if overwritten.needs_confirmation(is_step) => overwritten,
            Ok(_) => continue,
            Err(problem) => {
                issues.run_problem(problem);
                continue;
            }
        };
        let state = overwritten.bound_state(is_step);
        let file_id = run.study.as_deref();
        let digest = |minute: u64| code(&state, jobs, file_id, minute);
        let confirmation = Confirmation {
            path: path.into(),
            kind: overwritten.kind,
            code: digest(host.minute()),
            identity: overwritten.identity,
            text: overwritten.text,
            contents: overwritten.contents,
            state: state.clone(),
        };
        let problem = problem(&confirmation, &run.confirm, accepted, digest);
        if let Some(problem) = problem {
            issues.run_problem(problem);
        }
        confirmations.push(confirmation);
    }
    confirmations
}

/// Earlier steps of the study created the files whose names contain its id.
fn is_file_of_study(run: &RunSpec, path: &str) -> bool {
    run.study.as_ref().is_some_and(|id| path.contains(id))
}

/// `given`: entries `TEXT@CODE`. `minute`: when they were given. `digest`: the code for a time.
fn problem(
    confirmation: &Confirmation,
    given: &[String],
    minute: u64,
    digest: impl Fn(u64) -> String,
) -> Option<Problem> {
    let Confirmation {
        path,
        text,
        contents,
        code,
        ..
    } = confirmation;
    let contents = contents.join(", ");
    // The steps of a study, and files with the same name, have codes of their own.
    let prefix = format!("{text}@");
    let mut entries = given.iter().filter(|entry| entry.starts_with(&prefix));
    let has_entries = entries.clone().next().is_some();
    let planned = entries.find_map(|entry| {
        let planned = planned_minute(entry)?;
        (entry[prefix.len()..] == digest(planned)).then_some(planned)
    });
    let (problem, detail) = match planned {
        Some(planned) if planned <= minute && minute - planned <= VALID_MINUTES => return None,
        Some(_) => (
            "confirmation_expired",
            format!("The confirmation of {path} is older than {VALID_MINUTES} minutes."),
        ),
        None if has_entries => (
            "confirmation_invalid",
            format!(
                "The confirmation of {path} is for other jobs, or the target or its data have changed. It holds {contents}."
            ),
        ),
        None => (
            "not_confirmed",
            format!("The run would overwrite {path}, which holds {contents}."),
        ),
    };
    let entry = quoted(&format!("{text}@{code}"));
    let remedy = format!(
        "If its data may be lost, confirm within {VALID_MINUTES} minutes: --confirm {entry}"
    );
    Some(Problem::guard(problem, FIELD, detail, remedy))
}

/// `MINUTE-DIGEST`, in hexadecimal digits.
///
/// `file_id`: of the study, which each plan draws anew.
fn code(state: &str, jobs: &[ResolvedJob], file_id: Option<&str>, minute: u64) -> String {
    let mut hash = Sha256::new();
    hash.update(format!("{minute} {state} "));
    for job in jobs {
        let mut job = job.clone();
        // The name means nothing, and randrepeat=0 draws a new seed for each plan.
        job.name.clear();
        job.pattern.randseed = 0;
        let mut json = serde_json::to_string(&job).unwrap_or_default();
        if let Some(file_id) = file_id {
            json = json.replace(file_id, "");
        }
        hash.update(json);
    }
    format!("{minute:x}-{}", &hex(&hash.finalize())[..DIGEST_LENGTH])
}

/// For a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
