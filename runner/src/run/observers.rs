//! Device and process counters, and the target observers.

use crate::{
    run::target_observers::{NO_PROBES, TargetObservers},
    system::{probes::Probes, run_cgroup::RunCgroup},
};
use leadline_protocol::plan::job::ResolvedJob;
use std::collections::BTreeMap;

pub(crate) struct Observers {
    pub probes: Probes,
    pub targets: TargetObservers,
    /// Directory of the run's control group.
    pub cgroup: Option<String>,
    /// Missing counters, and the reason for each.
    pub absent: BTreeMap<String, String>,
}

impl Observers {
    /// `devices`: kernel names of the devices under the targets.
    pub(crate) fn new(
        jobs: &[ResolvedJob],
        devices: &[String],
        cgroup: &Result<RunCgroup, String>,
    ) -> Self {
        let group = cgroup.as_ref().map(RunCgroup::path).map_err(String::as_str);
        let probes = if jobs.iter().all(|job| job.probes) {
            Probes::new(devices).with_cgroup(group)
        } else {
            Probes::none(NO_PROBES)
        };
        let targets = TargetObservers::new(jobs);
        let mut absent = probes.absent().clone();
        absent.extend(targets.absent().clone());
        Self {
            probes,
            targets,
            cgroup: group.ok().map(|path| path.display().to_string()),
            absent,
        }
    }
}
