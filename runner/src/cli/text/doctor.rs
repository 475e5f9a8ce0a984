//! Host checks, with a remedy below each failed check.

use crate::cli::text::{
    style::{BOLD, GREEN, RED, YELLOW, paint},
    writer::TextWriter,
};
use leadline_protocol::{
    doctor::{CheckStatus, Doctor},
    format::plural,
};

/// Width of the status column.
const STATUS: usize = 6;
/// Width of the name column.
const NAME: usize = 13;

pub fn render(doctor: &Doctor, width: usize) -> String {
    let mut out = TextWriter::new(width);
    let indent = " ".repeat(STATUS + NAME);
    for check in &doctor.checks {
        let (label, style) = match check.status {
            CheckStatus::Ok => ("ok", GREEN),
            CheckStatus::Warn => ("warn", YELLOW),
            CheckStatus::Fail => ("FAIL", RED),
        };
        let status = paint(style, format_args!("{label:<STATUS$}"));
        let name = paint(BOLD, format_args!("{:<NAME$}", check.name));
        out.wrapped_text(&(status + &name), &indent, &check.detail);
        if let Some(remedy) = &check.remedy {
            out.wrapped_text(&indent, &indent, &format!("→ {remedy}"));
        }
    }
    out.push(&format!("\n{}\n", summary(doctor)));
    out.into_text()
}

fn summary(doctor: &Doctor) -> String {
    let count = |status| {
        let checks = doctor.checks.iter();
        checks.filter(|check| check.status == status).count() as u64
    };
    match (count(CheckStatus::Fail), count(CheckStatus::Warn)) {
        (0, 0) => "All checks passed.".into(),
        (0, warnings) => format!("No failures, {}.", plural(warnings, "warning")),
        (failures, warnings) => format!(
            "{}, {}.",
            plural(failures, "failure"),
            plural(warnings, "warning")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::text::style::DEFAULT_WIDTH;
    use anstream::adapter::strip_str;
    use leadline_protocol::doctor::Check;

    fn check(name: &str, status: CheckStatus, detail: &str, remedy: Option<&str>) -> Check {
        Check {
            name: name.into(),
            status,
            detail: detail.into(),
            remedy: remedy.map(Into::into),
        }
    }

    #[test]
    fn aligns_details_and_wraps_remedies() {
        let doctor = Doctor {
            checks: vec![
                check("kernel", CheckStatus::Ok, "Linux 6.18.44", None),
                check(
                    "io_uring",
                    CheckStatus::Fail,
                    "a seccomp filter blocks io_uring (container or service sandbox).",
                    Some(
                        "Allow io_uring_setup, io_uring_enter and io_uring_register in the container's seccomp profile, or use ioengine=psync.",
                    ),
                ),
                check(
                    "governor",
                    CheckStatus::Warn,
                    "powersave",
                    Some("cpupower frequency-set -g performance"),
                ),
            ],
        };
        insta::assert_snapshot!(strip_str(&render(&doctor, DEFAULT_WIDTH)).to_string(), @r"
        ok    kernel       Linux 6.18.44
        FAIL  io_uring     a seccomp filter blocks io_uring (container or service sandbox).
                           → Allow io_uring_setup, io_uring_enter and io_uring_register in the container's
                           seccomp profile, or use ioengine=psync.
        warn  governor     powersave
                           → cpupower frequency-set -g performance

        1 failure, 1 warning.
        ");
    }

    #[test]
    fn reports_a_host_without_problems() {
        let doctor = Doctor {
            checks: vec![check("kernel", CheckStatus::Ok, "Linux 6.18.44", None)],
        };
        let text = render(&doctor, DEFAULT_WIDTH);
        assert!(text.ends_with("\nAll checks passed.\n"), "{text}");
        assert!(text.starts_with("\x1b[32mok    \x1b[0m"), "{text}");
    }
}
