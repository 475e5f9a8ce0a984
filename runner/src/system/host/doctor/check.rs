//! Builds check results.

use leadline_protocol::doctor::{Check, CheckStatus};

pub(crate) fn ok(name: &str, detail: impl Into<String>) -> Check {
    Check {
        name: name.into(),
        status: CheckStatus::Ok,
        detail: detail.into(),
        remedy: None,
    }
}

pub(crate) fn warn(name: &str, detail: impl Into<String>, remedy: impl Into<String>) -> Check {
    Check {
        status: CheckStatus::Warn,
        remedy: Some(remedy.into()),
        ..ok(name, detail)
    }
}

pub(crate) fn fail(name: &str, detail: impl Into<String>, remedy: impl Into<String>) -> Check {
    Check {
        status: CheckStatus::Fail,
        ..warn(name, detail, remedy)
    }
}
