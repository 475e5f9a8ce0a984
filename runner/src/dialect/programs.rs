//! Finds fio among shell commands, and reports the commands that are not run.

use crate::dialect::{
    assignment::assignment,
    notes::{NoteText, Notes, quoted},
    shell::{HereDocument, Separator, ShellCommand, Word},
};

/// A fio command.
pub(crate) struct Program {
    pub arguments: Vec<Word>,
    pub program: Word,
    pub end: Separator,
    /// Job files in the text, by argument name; `-` is standard input.
    pub job_files: Vec<(String, HereDocument)>,
}

/// Commands that run another command without changing its I/O.
const TRANSPARENT: [&str; 10] = [
    "sudo", "time", "env", "nohup", "exec", "command", "stdbuf", "doas", "watch", "\\time",
];
/// Commands that run another command and change how it runs, and what to use instead.
const WRAPPERS: [(&str, &str); 17] = [
    ("nice", "Set the option nice."),
    ("ionice", "Set the I/O priority of Leadline itself."),
    ("taskset", "Set cpus_allowed."),
    ("numactl", "Set cpus_allowed."),
    ("chrt", "Start Leadline with this priority."),
    ("timeout", "Set runtime."),
    ("cgexec", "Start Leadline in this group."),
    ("systemd-run", "Start Leadline in this unit."),
    ("strace", ""),
    ("perf", "Set profile=1."),
    ("ltrace", ""),
    (
        "docker",
        "Start Leadline in the container to measure there.",
    ),
    (
        "podman",
        "Start Leadline in the container to measure there.",
    ),
    (
        "kubectl",
        "Start Leadline in the container to measure there.",
    ),
    ("ssh", "Start Leadline on that host."),
    ("chroot", ""),
    ("unshare", ""),
];
/// Shell keywords whose meaning would be lost.
const SYNTAX: [&str; 12] = [
    "for", "while", "until", "if", "case", "do", "done", "then", "else", "fi", "esac", "function",
];
/// Other benchmarks.
const BENCHMARKS: [&str; 11] = [
    "dd",
    "ioping",
    "elbencho",
    "vdbench",
    "iozone",
    "bonnie++",
    "sysbench",
    "hdparm",
    "iometer",
    "filebench",
    "stress-ng",
];

/// Finds the fio commands, and reports the other commands.
pub(crate) fn programs(commands: Vec<ShellCommand>, notes: &mut Notes<'_>) -> Vec<Program> {
    let mut programs = Vec::new();
    let mut written = Vec::new();
    let mut is_after_pipe = false;
    let has_program = commands
        .iter()
        .any(|command| find(&command.words).is_some());
    for command in commands {
        let is_piped = std::mem::replace(&mut is_after_pipe, command.end == Separator::Pipe);
        match find(&command.words) {
            Some(at) if !is_piped => {
                report_wrappers(&command.words[..at], notes);
                report_ignored(&command, notes);
                let mut job_files = written.clone();
                job_files.extend(command.here_document.map(|found| ("-".to_owned(), found)));
                let mut words = command.words.into_iter().skip(at);
                let Some(program) = words.next() else {
                    continue;
                };
                programs.push(Program {
                    program,
                    arguments: words.collect(),
                    end: command.end,
                    job_files,
                });
            }
            _ => match written_file(&command) {
                Some(file) if has_program => {
                    report_written(&file, notes);
                    written.retain(|(name, _)| *name != file.0);
                    written.push(file);
                }
                _ => report_other(&command, has_program, notes),
            },
        }
    }
    programs
}

/// Returns the file that `cat > FILE <<EOF` or `tee FILE <<EOF` would write, with its contents.
fn written_file(command: &ShellCommand) -> Option<(String, HereDocument)> {
    let document = command.here_document.clone()?;
    let words: Vec<_> = command
        .words
        .iter()
        .map(|word| word.text.as_str())
        .collect();
    let name = match (&words[..], &command.output) {
        (["cat"], Some(name)) => name.as_str(),
        (["tee", name] | ["sudo", "tee", name], _) => *name,
        _ => return None,
    };
    Some((name.to_owned(), document))
}

