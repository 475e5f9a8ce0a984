//! Problems that prevent an operation, from misspelled options to devices in use. All problems with
//! a request are reported together.

pub mod object_reader;

use serde::{Deserialize, Serialize};
use std::fmt;
use utoipa::ToSchema;

/// Determines the exit code and the HTTP status.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProblemKind {
    /// Invalid job: exit 2, HTTP 422.
    Invalid,
    /// Rejected by the guard: exit 3, HTTP 409.
    Guard,
    /// Not possible on this host: exit 5, HTTP 422.
    Environment,
}

/// A problem and its remedy.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct Problem {
    /// Stable identifier, such as `unknown_option`.
    pub code: String,
    pub kind: ProblemKind,
    /// Path within the request, such as `jobs[0].bs`; null if no single field caused the problem.
    pub field: Option<String>,
    pub detail: String,
    pub remedy: String,
}

impl Problem {
    /// `field`: empty if no single field caused the problem.
    pub fn invalid(
        code: &str,
        field: impl Into<String>,
        detail: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self::new(ProblemKind::Invalid, code, field, detail, remedy)
    }

    pub fn guard(
        code: &str,
        field: impl Into<String>,
        detail: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self::new(ProblemKind::Guard, code, field, detail, remedy)
    }

    pub fn environment(
        code: &str,
        field: impl Into<String>,
        detail: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self::new(ProblemKind::Environment, code, field, detail, remedy)
    }

    fn new(
        kind: ProblemKind,
        code: &str,
        field: impl Into<String>,
        detail: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        let field = field.into();
        Self {
            code: code.into(),
            kind,
            field: (!field.is_empty()).then_some(field),
            detail: detail.into(),
            remedy: remedy.into(),
        }
    }

    /// Prepends a path, such as `steps[2].`, to the field. Without a field, the path is the field.
    pub fn with_path_prefix(mut self, path: &str) -> Self {
        self.field = Some(match self.field {
            Some(field) => format!("{path}{field}"),
            None => path.trim_end_matches('.').to_owned(),
        });
        self
    }

    /// Whether data would be overwritten without a valid confirmation. The remedy contains the
    /// confirmation code.
    pub fn is_confirmation(&self) -> bool {
        let field = self.field.as_deref();
        field.is_some_and(|field| field.rsplit('.').next() == Some("confirm"))
    }

    /// Exit code of a program that stops due to these problems. Guard problems take precedence over
    /// invalid input, and invalid input over environment problems.
    pub fn exit_code(problems: &[Self]) -> u8 {
        let has = |kind| problems.iter().any(|problem| problem.kind == kind);
        if has(ProblemKind::Guard) {
            3
        } else if has(ProblemKind::Invalid) {
            2
        } else {
            5
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(field) = &self.field {
            write!(f, "{field}: ")?;
        }
        write!(f, "{} {}", self.detail, self.remedy)
    }
}
