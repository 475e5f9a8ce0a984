//! The result of parsing a diskspd flag, and flags that have no meaning on Linux.

use crate::dialect::notes::NoteText;

/// Why a flag is rejected.
pub(crate) enum FlagError {
    /// The value is invalid.
    Value,
    Unsupported(&'static str),
}

pub(crate) type FlagResult = Result<Option<NoteText>, FlagError>;

pub(crate) fn plain() -> FlagResult {
    Ok(None)
}

pub(crate) fn explained(code: &'static str, sentence: &str) -> FlagResult {
    Ok(Some(NoteText::new(code, sentence, "")))
}

pub(crate) fn require<T>(value: Option<T>) -> Result<T, FlagError> {
    value.ok_or(FlagError::Value)
}

/// diskspd parses numbers as 32-bit integers.
pub(crate) fn count(text: &str) -> Result<i64, FlagError> {
    require(text.parse::<u32>().ok().map(i64::from))
}

pub(crate) fn positive_count(text: &str) -> Result<i64, FlagError> {
    require(count(text).ok().filter(|number| *number > 0))
}

/// Explains flags that have no effect, and rejects unsupported flags.
pub(crate) fn explain_or_reject(letter: char, value: &str) -> FlagResult {
    match letter {
        'L' => explained("no_effect", "Latencies are always measured."),
        'D' => explained("no_effect", "A sample is stored every 100 ms."),
        'R' | 'P' | 'v' => explained("no_effect", "This flag controls only diskspd's output."),
        'e' => explained("no_effect", "Windows events do not exist on Linux."),
        'x' => explained(
            "no_effect",
            "Completion routines do not exist on Linux; ioengine determines how I/Os complete.",
        ),
        'I' => explained("no_effect", "Windows I/O priorities do not exist on Linux."),
        'l' => explained(
            "no_effect",
            "Large pages are not used; set mem=mmaphuge for huge pages.",
        ),
        'n' => explained("no_effect", "Threads are not bound to CPUs."),
        'u' => explained("no_effect", "This flag affects only other Windows flags."),
        'N' => Err(FlagError::Unsupported(
            "flushes a mapping, which is not supported.",
        )),
        'y' => Err(FlagError::Unsupported(
            "synchronizes with other programs, which is not supported.",
        )),
        'p' => plain(),
        'X' => Err(FlagError::Unsupported(
            "reads a profile: paste its command line instead.",
        )),
        '?' if value.is_empty() => Err(FlagError::Unsupported(
            "prints help without running a test.",
        )),
        _ => Err(FlagError::Value),
    }
}
