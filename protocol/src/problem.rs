//! One sentence about why something cannot be done, with its remedy. Every "no" of the program has this shape, from
//! a misspelled option to a device in use, so that a caller meets one list and sees all of it at once.

pub mod fields;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What sort of "no": decides the exit code and the HTTP status.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProblemKind {
    /// The job is wrong as written: exit 2, HTTP 422.
    Invalid,
    /// The guard will not have it: exit 3, HTTP 409.
    Guard,
    /// This host cannot do it: exit 5, HTTP 422.
    Environment,
}

/// Why something is not done, and what would help.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct Problem {
    /// Stable name for programs, such as `unknown_option`.
    pub code: String,
    /// What sort of "no".
    pub kind: ProblemKind,
    /// Where it stands in what was asked, such as `jobs[0].bs`; null when it is about no single field.
    pub field: Option<String>,
    /// What is wrong, in one sentence.
    pub detail: String,
    /// What to do about it.
    pub remedy: String,
}

impl Problem {
    /// A job that is wrong as written.
    pub fn invalid(
        code: &str,
        field: impl Into<String>,
        detail: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            code: code.into(),
            kind: ProblemKind::Invalid,
            field: Some(field.into()),
            detail: detail.into(),
            remedy: remedy.into(),
        }
    }

    /// A target that must not be touched.
    pub fn guard(
        code: &str,
        field: impl Into<String>,
        detail: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            kind: ProblemKind::Guard,
            ..Self::invalid(code, field, detail, remedy)
        }
    }

    /// Something this host cannot do.
    pub fn environment(
        code: &str,
        field: impl Into<String>,
        detail: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            kind: ProblemKind::Environment,
            ..Self::invalid(code, field, detail, remedy)
        }
    }

    /// The same about a field that stands inside another, such as `steps[2].` before `jobs[0].bs`.
    pub fn inside(mut self, path: &str) -> Self {
        self.field = self.field.map(|field| format!("{path}{field}"));
        self
    }

    /// The exit code of a program that stops because of these problems: the gravest decides (guard, invalid,
    /// environment).
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

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.field {
            Some(field) => write!(f, "{field}: {} {}", self.detail, self.remedy),
            None => write!(f, "{} {}", self.detail, self.remedy),
        }
    }
}
