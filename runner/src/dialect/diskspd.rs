//! diskspd commands (CmdLineParser.cpp in microsoft/diskspd): each flag is explained in terms of
//! fio's options. Windows targets are turned into questions.

mod conflicts;
mod flag_result;
mod flags;
mod job;
mod windows;

use crate::dialect::{
    diskspd::{flags::Flags, job::job},
    fio_jobs::FioJob,
    notes::{NoteText, Notes, quoted},
    option_value::job_text,
    shell::Word,
    source::{Source, Span},
};
use leadline_protocol::job::Job;
use std::collections::BTreeMap;

/// The maximum number of jobs in a run.
const MAX_TARGETS: usize = 64;
/// The maximum number of steps in a study.
const MAX_COMMANDS: usize = 256;

/// The jobs of each command.
pub(crate) fn commands(
    source: &Source<'_>,
    variables: &BTreeMap<String, String>,
    notes: &mut Notes<'_>,
) -> Vec<Vec<FioJob>> {
    let commands = windows::commands(source, notes);
    let mut all = Vec::new();
    for words in commands {
        if all.len() == MAX_COMMANDS {
            let sentence = format!("The text contains more than {MAX_COMMANDS} commands.");
            let text = NoteText::new("too_many_commands", sentence, "Split the text.");
            notes.error(&words[0].span, None, text);
            break;
        }
        if is_program(&words[0].text) {
            all.push(jobs(&words, variables, notes));
        } else {
            let name = quoted(&words[0].text);
            let sentence = format!("`{name}` is not run.");
            notes.warning(
                &words[0].span,
                Some(&words[0].text),
                NoteText::new("not_run", sentence, ""),
            );
        }
    }
    all
}

fn is_program(word: &str) -> bool {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    name.eq_ignore_ascii_case("diskspd") || name.eq_ignore_ascii_case("diskspd.exe")
}

fn jobs(
    words: &[Word],
    variables: &BTreeMap<String, String>,
    notes: &mut Notes<'_>,
) -> Vec<FioJob> {
    let program = &words[0].span;
    let mut flags = Flags::default();
    let mut targets: Vec<&Word> = Vec::new();
    for word in &words[1..] {
        if is_flag(&word.text) {
            flags.read(word, notes);
        } else {
            targets.push(word);
        }
    }
    if let Some(target) = targets.get(MAX_TARGETS) {
        let sentence = format!("The command has more than {MAX_TARGETS} targets.");
        let text = NoteText::new("too_many_targets", sentence, "Split the command.");
        notes.error(&target.span, None, text);
        targets.truncate(MAX_TARGETS);
    }
    flags.check(targets.len(), notes);
    report_defaults(&flags, program, notes);
    if targets.is_empty() {
        let sentence = "The command has no target. Which file or device should be measured?";
        notes.add_question(program, "target", sentence.into());
        let file = variables.get("target").cloned();
        return vec![report_unsupported_options(
            job(&flags, program, file.as_deref()),
            notes,
        )];
    }
    let job_of = |target: &&Word| {
        let file = target_file(target, flags.direct == Some(true), variables, notes);
        report_unsupported_options(job(&flags, &target.span, file.as_deref()), notes)
    };
    targets.iter().map(job_of).collect()
}

/// Reports options that Leadline's jobs do not support.
fn report_unsupported_options(job: FioJob, notes: &mut Notes<'_>) -> FioJob {
    for entry in &job.options.entries {
        let name = entry.option.name;
        let Some(doc) = entry.option.job_option() else {
            let sentence = format!("{name} is not supported, and has no effect.");
            notes.warning(
                &entry.span,
                Some(name),
                NoteText::new("not_applied", sentence, ""),
            );
            continue;
        };
        if let Some(Err(reason)) = Job::check(doc.name, &job_text(doc, entry)) {
            let text = NoteText::new("unsupported_value", format!("{name}: {reason}."), doc.help);
            notes.error(&entry.span, Some(name), text);
        }
    }
    job
}

/// Whether the word is a flag, such as `-b4k` or `/b4k`, rather than a Linux path, such as
/// `/mnt/t.dat`.
fn is_flag(word: &str) -> bool {
    word.starts_with('-') || (word.starts_with('/') && !word[1..].contains('/') && word.len() > 1)
}

/// Returns the file or device to use for a target; `None` if the user must choose it.
fn target_file(
    target: &Word,
    is_direct: bool,
    variables: &BTreeMap<String, String>,
    notes: &mut Notes<'_>,
) -> Option<String> {
    let name = &target.text;
    if let Some(file) = variables.get(name) {
        return Some(file.clone());
    }
    let drive = name.as_bytes();
    let has_drive = drive.len() >= 2 && drive[1] == b':' && drive[0].is_ascii_alphabetic();
    let is_volume = has_drive && drive.len() == 2;
    let is_physical = name.starts_with('#') || name.starts_with("\\\\.\\");
    if is_physical || is_volume {
        let sentence = format!(
            "`{}` is a Windows disk. Which device should be measured?",
            quoted(name)
        );
        notes.add_question(&target.span, name, sentence);
        if is_direct {
            let text = "Disks are accessed without the file cache, with or without -Su.";
            notes.info(
                &target.span,
                Some(name),
                NoteText::new("raw_device", text, ""),
            );
        } else {
            let text = "Windows does not cache I/O to a disk; Linux does unless direct=1 is set.";
            let remedy = "Add -Su to measure the device.";
            notes.warning(
                &target.span,
                Some(name),
                NoteText::new("raw_device_unbuffered", text, remedy),
            );
        }
        return None;
    }
    if has_drive || name.contains('\\') {
        let sentence = format!(
            "`{}` is a Windows path. Which file should be used?",
            quoted(name)
        );
        notes.add_question(&target.span, name, sentence);
        return None;
    }
    Some(name.clone())
}

fn report_defaults(flags: &Flags, program: &Span, notes: &mut Notes<'_>) {
    let mut note = |applies: bool, code: &'static str, sentence: &str| {
        if applies {
            notes.info(program, None, NoteText::new(code, sentence, ""));
        }
    };
    note(
        flags.block.is_none(),
        "block_default_64k",
        "Without -b, the block size is 64 KiB (bs=64k).",
    );
    note(
        flags.depth.is_none(),
        "depth_default_2",
        "Without -o, each thread has 2 I/Os in flight (iodepth=2).",
    );
    note(
        flags.duration_s.is_none(),
        "duration_default_10s",
        "Without -d, the measurement takes 10 s (runtime=10s).",
    );
    note(
        flags.warm_up_s.is_none(),
        "warmup_5s",
        "Without -W, 5 s of I/O before the measurement are not counted (ramp_time=5s).",
    );
    note(
        flags.direct != Some(true) && !flags.is_mapped,
        "buffered_default",
        "Without -Su or -Sh, I/O goes through the file cache (direct=0).",
    );
    note(
        flags.write_percent > 0 && flags.is_default_data(),
        "pattern_data",
        "By default, diskspd fills each buffer with the same byte pattern; Leadline uses random data.",
    );
    note(
        flags.threads > 1 && flags.random.is_none() && flags.thread_stride.is_none(),
        "same_offset_threads",
        "Without -T, all threads start at the same offset and access the same blocks.",
    );
}
