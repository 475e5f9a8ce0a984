//! Job options that affect the I/O, for comparisons.

use super::{clones::distinct, document::Jobs, options::normalized};
use leadline_protocol::job::fio::printed_options::{DEFAULTS, PREFIX};
use serde_json::Value;
use std::collections::BTreeMap;

/// Options that may differ between repeats, or that do not affect the I/O.
const IGNORED: &[&str] = &[
    "description",
    "directory",
    "filename",
    "group_reporting",
    "name",
    "new_group",
    "percentile_list",
    "randseed",
    "stonewall",
    "write_bw_log",
    "write_iops_log",
    "write_lat_log",
];

/// As in [`ResolvedJob`](leadline_protocol::plan::job::ResolvedJob)s, settings of the first job
/// have no prefix. Without `group_reporting`, fio prints the clones of a job (`numjobs`)
/// separately; they have one entry here.
pub(super) fn settings(version: &str, document: &Value, jobs: &Jobs) -> BTreeMap<String, String> {
    let mut settings = BTreeMap::from([(format!("{PREFIX}version"), version.to_owned())]);
    for (index, job) in distinct(&jobs.described).iter().enumerate() {
        let prefix = match index {
            0 => String::new(),
            _ => format!("jobs[{index}]."),
        };
        let defaults = DEFAULTS.iter();
        settings.extend(
            defaults
                .map(|(name, value)| (format!("{prefix}{PREFIX}{name}"), normalized(name, value))),
        );
        for options in [&document["global options"], &job["job options"]] {
            let options = options.as_object().into_iter().flatten();
            let options = options.filter(|(name, _)| !IGNORED.contains(&name.as_str()));
            settings.extend(options.map(|(name, value)| {
                let text = value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_owned);
                (format!("{prefix}{PREFIX}{name}"), normalized(name, &text))
            }));
        }
    }
    settings
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn clones_and_equal_sizes_have_equal_settings() {
        let job = |bs: &str| json!({"jobname": "a", "job options": {"bs": bs, "numjobs": "2"}});
        let (one, other) = (job("4k"), job("4096"));
        let of = |jobs: Vec<&Value>| {
            let jobs = Jobs {
                measured: jobs.clone(),
                described: jobs,
            };
            settings("fio-3.33", &json!({}), &jobs)
        };
        let settings = of(vec![&one, &one]);
        assert_eq!(settings, of(vec![&other]));
        assert_eq!(settings["fio.bs"], "4096");
        assert_eq!(settings["fio.iodepth"], "1", "the default");
        assert!(settings.keys().all(|name| !name.starts_with("jobs[")));
    }
}
