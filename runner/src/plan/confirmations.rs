//! Checks data that a run would overwrite: no other process may use it, and the user must confirm
//! it.
//!
//! A confirmation has the form `TEXT@CODE`. The user types the text, such as the device's serial
//! number. The code comes from a plan and is bound to the jobs, the target's state and the time of
//! the plan. It is not a secret: it proves that the plan was read, but not who read it.

use crate::plan::{
    host_view::{HostView, Overwritten},
    issues::Issues,
};
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
use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

/// Maximum time from a plan to its confirmation, in minutes.
const VALID_MINUTES: u64 = 10;
/// Hexadecimal digits of the digest in a code.
const DIGEST_LENGTH: usize = 16;
const FIELD: &str = "confirm";

/// Byte ranges of existing targets that the jobs write to, by path.
pub(crate) type Overwrites<'a> = BTreeMap<&'a str, Vec<Range<u64>>>;

pub(crate) fn overwrites<'a>(jobs: impl Iterator<Item = &'a ResolvedJob>) -> Overwrites<'a> {
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

/// Ranges that the job and its layout write to.
fn written(job: &ResolvedJob, target: &Target) -> Vec<Range<u64>> {
    let mut ranges = Vec::new();
    if job.pattern.rw.is_destructive() {
        ranges.push(target.offset..target.offset + target.size);
    }
    if let Some(offset) = target.layout_offset {
        ranges.push(offset..offset + target.layout_bytes);
    }
    ranges
}

/// Checks all targets that the jobs overwrite. Returns all confirmations that the run needs,
/// including those that the user has already entered.
pub(crate) fn check(
    run: &RunSpec,
    jobs: &[&ResolvedJob],
    host: &dyn HostView,
    issues: &mut Issues,
) -> Vec<Confirmation> {
    let is_step = run.study.is_some();
    let accepted = run.accepted_minute.unwrap_or(host.minute());
    let mut needed = Vec::new();
    let mut extended = BTreeSet::new();
    for (path, regions) in overwrites(jobs.iter().copied()) {
        if is_study_file(run, path) {
            continue;
        }
        match host.overwritten(path, &regions) {
            Ok(Some(found)) if found.needs_confirmation(is_step) => {
                let state = found.bound_state(is_step);
                let code = code(&state, jobs, run, host.minute());
                if found.is_only_extended {
                    extended.insert(path);
                }
                needed.push(confirmation(path, found, state, code));
            }
            Ok(_) => {}
            Err(problem) => issues.run_problem(problem),
        }
    }
    for confirmation in &needed {
        let digest = |minute| code(&confirmation.state, jobs, run, minute);
        let effect = if extended.contains(confirmation.path.as_str()) {
            "extend"
        } else {
            "overwrite"
        };
        let given = &run.confirm;
        if let Some(problem) = problem(confirmation, effect, &needed, given, accepted, digest) {
            issues.run_problem(problem);
        }
    }
    needed
}

fn confirmation(path: &str, found: Overwritten, state: String, code: String) -> Confirmation {
    Confirmation {
        path: path.into(),
        kind: found.kind,
        identity: found.identity,
        text: found.text,
        contents: found.contents,
        code,
        state,
    }
}

/// Whether an earlier study step created the file: its path contains the study's file ID.
fn is_study_file(run: &RunSpec, path: &str) -> bool {
    run.study.as_ref().is_some_and(|id| path.contains(id))
}

/// `effect`: what the run does to the target. `needed`: confirmations of all targets. `given`:
/// entries of the form `TEXT@CODE`. `minute`: when they were given. `digest`: computes the code for
/// a time.
fn problem(
    confirmation: &Confirmation,
    effect: &str,
    needed: &[Confirmation],
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
    // Study steps, or files with the same name, can share a text, but their codes differ.
    let of_target = |needed: &Confirmation, entry: &str| {
        let code = entry.strip_prefix(&needed.text);
        code.and_then(|code| code.strip_prefix('@'))
            .map(str::to_owned)
    };
    let codes = || {
        given
            .iter()
            .filter_map(|entry| of_target(confirmation, entry))
    };
    let planned = codes().find_map(|code| {
        let planned = planned_minute(&code)?;
        (code == digest(planned)).then_some(planned)
    });
    let is_of_no_target = |entry: &String| {
        !needed
            .iter()
            .any(|needed| of_target(needed, entry).is_some())
    };
    let is_attempt = codes().next().is_some() || given.iter().any(is_of_no_target);
    let (problem, detail) = match planned {
        Some(planned) if planned <= minute && minute - planned <= VALID_MINUTES => return None,
        Some(_) => (
            "confirmation_expired",
            format!("The confirmation of {path} is older than {VALID_MINUTES} minutes."),
        ),
        None if is_attempt => (
            "confirmation_invalid",
            format!(
                "The confirmation of {path} has a different text or is for different jobs, or the target or its data has changed. {path} contains {contents}."
            ),
        ),
        None => (
            "not_confirmed",
            format!("The run would {effect} {path}, which contains {contents}."),
        ),
    };
    let entry = quote_for_shell(&format!("{text}@{code}"));
    let remedy = format!(
        "If its data may be lost, confirm within {VALID_MINUTES} minutes: --confirm {entry}"
    );
    Some(Problem::guard(problem, FIELD, detail, remedy))
}

/// `MINUTE-DIGEST`, in hexadecimal digits.
fn code(state: &str, jobs: &[&ResolvedJob], run: &RunSpec, minute: u64) -> String {
    let mut hash = Sha256::new();
    hash.update(format!("{minute} {state} "));
    for job in jobs {
        let mut job = ResolvedJob::clone(job);
        // The name is irrelevant, and randrepeat=0 generates a new seed for each plan.
        job.name.clear();
        job.pattern.randseed = 0;
        let mut json = serde_json::to_string(&job).unwrap_or_default();
        if let Some(file_id) = &run.study {
            // Each plan generates a new file ID.
            json = json.replace(file_id, "");
        }
        hash.update(json);
    }
    format!("{minute:x}-{}", &hex(&hash.finalize())[..DIGEST_LENGTH])
}

/// Quotes text for a shell.
fn quote_for_shell(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