fn report_written((name, document): &(String, HereDocument), notes: &mut Notes<'_>) {
    let sentence = format!(
        "`{}` contains the text of the here document; no file is written.",
        quoted(name)
    );
    let text = NoteText::new("here_document", sentence, "");
    notes.info(&document.span, None, text);
}

/// Position of fio in a command.
fn find(words: &[Word]) -> Option<usize> {
    let is_fio = |word: &Word| base_name(&word.text) == "fio";
    let first = words
        .iter()
        .position(|word| assignment(&word.text).is_none())?;
    if is_fio(&words[first]) {
        return Some(first);
    }
    let command = base_name(&words[first].text);
    let is_wrapper =
        TRANSPARENT.contains(&command) || WRAPPERS.iter().any(|(wrapper, _)| *wrapper == command);
    if !is_wrapper {
        return None;
    }
    let at = first + 1 + words[first + 1..].iter().position(is_fio)?;
    // In `docker exec fio fio --name=a`, the first `fio` is the name of a container.
    Some(at + usize::from(words.get(at + 1).is_some_and(is_fio)))
}

fn base_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

fn report_wrappers(words: &[Word], notes: &mut Notes<'_>) {
    for word in words {
        let name = base_name(&word.text);
        let Some((_, remedy)) = WRAPPERS.iter().find(|(wrapper, _)| *wrapper == name) else {
            continue;
        };
        let sentence = format!("{name} is ignored.");
        notes.warning(
            &word.span,
            Some(name),
            NoteText::new("wrapper", sentence, *remedy),
        );
    }
}

fn report_ignored(command: &ShellCommand, notes: &mut Notes<'_>) {
    for (span, what) in &command.ignored {
        let sentence = format!("{what} is ignored: an import does not read or write files.");
        notes.info(span, None, NoteText::new("redirection", sentence, ""));
    }
    let reads_input = command.words.iter().any(|word| word.text == "-");
    if let Some(document) = command.here_document.as_ref().filter(|_| !reads_input) {
        let sentence = "The here document is ignored: fio reads it only with the argument `-`.";
        notes.info(
            &document.span,
            None,
            NoteText::new("redirection", sentence, ""),
        );
    }
}

fn report_other(command: &ShellCommand, has_program: bool, notes: &mut Notes<'_>) {
    let Some(word) = command.words.first() else {
        return;
    };
    let name = base_name(&word.text);
    let short = quoted(name);
    if SYNTAX.contains(&name) {
        let sentence = format!("The shell keyword `{short}` is not supported.");
        let remedy = "Paste each command separately, or use a sweep in a study.";
        notes.error(
            &word.span,
            Some(name),
            NoteText::new("shell_syntax", sentence, remedy),
        );
    } else if BENCHMARKS.contains(&name) {
        let sentence = format!("{short} is another benchmark, and its commands are not imported.");
        let remedy = "Paste fio or diskspd commands.";
        let text = NoteText::new("other_benchmark", sentence, remedy);
        if has_program {
            notes.warning(&word.span, Some(name), text);
        } else {
            notes.error(&word.span, Some(name), text);
        }
    } else if has_program {
        let text = command
            .words
            .iter()
            .map(|word| word.text.as_str())
            .collect::<Vec<_>>()
            .join(" ");
        let drops_caches = text.contains("drop_caches")
            || command
                .ignored
                .iter()
                .any(|_| text == "echo 3" || text == "echo 1");
        let remedy = match name {
            "cd" => "Relative file names refer to Leadline's working directory.",
            _ if drops_caches => "Set drop_caches=1 to drop the caches before the run.",
            _ => "",
        };
        let sentence = format!("`{short}` is not run.");
        notes.warning(
            &word.span,
            Some(name),
            NoteText::new("not_run", sentence, remedy),
        );
    } else {
        let sentence = format!("`{short}` is not a fio or diskspd command.");
        let remedy = "Paste a fio job file, or fio or diskspd commands.";
        notes.error(
            &word.span,
            Some(name),
            NoteText::new("unknown_command", sentence, remedy),
        );
    }
}
