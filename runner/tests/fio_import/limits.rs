//! Text that is too large or unreadable.

use crate::{request, with_host};
use leadline_protocol::import::{Import, ImportSeverity};
use leadline_runner::dialect::import;
use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// CPU time of this thread, which does not depend on other processes.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn imported(text: &str) -> (Import, Duration) {
    let start = cpu_time();
    let import = with_host(|host| import(&request(text), host));
    (import, cpu_time() - start)
}

#[test]
fn large_texts_are_handled_within_a_second() {
    let long_line = format!("[j]\nfilename={}\n", "x".repeat(10_000_000));
    let sections: String = (0..10_000)
        .map(|number| format!("[j{number}]\nrw=read\n"))
        .collect();
    let options = format!("[j]\n{}", "rw=read\n".repeat(100_000));
    let parentheses = format!("[j]\nsize=$ncpus*{}\n", "(".repeat(4_000));
    let quotes = format!("fio --name={}", "'a'\"b\"$X".repeat(100_000));
    let unknown = format!("[j]\n{}", "iodpeth=1\n".repeat(100_000));
    let commands = "fio --name=a; ".repeat(70_000);
    let targets = format!("diskspd {}", "#1 ".repeat(300_000));
    for (text, code, line) in [
        (unknown.as_str(), "unknown_option", 2),
        (&commands, "too_many_commands", 1),
        (&targets, "too_many_targets", 1),
        (&long_line, "text_too_long", 2),
        (&sections, "too_many_sections", 2001),
        (&parentheses, "", 0),
        (&quotes, "", 0),
        (&options, "", 0),
    ] {
        let (import, elapsed) = imported(text);
        assert!(elapsed < Duration::from_secs(1), "{code}: {elapsed:?}");
        let mut notes = import.notes.iter();
        let is_reported = notes.any(|note| {
            note.code == code && note.span.line == line && note.severity == ImportSeverity::Error
        });
        assert!(
            code.is_empty() || is_reported,
            "{code}: {:?}",
            import.notes.first()
        );
    }
}

#[test]
fn unreadable_texts_have_specific_errors() {
    let unknown = format!("[j]\n{}", "iodpeth=1\n".repeat(100_000));
    let commands = "fio --name=a; ".repeat(70_000);
    let targets = format!("diskspd {}", "#1 ".repeat(300_000));
    for (text, code, line) in [
        (unknown.as_str(), "unknown_option", 2),
        (&commands, "too_many_commands", 1),
        (&targets, "too_many_targets", 1),
        ("[j]\nrw=read\0\n", "nul_character", 2),
        ("[j]\rrw=read\r", "carriage_return", 1),
        ("\u{feff}[j]\nrw=read\n", "byte_order_mark", 1),
    ] {
        let (import, _) = imported(text);
        let mut notes = import.notes.iter();
        let is_reported = notes.any(|note| note.code == code && note.span.line == line);
        assert!(is_reported, "{text:?}: {:?}", import.notes);
    }
}
