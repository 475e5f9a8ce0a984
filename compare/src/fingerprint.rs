//! Fingerprints of jobs and hosts. Runs with equal fingerprints are repeats of the same test.

use crate::{
    group::ComparedRun,
    settings::{Facts, host_facts, is_ignored, settings},
};
use sha2::{Digest, Sha256};

/// Number of hexadecimal digits, so that collisions are improbable in any run history.
const DIGITS: usize = 16;

/// Target properties that depend on the host. The same job can run on several hosts.
const HOST_SETTINGS: &[&str] = &["targets.device", "targets.filesystem", "targets.identity"];

/// Fingerprint of the resolved workload without names, paths, seeds and devices; `None` without
/// resolved jobs.
pub fn job(run: &ComparedRun) -> Option<String> {
    (!run.resolved.is_empty()).then(|| digest(&job_facts(run)))
}

/// Fingerprint of the hardware, kernel, filesystem and device; `None` without host facts.
pub fn host(run: &ComparedRun) -> Option<String> {
    run.host?;
    let mut facts = host_facts(run);
    // A new runner version does not make it a different host.
    facts.remove("runner");
    let targets = settings(run, run.resolved.len());
    facts.extend(
        targets
            .into_iter()
            .filter(|(name, _)| is_host_setting(name)),
    );
    Some(digest(&facts))
}

/// The settings that define a test.
pub(crate) fn job_facts(run: &ComparedRun) -> Facts {
    let mut facts = settings(run, run.resolved.len());
    facts.retain(|name, _| !is_ignored(name) && !is_host_setting(name));
    facts
}

fn is_host_setting(name: &str) -> bool {
    HOST_SETTINGS.iter().any(|setting| name.ends_with(setting))
}

fn digest(facts: &Facts) -> String {
    let mut hash = Sha256::new();
    for (name, value) in facts {
        // A fact without a value is equal to a fact that the runner version does not report.
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
