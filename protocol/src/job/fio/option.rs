//! Describes how fio parses an option, and how Leadline handles it.

use crate::job::OptionDoc;

#[derive(Debug)]
pub struct FioOption {
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    pub kind: OptionKind,
    pub support: Support,
    /// fio's default, which is accepted because it has no effect; an empty string if there is none.
    /// Only used for rejected options.
    pub default: &'static str,
    /// Engines with this option, separated by spaces; empty for all engines.
    pub engines: &'static str,
}

/// How fio parses a value (parse.c, `__handle_option`).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum OptionKind {
    /// STR_STORE.
    Text,
    /// STR and lists: one of a set of values, possibly with parameters.
    Keyword,
    /// STR without a list of values: a job file may omit the value.
    OptionalText,
    /// BOOL: a value is required.
    Flag,
    /// STR_SET: takes no value; naming the option turns it on.
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

impl OptionKind {
    pub fn is_time(self) -> bool {
        matches!(
            self,
            Self::Seconds | Self::TimeRange | Self::Micros | Self::Times
        )
    }
}

/// How an option is handled.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Support {
    /// A job option.
    Job,
    /// Only in imported text: it determines the job order or other options.
    Import,
    /// Accepted in imported text without effect, for this reason.
    Harmless(&'static str),
    Rejected(Reason),
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
    /// Changes host settings.
    HostSetting,
    /// Replays or writes a trace.
    Replay,
    /// Zoned block devices.
    Zoned,
    /// NVMe data placement hints.
    DataPlacement,
    /// An engine for storage other than files and block devices.
    OtherEngine,
    /// One of fio's built-in workloads.
    Profile,
    /// No longer supported by fio.
    Removed,
}

impl Reason {
    /// The rest of a sentence that starts with the option's name.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::NotBuilt | Self::Alternative(_) => "is not supported.",
            Self::Command => "would run a command on this host.",
            Self::Privilege => "would change the user or the control group.",
            Self::HostSetting => "would change settings of this host.",
            Self::Replay => "is not supported: Leadline does not record or replay traces.",
            Self::Zoned => "is not supported: Leadline does not support zoned block devices.",
            Self::DataPlacement => "is not supported: Leadline does not support data placement.",
            Self::OtherEngine => "is an option of an engine that does not access files or devices.",
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
            Self::Profile => "Paste the jobs of the profile instead.",
            _ => "Remove it.",
        }
    }
}

impl FioOption {
    /// Whether `name` is the option's name or an alias.
    pub fn is_named(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }

    /// The job option with the same meaning.
    pub fn job_option(&self) -> Option<&'static OptionDoc> {
        // Leadline's `profile` is a different option: a flag that records stacks.
        (self.support != Support::Rejected(Reason::Profile))
            .then(|| OptionDoc::find(self.name))
            .flatten()
    }

    /// Whether the option applies to jobs with this engine.
    pub fn applies_to(&self, engine: &str) -> bool {
        self.engines.is_empty() || self.engines.split(' ').any(|name| name == engine)
    }

    /// Whether fio takes the value from the next command-line argument.
    pub fn requires_value(&self) -> bool {
        self.kind != OptionKind::Set
    }
}
