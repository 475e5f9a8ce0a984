//! Differences between the hosts of runs, including the storage below their targets. A fact that a
//! run did not record is unknown, which does not count as a difference.

mod storage_facts;
#[cfg(test)]
mod tests;

use crate::{
    group::{ComparedRun, all_runs},
    host_settings::storage_facts::{distinct, mount_options, storage_facts},
    scope::Scope,
    settings::{Facts, add_object, object},
};
use leadline_protocol::{
    compare::Difference,
    host::{HostFacts, storage::HostStorage},
    plan::target::{Target, TargetKind},
};
use std::collections::BTreeSet;

/// Facts that do not affect results.
const HARMLESS_FACTS: &[&str] = &["memlock_bytes", "runner"];

/// Facts that are not compared as recorded. `absent` only lists which other values are missing, and
/// the dirty thresholds depend on free memory (`vm.dirty_ratio`). `storage` and `vulnerabilities`
/// are split into multiple facts.
const IGNORED_FACTS: &[&str] = &[
    "absent",
    "dirty_background_bytes",
    "dirty_bytes",
    "storage",
    "vulnerabilities",
];

/// Prefix of vulnerability states that affect only guests. They depend on whether the kvm module is
/// loaded.
const GUEST_STATE: &str = "KVM:";

/// Value of a fact that a run did not record.
const UNKNOWN: &str = "unknown";

/// Maximum number of unknown facts listed in a sentence.
const MAX_LISTED: usize = 4;

pub(crate) struct HostDifferences {
    pub different: Vec<Difference>,
    /// Facts that some runs did not record, and that are equal in all other runs.
    pub unknown: Vec<Difference>,
    /// Number of equal facts.
    pub equal: u64,
}

impl HostDifferences {
    pub(crate) fn unknown_facts(&self) -> Option<String> {
        let names = self.unknown.iter().map(|fact| fact.name.as_str());
        let mut listed: Vec<&str> = names.take(MAX_LISTED).collect();
        let more = self.unknown.len().saturating_sub(MAX_LISTED);
        let more = format!("{more} more");
        if self.unknown.len() > MAX_LISTED {
            listed.push(&more);
        }
        let listed = listed.join(", ");
        (!self.unknown.is_empty())
            .then(|| format!("Not recorded in all runs, so not compared: {listed}."))
    }
}

pub(crate) fn compare_hosts(scope: &Scope) -> HostDifferences {
    let runs: Vec<&ComparedRun> = all_runs(scope.groups).collect();
    // Device names may change on reboot, so they are compared only if a run did not record its
    // storage.
    let compares_names = scope.compared_runs().any(|run| storage(run).is_none());
    let mut facts: Vec<Facts> = runs.iter().map(|run| host_facts(run)).collect();
    for (facts, run) in facts.iter_mut().zip(&runs) {
        if compares_names {
            facts.extend(device_names(run));
        }
    }
    add_unaffected(&runs, &mut facts);
    differences(scope, &facts)
}

/// The facts that identify a host, including device names if the run did not record its storage.
pub(crate) fn identifying_facts(run: &ComparedRun) -> Facts {
    let mut facts = host_facts(run);
    facts.retain(|name, _| !HARMLESS_FACTS.contains(&name.as_str()));
    if storage(run).is_none() {
        facts.extend(device_names(run));
    }
    facts
}

fn storage<'a>(run: &ComparedRun<'a>) -> Option<&'a HostStorage> {
    run.host?.storage.as_ref()
}

/// The recorded facts of a run.
fn host_facts(run: &ComparedRun) -> Facts {
    let mut facts = Facts::new();
    if let Some(host) = run.host {
        let mut known = object(host);
        known.retain(|name, _| !IGNORED_FACTS.contains(&name.as_str()));
        add_object("", &known, &mut facts);
        facts.extend(vulnerabilities(host));
    }
    match storage(run) {
        Some(storage) => facts.extend(storage_facts(storage)),
        None => facts.extend(mounts_in_report(run)),
    }
    facts
}

