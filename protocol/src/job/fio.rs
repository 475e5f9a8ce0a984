//! All fio options and how each is handled: job options are in
//! [`OPTIONS`](crate::job::OPTIONS); all others are accepted without effect or rejected.

pub mod number;
mod option;
pub mod printed_options;
mod table;

pub use option::{FioOption, OptionKind, Reason, Support};
pub use table::FIO_OPTIONS;

use std::fmt::Display;

/// Finds an option by its name or an alias.
pub fn find_option(name: &str) -> Option<&'static FioOption> {
    FIO_OPTIONS.iter().find(|option| option.is_named(name))
}

/// Remedy for a fio option that is not a job option; `None` for job options and unknown options.
pub(crate) fn remedy(name: &str) -> Option<String> {
    let option = find_option(name)?;
    if option.job_option().is_some() {
        return None;
    }
    let remove = |reason: &dyn Display| format!("Remove it: {reason}");
    Some(match (option.name, option.support) {
        ("stonewall" | "wait_for", _) => {
            "Put the jobs into the steps of a study, or submit them as job_text.".into()
        }
        ("kb_base", _) => "Write sizes in bytes.".into(),
        (_, Support::Harmless(reason)) => {
            let mut characters = reason.chars();
            let first = characters.next().map(|first| first.to_ascii_lowercase());
            remove(&first.into_iter().chain(characters).collect::<String>())
        }
        (_, Support::Rejected(reason)) => reason.remedy().into(),
        (_, Support::Job | Support::Import) => "Remove it.".into(),
    })
}

#[cfg(test)]
mod tests {
    use super::{FIO_OPTIONS, Support, find_option, remedy};
    use crate::job::{OPTIONS, OptionDoc};
    use std::collections::HashSet;

    /// Leadline options that fio does not have.
    const LEADLINE_ONLY: [&str; 10] = [
        "loop_device",
        "spin",
        "ioengine_fallback",
        "overload_time",
        "drop_caches",
        "cache_state",
        "file_state",
        "probes",
        "request_sizes",
        "profile",
    ];

    #[test]
    fn names_are_unique() {
        let mut names = HashSet::new();
        for option in FIO_OPTIONS {
            for name in std::iter::once(&option.name).chain(option.aliases) {
                assert!(names.insert(*name), "{name}");
            }
        }
    }

    #[test]
    fn every_job_option_is_in_both_tables() {
        for option in FIO_OPTIONS {
            let is_job = option.support == Support::Job || option.name == "buffered";
            assert_eq!(is_job, option.job_option().is_some(), "{}", option.name);
        }
        let is_fio_option = |option: &&OptionDoc| !LEADLINE_ONLY.contains(&option.name);
        for option in OPTIONS.iter().filter(is_fio_option) {
            assert!(find_option(option.name).is_some(), "{}", option.name);
        }
    }

    #[test]
    fn job_options_are_not_rejected() {
        for option in OPTIONS.iter().filter(|option| option.name != "profile") {
            assert_eq!(remedy(option.name), None, "{}", option.name);
        }
        assert_eq!(
            remedy("clocksource").as_deref(),
            Some("Remove it: the runner chooses the clock.")
        );
        assert_eq!(remedy("no_such_option"), None);
    }
}
