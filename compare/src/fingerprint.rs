//! Fingerprints of jobs, hosts and machines. Runs with equal job and host fingerprints are repeats
//! of the same test.

use crate::{
    group::ComparedRun,
    host_settings::identifying_facts,
    settings::{Facts, base_name, is_ignored, settings},
};
use sha2::{Digest, Sha256};

/// Number of hexadecimal digits: enough to make collisions improbable in any run history.
const DIGITS: usize = 16;

/// Version of the facts in a fingerprint, and of [`RunValues`](crate::trend::values::RunValues).
/// Increase it if stored runs would get different fingerprints: the server then recomputes them.
pub const VERSION: u32 = 3;

/// Fingerprint of the resolved workload, excluding names, paths, seeds and devices; `None` without
/// resolved jobs.
pub fn job(run: &ComparedRun) -> Option<String> {
    (!run.resolved.is_empty()).then(|| digest(&job_facts(run)))
}

/// Fingerprint of the hardware, the kernel and the storage below the targets; `None` without host
/// facts.
pub fn host(run: &ComparedRun) -> Option<String> {
    run.host?;
    Some(digest(&identifying_facts(run)))
}

/// Facts that identify a machine: its name and the devices below the targets. All other host facts
/// may change during a trend.
const MACHINE_FACTS: &[&str] = &[
    "device.identity",
    "hostname",
    "targets.device",
    "targets.identity",
];

/// Fingerprint of the host name and device identities, for trends; `None` without host
/// facts.
pub fn machine(run: &ComparedRun) -> Option<String> {
    run.host?;
    let mut facts = identifying_facts(run);
    facts.retain(|name, _| MACHINE_FACTS.contains(&name.as_str()));
    Some(digest(&facts))
}

/// Settings that jobs did not always have, with the value that corresponds to the earlier behavior.
/// A setting with this value is omitted, so that fingerprints, and with them trends and baselines,
/// remain the same.
const FORMER_BEHAVIOR: &[(&str, &str)] = &[
    ("cpus_allowed_policy", "shared"),
    ("create_only", "false"),
    ("exit_group", "0"),
    ("exit_what", "group"),
    ("exitall", "false"),
    ("file_service", "order=roundrobin/ios=1"),
    ("lockmem", "0"),
    ("rw_sequencer", "sequential"),
    ("thinktime_iotime_us", "0"),
    ("thinktime_spin_us", "0"),
];

/// Excluded, because another job may have extended the target. The job's region is in
/// `targets.offset` and `targets.size`.
const TARGET_LENGTH: &str = "targets.length";

/// The settings that define a test.
pub(crate) fn job_facts(run: &ComparedRun) -> Facts {
    let mut facts = settings(run, run.resolved.len());
    facts.retain(|name, value| {
        let is_state = is_ignored(name) || base_name(name) == TARGET_LENGTH;
        !is_state && !is_former_behavior(name, value.as_deref())
    });
    facts
}

fn is_former_behavior(name: &str, value: Option<&str>) -> bool {
    let mut former = FORMER_BEHAVIOR.iter();
    former.any(|(setting, behavior)| base_name(name) == *setting && value == Some(*behavior))
}

fn digest(facts: &Facts) -> String {
    let mut hash = Sha256::new();
    for (name, value) in facts {
        // Facts without a value are omitted, because an older runner may not report them at all.
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
