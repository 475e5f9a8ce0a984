//! All options of fio, and what becomes of each of them: the options of a job are in
//! [`OPTIONS`](crate::job::OPTIONS), all others are taken without effect or rejected.

mod table;

pub use table::FIO_OPTIONS;

use crate::job::OptionDoc;
use std::fmt::Display;

/// An option of fio.
#[derive(Debug)]
pub struct FioOption {
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    pub kind: OptionKind,
    pub support: Support,
    /// Value that has no effect, or an empty string. Only for rejected options.
    pub default: &'static str,
    /// Engines with this option, separated by spaces; empty for all engines.
    pub engines: &'static str,
}

/// How fio parses a value (parse.c, `__handle_option`).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum OptionKind {
    /// STR_STORE.
    Text,
    /// STR and lists: one of several values, possibly with parameters.
    Keyword,
    /// BOOL: a value is required.
    Flag,
    /// STR_SET: on without a value.
    Set,
    /// INT, ULL and STR_VAL, with size suffixes.
    Number,
    /// `Number` for reads, writes and trims.
    Numbers,
    /// Two numbers; fio chooses a random one between them.
    NumberRange,
    /// STR_VAL_ZONE: `Number`, or a percentage.
    Extent,
    /// RANGE for reads, writes and trims.
    Ranges,
    /// Time; a bare number is in seconds.
    Seconds,
    /// Two times in seconds; fio chooses a random time between them.
    TimeRange,
    /// Time; a bare number is in microseconds.
    Micros,
    /// `Micros` for reads, writes and trims.
    Times,
}

/// What happens to an option.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Support {
    /// An option of a job.
    Job,
    /// Only in imported text: it determines the order of the jobs, or other options.
    Import,
    /// Accepted in imported text; changes nothing, for this reason.
    Harmless(&'static str),
    Refused(Reason),
}

/// Why an option is rejected.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reason {
    NotBuilt,
    /// What to do instead.
    Alternative(&'static str),
    /// Runs a command.
    Command,
    /// Changes the user or the control group.
    Privilege,
    /// Changes settings of the host.
    HostSetting,
    /// Replays or writes a trace.
    Replay,
    /// Zoned block devices.
    Zoned,
    /// Data placement hints of NVMe.
    DataPlacement,
    /// An engine for other storage than files and block devices.
    OtherEngine,
    /// One of fio's built-in workloads.
    Profile,
    /// No longer supported by fio.
    Removed,
}

impl Reason {
    /// A sentence without its subject.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::NotBuilt | Self::Alternative(_) => "is not supported.",
            Self::Command => "would run a command on this host.",
            Self::Privilege => "would change the user or the control group.",
            Self::HostSetting => "would change settings of this host.",
            Self::Replay => "is not supported: Leadline does not record or replay traces.",
            Self::Zoned => "is not supported: Leadline does not support zoned block devices.",
            Self::DataPlacement => "is not supported: Leadline does not place data.",
            Self::OtherEngine => "belongs to an engine that does not access files or devices.",
            Self::Profile => "is not supported: it selects one of fio's built-in workloads.",
            Self::Removed => "was removed from fio.",
        }
    }

    pub fn remedy(self) -> &'static str {
        match self {
            Self::Alternative(remedy) => remedy,
            Self::Command => "Remove it, and run the command yourself.",
            Self::Privilege => "Remove it, and start Leadline as this user or in this group.",
            Self::HostSetting => "Remove it, and change the setting before the run.",
            Self::Profile => "Paste the jobs of the profile.",
            _ => "Remove it.",
        }
    }
}

impl FioOption {
    /// Finds an option by its name or an alias.
    pub fn find(name: &str) -> Option<&'static Self> {
        FIO_OPTIONS.iter().find(|option| option.is_named(name))
    }

    pub fn is_named(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }

    /// The option of a job with the same meaning.
    pub fn job_option(&self) -> Option<&'static OptionDoc> {
        // Leadline's `profile` is another option: a flag that records stacks.
        (self.support != Support::Refused(Reason::Profile))
            .then(|| OptionDoc::find(self.name))
            .flatten()
    }

    /// Whether jobs with this engine have the option.
    pub fn belongs_to(&self, engine: &str) -> bool {
        self.engines.is_empty() || self.engines.split(' ').any(|name| name == engine)
    }

    /// Whether fio takes a value from the next word of a command line.
    pub fn requires_value(&self) -> bool {
        self.kind != OptionKind::Set
    }
}

/// How to replace an option that is not an option of a job; `None` if fio has no such option.
pub(crate) fn remedy(name: &str) -> Option<String> {
    let option = FioOption::find(name)?;
    if option.job_option().is_some() {
        return None;
    }
    let remove = |reason: &dyn Display| format!("Remove it: {reason}");
    Some(match (option.name, option.support) {
        ("buffered", _) => "Use direct=0 for buffered=1 and direct=1 for buffered=0.".into(),
        ("stonewall" | "wait_for", _) => {
            "Put the jobs into the steps of a study, or submit them as job_text.".into()
        }
        ("group_reporting" | "new_group", _) => {
            remove(&"results are reported per job and for the whole run.")
        }
        ("kb_base", _) => "Write sizes in bytes.".into(),
        (_, Support::Harmless(reason)) => {
            let mut characters = reason.chars();
            let first = characters.next().map(|first| first.to_ascii_lowercase());
            remove(&first.into_iter().chain(characters).collect::<String>())
        }
        (_, Support::Refused(reason)) => reason.remedy().into(),
        (_, Support::Job | Support::Import) => "Remove it.".into(),
    })
}

#[cfg(test)]
mod tests {
    use super::{FIO_OPTIONS, FioOption, Support, remedy};
    use crate::job::OPTIONS;
    use std::collections::HashSet;

    /// Options of Leadline that fio does not have.
    const OWN: [&str; 9] = [
        "loop_device",
        "spin",
        "ioengine_fallback",
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
            let is_job = option.support == Support::Job;
            assert!(!is_job || option.job_option().is_some(), "{}", option.name);
        }
        for option in OPTIONS.iter().filter(|option| !OWN.contains(&option.name)) {
            assert!(FioOption::find(option.name).is_some(), "{}", option.name);
        }
    }

    #[test]
    fn options_of_a_job_are_not_rejected() {
        for option in OPTIONS.iter().filter(|option| option.name != "profile") {
            assert_eq!(remedy(option.name), None, "{}", option.name);
        }
        assert_eq!(
            remedy("thread").as_deref(),
            Some("Remove it: workers are always threads.")
        );
        assert_eq!(remedy("no_such_option"), None);
    }
}
