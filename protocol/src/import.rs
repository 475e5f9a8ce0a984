//! Import of jobs written for other tools: `POST /import`, and `job_text` in other
//! requests.

use crate::{named_enum::named_enum, problem::Problem};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// Problem code for a variable that the text uses but does not set.
pub const UNSET_VARIABLE: &str = "unset_variable";

/// Body of `POST /import`.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct ImportRequest {
    /// A fio job file, fio commands, diskspd commands, or a JSON job or study.
    pub text: String,
    /// Values of the variables in the text, such as `${DEVICE}`. The environment is not read.
    #[serde(default)]
    pub variables: Option<BTreeMap<String, String>>,
}

named_enum! {
    names: "snake_case";
    /// Syntax of the text.
    pub enum Dialect {
        Json,
        FioJobFile,
        FioCommand,
        DiskspdCommand,
        /// Another tool's command, which is recognized but not supported.
        Other,
        Unknown,
    }
}

/// Jobs in the text, and how they were interpreted. Nothing is run.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Import {
    pub dialect: Dialect,
    /// A run (`jobs`) or a study (`steps`); null if there are errors or unanswered questions.
    pub document: Option<Value>,
    /// In the order of the text.
    pub notes: Vec<ImportNote>,
    /// Values that the text does not contain.
    pub questions: Vec<ImportQuestion>,
}

/// Part of one line of the text.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    Deserialize,
    Eq,
    Hash,
    Ord,
    PartialEq,
    PartialOrd,
    Serialize,
    ToSchema,
)]
pub struct TextSpan {
    /// One-based.
    pub line: u32,
    /// One-based, in characters.
    pub column: u32,
    /// In characters.
    pub length: u32,
}

/// A note about part of the text.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct ImportNote {
    #[serde(flatten)]
    pub span: TextSpan,
    pub severity: ImportSeverity,
    /// Stable identifier, such as `kib_decimal`.
    pub code: String,
    /// fio's name of the option; null if the note is not about an option.
    pub option: Option<String>,
    pub sentence: String,
    /// Empty if no action is needed.
    pub remedy: String,
    /// Replacement text for the span.
    pub replacement: Option<String>,
}

named_enum! {
    names: "snake_case";
    #[derive(Ord, PartialOrd)]
    pub enum ImportSeverity {
        /// How the text was interpreted.
        Info,
        /// The text does not mean what it seems to mean.
        Warning,
        /// The text cannot be run.
        Error,
    }
}

/// A value that must be given before the jobs can be run.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct ImportQuestion {
    /// Key in `variables`: the name of a variable, or `#5` for a Windows disk.
    pub name: String,
    #[serde(flatten)]
    pub span: TextSpan,
    pub sentence: String,
}

impl Import {
    /// An import without jobs.
    pub fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            document: None,
            notes: Vec::new(),
            questions: Vec::new(),
        }
    }

    /// Errors and unanswered questions, as problems of the field `job_text`.
    pub fn problems(&self) -> Vec<Problem> {
        let errors = self
            .notes
            .iter()
            .filter(|note| note.severity == ImportSeverity::Error);
        let errors = errors.map(|note| {
            let detail = format!(
                "Line {}, column {}: {}",
                note.span.line, note.span.column, note.sentence
            );
            Problem::invalid(&note.code, "job_text", detail, note.remedy.as_str())
        });
        let questions = self.questions.iter().map(|question| {
            let span = question.span;
            let detail = format!(
                "Line {}, column {}: {}",
                span.line, span.column, question.sentence
            );
            let remedy = format!("Set \"{}\" in variables.", question.name);
            Problem::invalid(UNSET_VARIABLE, "job_text", detail, remedy)
        });
        errors.chain(questions).collect()
    }
}
