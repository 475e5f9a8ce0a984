//! Describes a group: its runs with their workloads, hosts and start times.

use crate::group::Group;
use leadline_protocol::{compare::ComparedGroup, host::HostFacts, plan::workload::workload};

pub(crate) fn describe(group: &Group, obstacle: Option<String>) -> ComparedGroup {
    let included = group.is_included();
    let indices = (0..).zip(&included);
    let jobs = group.runs.iter().flat_map(|run| run.resolved);
    let hosts = group.runs.iter().filter_map(|run| run.host);
    let reports = group.runs.iter().filter_map(|run| run.report);
    let started_at_ms = reports.map(|report| report.started_at_ms);
    ComparedGroup {
        label: group.label.clone(),
        runs: group.runs.iter().map(|run| run.label.clone()).collect(),
        workloads: distinct(jobs.map(workload)),
        hosts: distinct(hosts.map(host_name)),
        first_started_at_ms: started_at_ms.clone().min(),
        last_started_at_ms: started_at_ms.max(),
        complete: included.iter().filter(|included| **included).count() as u64,
        excluded: indices
            .filter(|(_, included)| !**included)
            .map(|(index, _)| index)
            .collect(),
        obstacle,
    }
}

fn host_name(host: &HostFacts) -> String {
    let model = host.cpu_model.as_deref();
    let processor = model.map_or_else(String::new, |model| format!(", {model}"));
    format!("{} (Linux {}{processor})", host.hostname, host.kernel)
}

/// Removes duplicates and keeps the order of first occurrence.
fn distinct(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut distinct = Vec::new();
    for text in texts {
        if !distinct.contains(&text) {
            distinct.push(text);
        }
    }
    distinct
}
