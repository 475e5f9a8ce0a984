//! Assigns workers of jobs with `flow` to groups by `flow_id`.

use crate::{load::source::flow::FlowGroup, run::open_targets::OpenTargets};
use leadline_protocol::plan::job::ResolvedJob;
use std::{collections::BTreeMap, sync::Arc};

/// Each worker's group and its index in the group, in worker order.
pub(super) fn flow_groups(
    jobs: &[ResolvedJob],
    open: &OpenTargets,
) -> Vec<Option<(Arc<FlowGroup>, usize)>> {
    let flows = open
        .workers
        .iter()
        .map(|worker| jobs[worker.job].timing.flow);
    let mut weights: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let mut indices = Vec::new();
    for flow in flows {
        indices.push(flow.map(|flow| {
            let members = weights.entry(flow.id).or_default();
            members.push(flow.weight);
            (flow.id, members.len() - 1)
        }));
    }
    let groups: BTreeMap<u32, Arc<FlowGroup>> = weights
        .into_iter()
        .map(|(id, weights)| (id, FlowGroup::new(weights.into_iter())))
        .collect();
    let group = |(id, index): (u32, usize)| (groups[&id].clone(), index);
    indices.into_iter().map(|index| index.map(group)).collect()
}