/// The state of each vulnerability without details, because details depend on loaded modules:
/// `Mitigation: Retpolines; STIBP: disabled` becomes `Mitigation: Retpolines`.
fn vulnerabilities(host: &HostFacts) -> Facts {
    let states = host.vulnerabilities.iter().flatten();
    let states = states.filter(|(_, state)| !state.starts_with(GUEST_STATE));
    states
        .map(|(name, state)| {
            let state = state.split([';', ',']).next().unwrap_or(state);
            (format!("vulnerabilities.{name}"), Some(state.trim().into()))
        })
        .collect()
}

/// Adds vulnerabilities that only other runs list, as facts without a value. If a run recorded
/// vulnerabilities but does not list one of them, its host is not affected by it.
pub(crate) fn add_unaffected(runs: &[&ComparedRun], facts: &mut [Facts]) {
    let names = facts.iter().flat_map(Facts::keys);
    let names = names.filter(|name| name.starts_with("vulnerabilities."));
    let names: BTreeSet<String> = names.cloned().collect();
    for (run, facts) in runs.iter().zip(facts) {
        if run.host.is_some_and(|host| host.vulnerabilities.is_some()) {
            for name in &names {
                facts.entry(name.clone()).or_default();
            }
        }
    }
}

/// Mount options from the report, for runs that did not record their storage.
fn mounts_in_report(run: &ComparedRun) -> Facts {
    let targets = run.report.iter().flat_map(|report| &report.targets);
    let options = targets.filter_map(|target| target.mount_options.as_deref());
    let options: Vec<String> = options.map(mount_options).collect();
    let mut facts = Facts::new();
    if !options.is_empty() {
        facts.insert("mount_options".into(), distinct(options.into_iter()));
    }
    let targets = || run.resolved.iter().flat_map(|job| &job.targets);
    // Reports do not record the filesystem below a loop device.
    if targets().any(|target| target.kind == TargetKind::File) {
        let names = targets().filter_map(|target| target.filesystem.clone());
        facts.insert("filesystem".into(), distinct(names));
    }
    facts
}

/// Kernel names of the targets' devices, and the identities of device targets.
fn device_names(run: &ComparedRun) -> Facts {
    if run.resolved.is_empty() {
        return Facts::new();
    }
    let targets = || run.resolved.iter().flat_map(|job| &job.targets);
    let identities = targets().filter_map(|target| target.identity.clone());
    Facts::from([
        (
            "targets.device".into(),
            distinct(targets().filter_map(device_name)),
        ),
        ("targets.identity".into(), distinct(identities)),
    ])
}

/// The kernel name of the target's device, without the number for loop devices.
fn device_name(target: &Target) -> Option<String> {
    let name = target.device.as_deref()?;
    let number = name.strip_prefix("loop");
    let is_loop = number.is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit()));
    Some(if is_loop { "loop" } else { name }.into())
}

fn differences(scope: &Scope, runs: &[Facts]) -> HostDifferences {
    let compared = || scope.compared_items(runs);
    let names: BTreeSet<&String> = compared().flat_map(Facts::keys).collect();
    let mut found = HostDifferences {
        different: Vec::new(),
        unknown: Vec::new(),
        equal: 0,
    };
    for name in names {
        let known = || compared().filter_map(|facts| facts.get(name));
        let is_different = known().collect::<BTreeSet<_>>().len() > 1;
        if !is_different && known().count() == compared().count() {
            found.equal += 1;
            continue;
        }
        let unknown = Some(UNKNOWN.to_owned());
        let value = |facts: &Facts| facts.get(name).unwrap_or(&unknown).clone();
        let values = runs.iter().zip(scope.is_included());
        let difference = Difference {
            name: name.clone(),
            values: values
                .map(|(facts, included)| value(facts).filter(|_| included))
                .collect(),
            is_harmful: is_different && !HARMLESS_FACTS.contains(&name.as_str()),
        };
        if is_different {
            found.different.push(difference);
        } else {
            found.unknown.push(difference);
        }
    }
    found
}
