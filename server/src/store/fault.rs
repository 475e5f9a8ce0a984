//! Reasons why the database cannot be used. Unlike other errors, they do not depend on the request.

use std::error::Error;

/// Primary SQLite result codes (<https://www.sqlite.org/rescode.html>) that depend on the state of
/// the file or of its disk.
const BUSY: u32 = 5;
const LOCKED: u32 = 6;
const FULL: u32 = 13;
/// CORRUPT, NOTADB.
const DAMAGED: [u32; 2] = [11, 26];
/// NOMEM, READONLY, IOERR, CANTOPEN, PROTOCOL.
const UNAVAILABLE: [u32; 5] = [7, 8, 10, 14, 15];

/// Why the database cannot be used. The text includes a remedy.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub(crate) enum StoreFault {
    #[error(
        "The disk that holds the database is full. Free some space, and the server will resume."
    )]
    Full,
    /// The process that holds the lock, if known.
    #[error(
        "The database is locked by {}. Close it, and the server will resume.",
        .0.as_deref().unwrap_or("another process")
    )]
    Locked(Option<String>),
    #[error(
        "Cannot write to the database ({0}). Check its disk. The server resumes once writes work."
    )]
    Unavailable(String),
    #[error(
        "Part of the database is damaged ({0}). Stop the server and restore a backup; PRAGMA integrity_check lists the damage."
    )]
    Damaged(String),
    #[error(
        "{0} was deleted or replaced while the server was running. Move the original file back, or stop the server and restore a backup."
    )]
    Replaced(String),
}

impl StoreFault {
    /// Stable identifier in problem documents.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::Full => "disk_full",
            Self::Locked(_) => "store_locked",
            Self::Unavailable(_) => "store_unavailable",
            Self::Damaged(_) => "store_damaged",
            Self::Replaced(_) => "store_replaced",
        }
    }

    /// The fault that caused an error. Returns `None` for errors that would recur on a retry.
    pub(crate) fn from_error(error: &anyhow::Error) -> Option<Self> {
        // `downcast_ref` finds only contexts, and the chain contains only causes, so both are
        // checked.
        let fault = error.downcast_ref::<Self>().cloned();
        fault.or_else(|| error.chain().find_map(cause))
    }
}

fn cause(error: &(dyn Error + 'static)) -> Option<StoreFault> {
    if let Some(fault) = error.downcast_ref::<StoreFault>() {
        return Some(fault.clone());
    }
    match error.downcast_ref::<sqlx::Error>()? {
        sqlx::Error::Database(error) => from_code(&error.code()?, error.message()),
        error @ (sqlx::Error::Io(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::PoolClosed
        | sqlx::Error::WorkerCrashed) => Some(StoreFault::Unavailable(error.to_string())),
        _ => None,
    }
}

/// Maps an extended result code. Its lowest byte is the primary result code.
fn from_code(code: &str, message: &str) -> Option<StoreFault> {
    match code.parse::<u32>().ok()? & 0xFF {
        BUSY | LOCKED => Some(StoreFault::Locked(None)),
        FULL => Some(StoreFault::Full),
        code if DAMAGED.contains(&code) => Some(StoreFault::Damaged(message.to_owned())),
        code if UNAVAILABLE.contains(&code) => Some(StoreFault::Unavailable(message.to_owned())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn only_disk_and_file_states_are_faults() {
        let unavailable = |text: &str| Some(StoreFault::Unavailable(text.into()));
        for (code, expect) in [
            ("5", Some(StoreFault::Locked(None))),
            // SQLITE_BUSY_SNAPSHOT
            ("517", Some(StoreFault::Locked(None))),
            ("13", Some(StoreFault::Full)),
            ("8", unavailable("text")),
            // SQLITE_IOERR_WRITE
            ("778", unavailable("text")),
            ("11", Some(StoreFault::Damaged("text".into()))),
            // SQLITE_CORRUPT_INDEX
            ("779", Some(StoreFault::Damaged("text".into()))),
            // SQLITE_CONSTRAINT_PRIMARYKEY
            ("1555", None),
            ("1", None),
        ] {
            assert_eq!(from_code(code, "text"), expect, "{code}");
        }
    }

    #[test]
    fn context_does_not_hide_a_fault() {
        let error = anyhow::Error::from(StoreFault::Full).context("storing");
        assert_eq!(StoreFault::from_error(&error), Some(StoreFault::Full));
        let closed: anyhow::Result<()> = Err(sqlx::Error::PoolClosed).context("reading");
        assert!(StoreFault::from_error(&closed.unwrap_err()).is_some());
        let other = anyhow::Error::from(sqlx::Error::RowNotFound);
        assert_eq!(StoreFault::from_error(&other), None);
    }
}
