//! Settings and host facts as names and short texts, and which of them differ. Made from the words on the wire, so that
//! a new option shows up here by itself.

use leadline_protocol::compare::Difference;
use leadline_protocol::run::Run;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Names and texts; nothing where there is no value.
type Facts = BTreeMap<String, Option<String>>;

/// The name of what `held_data` tells.
pub(crate) const HELD_DATA: &str = "targets.held_data";

/// Facts that say nothing of the host's state: what could not be found out shows as a missing value already, and the
/// thresholds follow free memory from one minute to the next (`vm.dirty_ratio`).
const NOT_A_STATE: [&str; 3] = ["absent", "dirty_background_bytes", "dirty_bytes"];

/// Those that differ, and how many do not.
pub(crate) struct Differences {
    pub(crate) differ: Vec<Difference>,
    pub(crate) equal: u64,
}

/// The settings of a run's first jobs, as resolved; those of further jobs are named `jobs[1].bs`.
pub(crate) fn of_run(run: &Run, jobs: usize) -> Facts {
    let all = run.resolved.as_ref().map(|jobs| jobs.len().to_string());
    let mut facts = Facts::from([
        ("sample_ms".to_owned(), Some(run.sample_ms.to_string())),
        ("jobs".to_owned(), all),
    ]);
    for (index, job) in run.resolved.iter().flatten().take(jobs).enumerate() {
        let prefix = if index == 0 {
            String::new()
        } else {
            format!("jobs[{index}].")
        };
        add_fields(&prefix, &object(job), &mut facts);
    }
    facts.insert(HELD_DATA.into(), held_data(run));
    facts
}

/// Whether what a run wrote to held data before, target by target: a first write allocates its blocks, and is another test
/// than the second. Nothing where nothing is written, or nobody tells.
fn held_data(run: &Run) -> Option<String> {
    let writers: Vec<&str> = run
        .resolved
        .iter()
        .flatten()
        .filter(|job| job.pattern.rw.writes())
        .map(|job| job.name.as_str())
        .collect();
    let targets = run.report.iter().flat_map(|report| &report.targets);
    let written = targets.filter(|target| {
        target
            .jobs
            .iter()
            .any(|job| writers.contains(&job.as_str()))
    });
    let told: Vec<&str> = written
        .filter_map(|target| {
            Some(if target.state.is_written()? {
                "yes"
            } else {
                "no"
            })
        })
        .collect();
    (!told.is_empty()).then(|| told.join(" "))
}

/// The facts about the host that a run ran on.
pub(crate) fn of_host(run: &Run) -> Facts {
    let mut facts = Facts::new();
    if let Some(host) = &run.host_facts {
        let mut fields = object(host);
        for name in NOT_A_STATE {
            fields.shift_remove(name);
        }
        add_fields("", &fields, &mut facts);
    }
    facts
}

/// Holds the facts of all runs against each other.
pub(crate) fn differences(all: &[Facts]) -> Differences {
    let mut names: Vec<&String> = all.iter().flat_map(BTreeMap::keys).collect();
    names.sort_unstable();
    names.dedup();
    let (mut differ, mut equal) = (Vec::new(), 0);
    for name in names {
        let values: Vec<Option<String>> = all
            .iter()
            .map(|facts| facts.get(name).cloned().flatten())
            .collect();
        if values.windows(2).all(|pair| pair[0] == pair[1]) {
            equal += 1;
        } else {
            differ.push(Difference {
                name: name.clone(),
                values,
            });
        }
    }
    Differences { differ, equal }
}

fn object<T: Serialize>(value: &T) -> Map<String, Value> {
    match serde_json::to_value(value) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

fn add_fields(prefix: &str, fields: &Map<String, Value>, facts: &mut Facts) {
    for (name, value) in fields {
        match value
            .as_array()
            .filter(|items| items.iter().any(Value::is_object))
        {
            // Targets: one line for their paths, one for their lengths, ...
            Some(items) => add_items(&format!("{prefix}{name}."), items, facts),
            None => drop(facts.insert(format!("{prefix}{name}"), text(value))),
        }
    }
}

fn add_items(prefix: &str, items: &[Value], facts: &mut Facts) {
    let names = items
        .iter()
        .filter_map(Value::as_object)
        .flat_map(|item| item.keys());
    for name in names {
        let texts: Vec<String> = items
            .iter()
            .filter_map(|item| text(item.get(name)?))
            .collect();
        facts.insert(
            format!("{prefix}{name}"),
            (!texts.is_empty()).then(|| texts.join(" ")),
        );
    }
}

/// A value as short as it can be told; nothing for null.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Array(items) => Some(items.iter().filter_map(text).collect::<Vec<_>>().join(" ")),
        Value::Object(fields) => object_text(fields),
        other => Some(other.to_string()),
    }
}

fn object_text(fields: &Map<String, Value>) -> Option<String> {
    let field = |name: &str| fields.get(name).and_then(text);
    if let [Some(read), Some(write), Some(trim)] =
        ["read", "write", "trim"].map(|name| fields.get(name))
    {
        // One value where all directions have the same.
        return if read == write && write == trim {
            text(read)
        } else {
            Some(
                [read, write, trim]
                    .map(|value| text(value).unwrap_or_else(|| "-".into()))
                    .join(","),
            )
        };
    }
    if let (Some(min), Some(max)) = (field("min"), field("max")) {
        let split = field("split").unwrap_or_default();
        return Some(if min == max {
            min
        } else if split.is_empty() {
            format!("{min}-{max}")
        } else {
            split
        });
    }
    let parts: Vec<String> = fields
        .iter()
        .filter_map(|(name, value)| Some(format!("{name}={}", text(value)?)))
        .collect();
    (!parts.is_empty()).then(|| parts.join("/"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_told_as_short_as_they_can_be() {
        let size = |bytes: u64| json!({"min": bytes, "max": bytes, "split": []});
        for (value, expect) in [
            (json!(null), None),
            (json!(true), Some("true")),
            (json!("randread"), Some("randread")),
            (json!([0, 1]), Some("0 1")),
            (
                json!({"read": size(4096), "write": size(4096), "trim": size(4096)}),
                Some("4096"),
            ),
            (
                json!({"read": size(4096), "write": size(8192), "trim": size(8192)}),
                Some("4096,8192,8192"),
            ),
            (
                json!({"min": 4096, "max": 65536, "split": []}),
                Some("4096-65536"),
            ),
            (json!({"read": null, "write": null, "trim": null}), None),
            (
                json!({"read": 5, "write": null, "trim": null}),
                Some("5,-,-"),
            ),
            (
                json!({"kind": "zipf", "theta": 1.2}),
                Some("kind=zipf/theta=1.2"),
            ),
        ] {
            assert_eq!(text(&value).as_deref(), expect, "{value}");
        }
    }

    #[test]
    fn lists_of_objects_become_a_line_a_field() {
        let mut facts = Facts::new();
        add_fields(
            "",
            json!({"targets": [{"path": "/a", "length": 1}, {"path": "/b", "length": 2}]})
                .as_object()
                .unwrap(),
            &mut facts,
        );
        assert_eq!(
            facts,
            Facts::from([
                ("targets.path".into(), Some("/a /b".into())),
                ("targets.length".into(), Some("1 2".into()))
            ])
        );
    }
}
