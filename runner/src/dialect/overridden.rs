//! Options that fio ignores because of other options. The job's own parser would reject them.

use crate::dialect::options::Options;

/// Returns the overridden options, each with a sentence that explains why fio ignores it.
pub(crate) fn overridden_options(options: &Options) -> Vec<(&'static str, &'static str)> {
    let has = |name: &str| options.get(name).is_some();
    let is_endless = options.flag("time_based") == Some(true)
        && options.number("runtime").unwrap_or(0) == 0
        && !has_text(options, "runtime");
    [
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
            has("bssplit") && has("bsrange"),
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
