//! Options that fio ignores because of other options. Leadline itself would reject these
//! combinations.

use crate::dialect::{options::Options, value::Value};

/// Returns the overridden options, each with a sentence that explains why fio ignores it.
pub(crate) fn overridden_options(options: &Options) -> Vec<(&'static str, &'static str)> {
    let has = |name: &str| options.get(name).is_some();
    let is_endless = options.flag("time_based") == Some(true)
        && options.number("runtime").unwrap_or(0) == 0
        && !has_text(options, "runtime");
    let is_fixed = is_fixed_by_later_range(options);
    [
        (
            is_fixed,
            "bssplit",
            "bssplit is ignored because a later bsrange contains only one size, as in fio.",
        ),
        (
            has("bssplit") && has("bs"),
            "bs",
            "bs is ignored because bssplit is set, as in fio.",
        ),
        (
            has("bsrange") && has("bs"),
            "bs",
            "bs is ignored because bsrange is set, as in fio.",
        ),
        (
            has("bssplit") && has("bsrange") && !is_fixed,
            "bsrange",
            "bsrange is ignored because bssplit is set, as in fio.",
        ),
        (
            is_endless,
            "time_based",
            "time_based is ignored because runtime is not set, as in fio.",
        ),
        (
            has("filename") && has("nrfiles"),
            "nrfiles",
            "nrfiles is ignored because filename is set, as in fio.",
        ),
    ]
    .into_iter()
    .filter(|(applies, ..)| *applies)
    .map(|(_, option, sentence)| (option, sentence))
    .collect()
}

/// Whether the value is text, because it contains an unset variable.
fn has_text(options: &Options, name: &str) -> bool {
    options.text(name).is_some()
}

/// Whether the sizes of a `bsrange` after `bssplit` are equal, so that fio never uses the split
/// (io_u.c, `get_next_buflen`).
fn is_fixed_by_later_range(options: &Options) -> bool {
    let position = |name: &str| {
        let mut entries = options.entries.iter();
        entries.position(|entry| entry.option.name == name)
    };
    let (Some(split), Some(range)) = (position("bssplit"), position("bsrange")) else {
        return false;
    };
    let is_one_size = match &options.entries[range].value {
        Value::Ranges(slots) => slots.iter().flatten().all(|(min, max)| min == max),
        _ => false,
    };
    range > split && is_one_size
}
