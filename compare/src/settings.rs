//! Differences between the settings of runs. Compares their JSON form, which automatically includes
//! new options.

use crate::{
    existing_data::held_data, group::ComparedRun, program_settings, scope::Scope,
    value_text::value_text,
};
use leadline_protocol::{compare::Difference, report::foreign::Source};
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Names and values of facts; `None` for null.
pub(crate) type Facts = BTreeMap<String, Option<String>>;

/// Settings that may differ between repeats of a test.
pub(crate) const IGNORED_SETTINGS: &[&str] = &[
    "name",
    "randseed",
    "sample_ms",
    "targets.alignment",
    "targets.existed",
    "targets.layout_bytes",
    "targets.layout_offset",
    "targets.path",
];

/// Settings and states that change results even if the requested I/O is the same.
const HARMFUL_SETTINGS: &[&str] = &[
    "buffer_compress_percentage",
    "cache_state",
    "dedupe_percentage",
    "drop_caches",
    "fadvise_hint",
    "file_state",
    "invalidate",
    "pre_read",
    "probes",
    "profile",
    "rate",
    "rate_iops",
    "refill_buffers",
    "request_sizes",
    "scramble_buffers",
    HELD_DATA,
    "verify",
    "verify_pattern",
    "zero_buffers",
];

/// Target properties that depend on the host. The same job can run on multiple hosts.
const HOST_SETTINGS: &[&str] = &["targets.device", "targets.filesystem", "targets.identity"];

/// Name of the setting computed by [`held_data()`].
pub(crate) const HELD_DATA: &str = "targets.held_data";

pub(crate) struct Differences {
    pub different: Vec<Difference>,
    /// Number of equal facts.
    pub equal: u64,
}

/// Settings of additional jobs have names like `jobs[1].bs`. If only some runs have a job, its
/// settings are not compared, but the number of jobs is (`jobs`).
pub(crate) fn compare_settings(scope: &Scope) -> Differences {
    if let Some(difference) = different_programs(scope) {
        return common_settings(scope, difference);
    }
    let jobs = scope.compared_runs().map(|run| run.resolved.len());
    let common_jobs = jobs.filter(|jobs| *jobs > 0).min().unwrap_or(0);
    let is_harmful = |name: &str| HARMFUL_SETTINGS.contains(&base_name(name));
    let mut differences = compare_facts(scope, |run| settings(run, common_jobs), is_harmful);
    // Repeats deliberately have different seeds.
    let has_repeats = scope.groups.iter().any(|group| group.runs.len() > 1);
    differences
        .different
        .retain(|difference| !(has_repeats && base_name(&difference.name) == "randseed"));
    differences
}

/// Compares the settings that both programs record, under common names.
fn common_settings(scope: &Scope, programs: Difference) -> Differences {
    let facts = |run: &ComparedRun| match run.foreign_settings() {
        Some(_) => program_settings::of_fio(run),
        None => program_settings::of_leadline(run),
    };
    let mut differences = compare_facts(scope, facts, |_| true);
    differences.different.retain(|difference| {
        let mut compared = scope.compared_items(&difference.values);
        compared.all(Option::is_some)
    });
    differences.different.insert(0, programs);
    differences
}

/// The setting that differs if results come from different programs.
pub(crate) const PROGRAM: &str = "program";

fn different_programs(scope: &Scope) -> Option<Difference> {
    let program = |run: &ComparedRun| {
        let foreign = run.report?.foreign.as_ref();
        let source = foreign.map_or(Source::Leadline, |foreign| foreign.source);
        Some(source.description().to_owned())
    };
    let values = scope.values(program);
    scope.is_different(&values).then(|| Difference {
        name: PROGRAM.into(),
        values,
        is_harmful: true,
    })
}

/// Whether the setting may differ between repeats of a test.
pub(crate) fn is_ignored(name: &str) -> bool {
    IGNORED_SETTINGS.contains(&base_name(name))
}

/// `jobs[1].name` is the `name` of the second job.
pub(crate) fn base_name(name: &str) -> &str {
    name.split_once("].").map_or(name, |(_, name)| name)
}

fn compare_facts(
    scope: &Scope,
    facts: impl Fn(&ComparedRun) -> Facts,
    is_harmful: impl Fn(&str) -> bool,
) -> Differences {
    let runs = scope.values(|run| Some(facts(run)));
    let compared = scope.compared_items(&runs).flatten();
    let names: BTreeSet<&String> = compared.flat_map(Facts::keys).collect();
    let mut different = Vec::new();
    let mut equal = 0;
    for name in names {
        let values: Vec<Option<String>> = runs
            .iter()
            .map(|facts| facts.as_ref()?.get(name).cloned().flatten())
            .collect();
        if scope.is_different(&values) {
            different.push(Difference {
                name: name.clone(),
                values,
                is_harmful: is_harmful(name),
            });
        } else {
            equal += 1;
        }
    }
    Differences { different, equal }
}

/// The settings of the first `jobs` jobs.
pub(crate) fn settings(run: &ComparedRun, jobs: usize) -> Facts {
    let all = (!run.resolved.is_empty()).then(|| run.resolved.len().to_string());
    let mut facts = Facts::from([
        ("sample_ms".into(), Some(run.sample_ms.to_string())),
        ("jobs".into(), all),
        (HELD_DATA.into(), held_data(run.resolved, run.report)),
    ]);
    for (index, job) in run.resolved.iter().take(jobs).enumerate() {
        let prefix = match index {
            0 => String::new(),
            _ => format!("jobs[{index}]."),
        };
        add_object(&prefix, &object(job), &mut facts);
    }
    let foreign = run.foreign_settings().into_iter().flatten();
    facts.extend(foreign.map(|(name, value)| (name.clone(), Some(value.clone()))));
    facts.retain(|name, _| !HOST_SETTINGS.contains(&base_name(name)));
    facts
}

pub(crate) fn object(value: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(value) {
        Ok(Value::Object(object)) => object,
        _ => Map::new(),
    }
}

pub(crate) fn add_object(prefix: &str, object: &Map<String, Value>, facts: &mut Facts) {
    for (name, value) in object {
        let name = format!("{prefix}{name}");
        match value {
            Value::Array(items) if items.iter().any(Value::is_object) => {
                add_items(&name, items, facts);
            }
            value => {
                facts.insert(name, value_text(value));
            }
        }
    }
}

/// Adds one fact per field: `targets.path`, `targets.length`.
fn add_items(list: &str, items: &[Value], facts: &mut Facts) {
    let objects = || items.iter().filter_map(Value::as_object);
    for name in objects().flat_map(Map::keys) {
        let values: Vec<String> = objects()
            .filter_map(|object| value_text(object.get(name)?))
            .collect();
        let values = (!values.is_empty()).then(|| values.join(" "));
        facts.insert(format!("{list}.{name}"), values);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn list_of_objects_becomes_one_fact_per_field() {
        let targets =
            json!({"targets": [{"path": "/a", "length": 1}, {"path": "/b", "length": 2}]});
        let mut facts = Facts::new();
        add_object("", targets.as_object().unwrap(), &mut facts);
        let expected = [("targets.path", "/a /b"), ("targets.length", "1 2")];
        let expected = expected.map(|(name, value)| (name.to_owned(), Some(value.to_owned())));
        assert_eq!(facts, Facts::from(expected));
    }
}
