//! Why a result cannot be used.

use std::fmt;

#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ResultError {
    /// A field of the document, and what is wrong with it.
    Invalid { field: String, detail: String },
    /// The result has this number of groups of jobs that ran one after another.
    MultipleGroups(usize),
    /// The selected group does not exist; the result has this number of groups.
    NoSuchGroup(usize),
}

impl ResultError {
    pub(super) fn invalid(field: impl Into<String>, detail: impl Into<String>) -> Self {
        let (field, detail) = (field.into(), detail.into());
        Self::Invalid { field, detail }
    }
}

/// Messages have no period, so that a remedy can follow.
impl fmt::Display for ResultError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Invalid { field, detail } if field.is_empty() => write!(f, "{detail}"),
            Self::Invalid { field, detail } => write!(f, "{field} {detail}"),
            Self::NoSuchGroup(groups) => {
                let noun = if *groups == 1 { "group" } else { "groups" };
                write!(
                    f,
                    "the selected group does not exist: this result has {groups} {noun} of jobs"
                )
            }
            Self::MultipleGroups(groups) => write!(
                f,
                "this result has {groups} groups of jobs, which ran one after another"
            ),
        }
    }
}
