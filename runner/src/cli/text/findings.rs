//! Findings and their remedies.

use crate::cli::text::{
    style::{DIM, RED, YELLOW},
    writer::TextWriter,
};
use leadline_protocol::finding::{Finding, Severity};

pub(crate) fn write_findings(out: &mut TextWriter, findings: &[Finding]) {
    for finding in findings {
        let (style, label) = match finding.severity {
            Severity::Note => (DIM, "note"),
            Severity::Warning => (YELLOW, "warning"),
            Severity::Serious => (RED, "WARNING"),
        };
        out.styled_field(style, label, &finding.sentence);
        out.remedy(&finding.remedy);
    }
}
