//! Device and process counters together with the observers of the targets.

use crate::{
    run::target_observers::{NO_PROBES, TargetObservers},
    system::probes::Probes,
};
use leadline_protocol::plan::job::ResolvedJob;
use std::collections::BTreeMap;

pub(crate) struct Observers {
    pub probes: Probes,
    pub targets: TargetObservers,
    /// Missing counters, with the reasons.
    pub absent: BTreeMap<String, String>,
}

impl Observers {
    /// `devices`: kernel names of the devices under the targets.
    pub(crate) fn new(jobs: &[ResolvedJob], devices: &[String]) -> Self {
        let probes = if jobs.iter().all(|job| job.probes) {
            Probes::new(devices)
        } else {
            Probes::none(NO_PROBES)
        };
        let targets = TargetObservers::new(jobs);
        let mut absent = probes.absent().clone();
        absent.extend(targets.absent().clone());
        Self {
            probes,
            targets,
            absent,
        }
    }
}
