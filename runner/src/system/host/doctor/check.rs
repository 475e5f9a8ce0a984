//! Builds check results.

use leadline_protocol::doctor::{Check, CheckStatus};

pub(super) fn ok(detail: impl Into<String>) -> Check {
    Check {
        name: String::new(),
        status: CheckStatus::Ok,
        detail: detail.into(),
        remedy: None,
    }
}

pub(super) fn warn(detail: impl Into<String>, remedy: impl Into<String>) -> Check {
    Check {
        status: CheckStatus::Warn,
        remedy: Some(remedy.into()),
        ..ok(detail)
    }
}

pub(super) fn fail(detail: impl Into<String>, remedy: impl Into<String>) -> Check {
    Check {
        status: CheckStatus::Fail,
        ..warn(detail, remedy)
    }
}
