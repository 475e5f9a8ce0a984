//! The `ignore_error` option: errors after which a job continues.

use crate::job::{
    range::ValueRange,
    value::FioValue,
    value_schema::{NumberSchema, ValueSchema, pattern},
};

/// Names from errno(3), starting at 1, as in fio (options.c, `str2error`).
const NAMES: [&str; 34] = [
    "EPERM", "ENOENT", "ESRCH", "EINTR", "EIO", "ENXIO", "E2BIG", "ENOEXEC", "EBADF", "ECHILD",
    "EAGAIN", "ENOMEM", "EACCES", "EFAULT", "ENOTBLK", "EBUSY", "EEXIST", "EXDEV", "ENODEV",
    "ENOTDIR", "EISDIR", "EINVAL", "ENFILE", "EMFILE", "ENOTTY", "ETXTBSY", "EFBIG", "ENOSPC",
    "ESPIPE", "EROFS", "EMLINK", "EPIPE", "EDOM", "ERANGE",
];
const EILSEQ: i32 = 84;
/// Largest error number that the kernel returns.
const MAX_ERRNO: i32 = 4095;

/// Errors by I/O type; empty if not given.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ErrorLists {
    pub read: Vec<i32>,
    /// Writes, trims and syncs.
    pub write: Vec<i32>,
    /// Blocks that were read back.
    pub verify: Vec<i32>,
}

impl FioValue for ErrorLists {
    const KIND: &'static str = "errors";

    /// Accepts up to three lists, for reads, writes and verification, separated by commas. A list
    /// contains names or numbers, separated by colons.
    fn parse(text: &str) -> Result<Self, String> {
        let mut lists = text.trim().split(',').map(parse_list);
        let mut next = || lists.next().unwrap_or_else(|| Ok(Vec::new()));
        let parsed = Self {
            read: next()?,
            write: next()?,
            verify: next()?,
        };
        if lists.next().is_some() {
            return Err(format!("`{text}` has more than three lists"));
        }
        if parsed == Self::default() {
            return Err("the list is empty: use errors such as EIO or ENOSPC".into());
        }
        Ok(parsed)
    }

    fn schema(_: Option<ValueRange>) -> ValueSchema {
        let number = pattern::integer(1..=u64::from(MAX_ERRNO.unsigned_abs()));
        let error = format!("({}|EILSEQ|-?{number})", NAMES.join("|"));
        let list = format!("{error}(:{error})*");
        let max = i128::from(MAX_ERRNO);
        ValueSchema {
            numbers: vec![
                NumberSchema::Integers(-max..=-1),
                NumberSchema::Integers(1..=max),
            ],
            ..ValueSchema::pattern(pattern::directions(&list, true))
        }
    }
}

fn parse_list(text: &str) -> Result<Vec<i32>, String> {
    let parts = text.trim().split(':').filter(|part| !part.is_empty());
    parts.map(parse_error).collect()
}

fn parse_error(text: &str) -> Result<i32, String> {
    let named = NAMES.iter().position(|name| *name == text);
    let number = match named {
        Some(index) => Some(index as i32 + 1),
        None if text == "EILSEQ" => Some(EILSEQ),
        None => text.parse().ok().map(i32::abs),
    };
    number
        .filter(|number| (1..=MAX_ERRNO).contains(number))
        .ok_or_else(|| format!("`{text}` is not an error name or number, such as EIO or 5"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_lists_like_fio() {
        let lists = |text: &str| {
            ErrorLists::parse(text)
                .map(|lists| (lists.read, lists.write, lists.verify))
                .ok()
        };
        assert_eq!(lists("EAGAIN"), Some((vec![11], vec![], vec![])));
        assert_eq!(
            lists("EAGAIN,ENOSPC:122"),
            Some((vec![11], vec![28, 122], vec![]))
        );
        assert_eq!(lists(",,EILSEQ"), Some((vec![], vec![], vec![84])));
        assert_eq!(lists("-5:ERANGE"), Some((vec![5, 34], vec![], vec![])));
        for invalid in ["", ",", "EWHAT", "0", "5,5,5,5", "70000"] {
            assert_eq!(lists(invalid), None, "{invalid}");
        }
    }
}
