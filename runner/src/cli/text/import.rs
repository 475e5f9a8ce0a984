//! How imported text was interpreted.

use crate::cli::text::{
    style::{BOLD, DIM, RED, YELLOW},
    writer::TextWriter,
};
use leadline_protocol::import::{Dialect, Import, ImportSeverity};

pub(crate) fn render(import: &Import, width: usize) -> String {
    let mut out = TextWriter::new(width);
    out.styled_field(BOLD, "syntax", dialect(import.dialect));
    for note in &import.notes {
        let (style, severity) = match note.severity {
            ImportSeverity::Info => (DIM, ""),
            ImportSeverity::Warning => (YELLOW, "warning: "),
            ImportSeverity::Error => (RED, "error: "),
        };
        let position = format!("{}:{}", note.span.line, note.span.column);
        out.styled_field(style, &position, &format!("{severity}{}", note.sentence));
        if !note.remedy.is_empty() {
            out.remedy(&note.remedy);
        }
    }
    for question in &import.questions {
        let position = format!("{}:{}", question.span.line, question.span.column);
        out.styled_field(RED, &position, &question.sentence);
        out.remedy(&variable_remedy(&question.name));
    }
    out.blank_line();
    out.into_text()
}

/// How to set a variable that imported text refers to.
pub(crate) fn variable_remedy(name: &str) -> String {
    format!("Set it in the environment: env '{name}=VALUE' leadline-runner ...")
}

fn dialect(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Json => "JSON",
        Dialect::FioJobFile => "fio job file",
        Dialect::FioCommand => "fio command",
        Dialect::DiskspdCommand => "diskspd command",
        Dialect::Other => "another tool's command",
        Dialect::Unknown => "not a supported job file or command",
    }
}
