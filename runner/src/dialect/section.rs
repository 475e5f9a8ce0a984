//! Sections and their options, before the values are parsed. Job files and command lines are both
//! read into sections.

use crate::dialect::source::Span;

/// Options for one job, or for all jobs after a global section.
#[derive(Debug)]
pub(crate) struct Section {
    pub name: String,
    pub span: Span,
    pub is_global: bool,
    /// Whether the section is from a job file rather than a command line.
    pub is_in_file: bool,
    /// Whether the section begins an additional job file, to which earlier global options do not
    /// apply (init.c, `parse_options`).
    pub starts_file: bool,
    /// Whether this is the first job of an additional job file, which waits for all earlier jobs.
    pub waits_for_files: bool,
    pub options: Vec<RawOption>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct RawOption {
    pub name: String,
    pub name_span: Span,
    /// `None` for an option without `=`.
    pub value: Option<String>,
    /// Empty range after the name, if the option has no value.
    pub value_span: Span,
    /// Whether the value is incomplete because it contains an unset variable, such as `${SIZE}`, or
    /// a command.
    pub is_incomplete: bool,
}

impl Section {
    pub(crate) fn new(name: impl Into<String>, span: Span) -> Self {
        let name = name.into();
        Self {
            // Only the prefix is compared, as in fio (init.c, `strncmp(name, "global", 6)`).
            is_global: name.starts_with("global"),
            is_in_file: false,
            starts_file: false,
            waits_for_files: false,
            name,
            span,
            options: Vec::new(),
        }
    }
}

impl RawOption {
    /// The range from the start of the name to the end of the value.
    pub(crate) fn span(&self) -> Span {
        self.name_span.start..self.value_span.end.max(self.name_span.end)
    }
}
