//! What the host can do, one line a question; below each trouble its remedy.

use crate::cli::print::style::{Style, Tone, wrap};
use leadline_protocol::host::{CheckStatus, Doctor};
use std::fmt::Write;

/// Width of the status and of the name, in characters.
const STATUS: usize = 6;
const NAME: usize = 13;

/// All answers as text.
pub fn doctor(found: &Doctor, style: Style) -> String {
    let mut out = String::new();
    for check in &found.checks {
        let (word, tone) = status(check.status);
        let head = format!(
            "{}{}",
            style.paint(tone, &format!("{word:<STATUS$}")),
            style.paint(Tone::Name, &format!("{:<NAME$}", check.name))
        );
        paragraph(&mut out, style, &head, &check.detail);
        if let Some(remedy) = &check.remedy {
            paragraph(
                &mut out,
                style,
                &" ".repeat(STATUS + NAME),
                &format!("→ {remedy}"),
            );
        }
    }
    let _ = writeln!(out, "\n{}", summary(found));
    out
}

fn status(status: CheckStatus) -> (&'static str, Tone) {
    match status {
        CheckStatus::Ok => ("ok", Tone::Good),
        CheckStatus::Warn => ("warn", Tone::Mind),
        CheckStatus::Fail => ("FAIL", Tone::Bad),
    }
}

fn paragraph(out: &mut String, style: Style, head: &str, text: &str) {
    for (number, line) in wrap(text, style.width - STATUS - NAME).iter().enumerate() {
        let _ = if number == 0 {
            writeln!(out, "{head}{line}")
        } else {
            writeln!(out, "{}{line}", " ".repeat(STATUS + NAME))
        };
    }
}

fn summary(found: &Doctor) -> String {
    let count = |status| {
        found
            .checks
            .iter()
            .filter(|check| check.status == status)
            .count()
    };
    match (count(CheckStatus::Fail), count(CheckStatus::Warn)) {
        (0, 0) => "This host is ready.".into(),
        (0, warnings) => format!(
            "This host is ready; {warnings} of {} answers to mind.",
            found.checks.len()
        ),
        (failures, warnings) => format!(
            "{failures} of {} will not work; {warnings} to mind.",
            found.checks.len()
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leadline_protocol::host::Check;

    fn check(name: &str, status: CheckStatus, found: &str, remedy: Option<&str>) -> Check {
        Check {
            name: name.into(),
            status,
            detail: found.into(),
            remedy: remedy.map(Into::into),
        }
    }

    #[test]
    fn answers_are_aligned_and_remedies_stand_below() {
        let found = Doctor {
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
        insta::assert_snapshot!(doctor(&found, Style::default()), @r"
        ok    kernel       Linux 6.18.44
        FAIL  io_uring     a seccomp filter blocks io_uring (container or service sandbox).
                           → Allow io_uring_setup, io_uring_enter and io_uring_register in the container's
                           seccomp profile, or use ioengine=psync.
        warn  governor     powersave
                           → cpupower frequency-set -g performance

        1 of 3 will not work; 1 to mind.
        ");
    }

    #[test]
    fn a_healthy_host_is_said_to_be_ready() {
        let found = Doctor {
            checks: vec![check("kernel", CheckStatus::Ok, "Linux 6.18.44", None)],
        };
        assert!(
            doctor(
                &found,
                Style {
                    color: true,
                    ..Style::default()
                }
            )
            .ends_with("\nThis host is ready.\n")
        );
        assert!(
            doctor(
                &found,
                Style {
                    color: true,
                    ..Style::default()
                }
            )
            .starts_with("\x1b[32mok    \x1b[0m")
        );
    }
}
