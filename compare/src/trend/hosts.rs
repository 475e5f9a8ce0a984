//! Host changes between points.

use crate::{
    group::ComparedRun,
    host_settings::{add_unaffected, identifying_facts},
    settings::Facts,
    trend::points::Point,
};
use leadline_protocol::trend::FactChange;
use std::collections::HashMap;

/// Name of the fact that reports a change in the verdict class.
const VERDICT: &str = "verdict";

/// The host facts of the runs in a series, by host fingerprint.
pub struct Hosts<'a> {
    facts: HashMap<&'a str, Facts>,
}

impl<'a> Hosts<'a> {
    /// `runs`: one run per host fingerprint.
    pub fn new(runs: &'a [(String, ComparedRun<'a>)]) -> Self {
        let compared: Vec<&ComparedRun> = runs.iter().map(|(_, run)| run).collect();
        let mut facts: Vec<Facts> = compared.iter().map(|run| identifying_facts(run)).collect();
        add_unaffected(&compared, &mut facts);
        let names = runs.iter().map(|(fingerprint, _)| fingerprint.as_str());
        Self {
            facts: names.zip(facts).collect(),
        }
    }

    /// The facts that changed from one point to the next. A fact that was not recorded before or
    /// after is unknown, which does not count as a change.
    pub fn changes(&self, before: &Point, after: &Point) -> Vec<FactChange> {
        let mut changes = self.fact_changes(
            &before.first().host_fingerprint,
            &after.first().host_fingerprint,
        );
        if let (Some(from), Some(to)) = (before.verdict(), after.verdict())
            && from != to
        {
            changes.push(FactChange {
                name: VERDICT.into(),
                before: Some(from.as_str().into()),
                after: Some(to.as_str().into()),
            });
        }
        changes
    }

    fn fact_changes(&self, before: &str, after: &str) -> Vec<FactChange> {
        if before == after {
            return Vec::new();
        }
        let (Some(before), Some(after)) = (self.facts.get(before), self.facts.get(after)) else {
            return Vec::new();
        };
        let changed = before.iter().filter_map(|(name, value)| {
            let after = after.get(name).filter(|after| *after != value)?;
            Some(FactChange {
                name: name.clone(),
                before: value.clone(),
                after: after.clone(),
            })
        });
        changed.collect()
    }
}
