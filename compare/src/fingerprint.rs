//! Fingerprints of jobs and hosts. Runs with equal fingerprints are repeats of the same test.

use crate::{
    group::ComparedRun,
    settings::{Facts, host_facts, is_ignored, settings},
};
use sha2::{Digest, Sha256};

/// Hexadecimal digits of a fingerprint: collisions are improbable for any history of runs.
const DIGITS: usize = 16;

/// Targets as seen by the host; a job can run on several.
const HOST_SETTINGS: &[&str] = &["targets.device", "targets.filesystem", "targets.identity"];

/// Of the resolved workload without names, paths, seeds and devices; `None` without resolved jobs.
pub fn job(run: &ComparedRun) -> Option<String> {
    (!run.resolved.is_empty()).then(|| digest(&job_facts(run)))
}

/// Of hardware, kernel, filesystem and device; `None` without host facts.
pub fn host(run: &ComparedRun) -> Option<String> {
    run.host?;
    let mut facts = host_facts(run);
    // A new version of the runner is no other host.
    facts.remove("runner");
    let targets = settings(run, run.resolved.len());
    facts.extend(targets.into_iter().filter(|(name, _)| is_of_host(name)));
    Some(digest(&facts))
}

/// The settings of a test.
pub(crate) fn job_facts(run: &ComparedRun) -> Facts {
    let mut facts = settings(run, run.resolved.len());
    facts.retain(|name, _| !is_ignored(name) && !is_of_host(name));
    facts
}

fn is_of_host(name: &str) -> bool {
    HOST_SETTINGS.iter().any(|setting| name.ends_with(setting))
}

fn digest(facts: &Facts) -> String {
    let mut hash = Sha256::new();
    for (name, value) in facts {
        // Facts that a version does not know and facts without a value are equal.
        if let Some(value) = value {
            hash.update(format!("{name}\0{value}\0"));
        }
    }
    let hexadecimal: String = hash
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    hexadecimal[..DIGITS].to_owned()
}
