//! fio command lines: `--name` begins a job, and options before the first one apply to all jobs
//! (init.c, `parse_cmd_line`). Option names may be abbreviated, as in getopt_long_only(3).

use crate::dialect::{
    command_arguments::{Found, candidates},
    command_files::{self, Input, is_selected},
    command_options::{Effect, ProgramOption},
    notes::{NoteText, Notes, quoted},
    programs::Program,
    section::{RawOption, Section},
    shell::{HereDocument, Word},
    source::Span,
};

/// A study has at most 256 steps of 64 jobs; handwritten commands define fewer than 100 jobs.
const MAX_JOBS: usize = 1_000;
/// In bytes: the maximum length of a single argument in Linux (`MAX_ARG_STRLEN`).
const MAX_COMMAND: usize = 128 << 10;
/// Code of the warning about a command without `--name`.
pub(crate) const MISSING_NAME: &str = "missing_name";
/// fio's name for an unnamed job.
const UNNAMED: &str = "fio";
/// Dashes that word processors substitute for `-` or `--`.
const TYPOGRAPHIC_DASHES: [char; 3] = ['–', '—', '−'];

/// A command, as sections of a job file.
pub(crate) struct CommandSections {
    pub sections: Vec<Section>,
    /// Whether the command contains `--readonly`, which rejects jobs that write.
    pub is_read_only: bool,
}

pub(crate) fn sections(
    program: &Program,
    input: &Input<'_>,
    notes: &mut Notes<'_>,
) -> CommandSections {
    let mut reader = Reader {
        sections: Vec::new(),
        job_files: &program.job_files,
        named_files: Vec::new(),
        notes,
        has_stopped: false,
        is_read_only: false,
        selected: Vec::new(),
    };
    let last_start = program.program.span.end + MAX_COMMAND;
    let mut words = program.arguments.iter();
    while let Some(word) = words.next() {
        if reader.notes.is_full() {
            break;
        }
        if reader.sections.len() > MAX_JOBS || word.span.start > last_start {
            let text = NoteText::new("too_many_options", "The command is too long.", "Split it.");
            reader.notes.error(&word.span, None, text);
            break;
        }
        reader.read_argument(word, &mut words);
    }
    let mut sections = reader.sections;
    let is_read_only = reader.is_read_only;
    let selected = reader.selected;
    let files = reader.named_files;
    let has_files = !files.is_empty();
    sections.append(&mut command_files::sections(
        &files, &selected, input, notes,
    ));
    if sections.iter().all(|section| section.is_global) {
        let is_selected = !selected.is_empty();
        handle_missing_job(
            &mut sections,
            has_files,
            is_selected,
            &program.program.span,
            notes,
        );
    }
    CommandSections {
        sections,
        is_read_only,
    }
}

/// Reads the options of a command without `--name` as one job. Reports a command without jobs.
fn handle_missing_job(
    sections: &mut Vec<Section>,
    has_files: bool,
    is_selected: bool,
    program: &Span,
    notes: &mut Notes,
) {
    if !has_files && !is_selected && !sections.is_empty() {
        let sentence =
            "fio rejects the command, because it has no --name; its options were read as one job.";
        let remedy = "Add --name=NAME before the job's options.";
        let text = NoteText::new(MISSING_NAME, sentence, remedy);
        notes.warning(program, Some("name"), text);
        let mut job = Section::new(UNNAMED, program.clone());
        job.is_global = false;
        sections.push(job);
    } else if !notes.has_errors() {
        let (sentence, remedy) = match (is_selected, has_files) {
            (true, _) => (
                "--section selects no job.",
                "Use the name of a section, without its brackets.",
            ),
            (false, true) => (
                "The job files do not define a job.",
                "Add a section such as [job1].",
            ),
            (false, false) => ("The command has no options.", "Add a job with --name=NAME."),
        };
        let text = NoteText::new("no_jobs", sentence, remedy);
        notes.error(program, None, text);
    }
}

struct Reader<'p, 'n, 's> {
    sections: Vec<Section>,
    /// Job files in the text, by argument name.
    job_files: &'p [(String, HereDocument)],
    /// Job files that are passed as arguments, in order.
    named_files: Vec<&'p HereDocument>,
    notes: &'n mut Notes<'s>,
    /// Whether `--` has been read.
    has_stopped: bool,
    is_read_only: bool,
    /// Names of the sections that `--section` selects.
    selected: Vec<String>,
}

impl Reader<'_, '_, '_> {
    fn read_argument<'w>(&mut self, word: &'w Word, words: &mut impl Iterator<Item = &'w Word>) {
        let text = self.replace_typographic_dashes(word);
        if word.text == "--" && !self.has_stopped {
            self.has_stopped = true;
            return;
        }
        let mut files = self.job_files.iter();
        if let Some((_, document)) = files.find(|(name, _)| *name == word.text) {
            self.named_files.push(document);
            return;
        }
        let name_start = text.len() - text.trim_start_matches('-').len();
        if name_start == 0 || name_start > 2 || text.len() == name_start || self.has_stopped {
            return self.report_job_file(word);
        }
        let (name, value) = match text[name_start..].split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (&text[name_start..], None),
        };
        let name_at =
            word.span.start + (word.span.len().saturating_sub(text.len()).min(4)) + name_start;
        let name_span = name_at.min(word.span.end)..(name_at + name.len()).min(word.span.end);
        match self.find(name, &name_span) {
            Some(Found::Job(option)) => {
                let mut raw = RawOption {
                    name: option.name.into(),
                    value_span: (name_span.end + usize::from(value.is_some())).min(word.span.end)
                        ..word.span.end,
                    name_span,
                    value,
                    is_incomplete: word.has_unset_variable,
                };
                let mut has_command = word.has_command;
                if raw.value.is_none()
                    && option.requires_value()
                    && let Some(next) = words.next()
                {
                    raw.value = Some(next.text.clone());
                    raw.value_span = next.span.clone();
                    has_command |= next.has_command;
                    raw.is_incomplete |= next.has_unset_variable;
                }
                if has_command {
                    self.reject_command_substitution(&raw);
                    raw.is_incomplete = true;
                }
                if matches!(option.name, "filename" | "directory") {
                    self.strip_comment(&mut raw);
                }
                self.add_option(raw);
            }
            Some(Found::Program(option)) => {
                let takes_next = option.requires_value && value.is_none();
                let value = match value {
                    None if takes_next => words.next().map(|next| next.text.clone()),
                    value => value,
                };
                self.read_program_option(option, value.as_deref(), &word.span);
            }
            None => {}
        }
    }

    /// `;` and `#` begin a comment in paths even on a command line (options.c, `str_filename_cb`).
    fn strip_comment(&mut self, raw: &mut RawOption) {
        let value = raw.value.as_deref().unwrap_or_default();
        let Some(cut) = value.find([';', '#']) else {
            return;
        };
        let (kept, comment) = value.split_at(cut);
        let sentence = format!(
            "`{}` starts a comment, even inside a path; only `{}` is used.",
            &comment[..1],
            quoted(kept)
        );
        let text = NoteText::new("ini_comment_cut", sentence, "Remove the character.");
        self.notes.warning(&raw.value_span, Some(&raw.name), text);
        raw.value = Some(kept.trim_end().to_owned());
    }

    fn replace_typographic_dashes(&mut self, word: &Word) -> String {
        let rest = word
            .text
            .trim_start_matches(|c| c == '-' || TYPOGRAPHIC_DASHES.contains(&c));
        let dashes = &word.text[..word.text.len() - rest.len()];
        if !dashes.contains(TYPOGRAPHIC_DASHES) {
            return word.text.clone();
        }
        let sentence = "A typographic dash was read as `--`.";
        self.notes
            .info(&word.span, None, NoteText::new("typography", sentence, ""));
        format!("--{rest}")
    }

    fn report_job_file(&mut self, word: &Word) {
        let name = quoted(&word.text);
        let (sentence, remedy) = if word.text.contains('=') {
            (
                format!("`{name}` does not begin with `--`, so fio opens it as a job file."),
                "Put -- before the option.",
            )
        } else if word.text == "-" {
            (
                "fio reads the job file from standard input.".into(),
                "Paste the contents of the job file.",
            )
        } else {
            (
                format!("`{name}` is a job file; the text does not include its contents."),
                "Paste the contents of the job file.",
            )
        };
        self.notes.error(
            &word.span,
            Some(&word.text),
            NoteText::new("job_file_argument", sentence, remedy),
        );
    }

    /// Finds an option by its name, or by an unambiguous prefix.
    fn find(&mut self, name: &str, span: &Span) -> Option<Found> {
        let candidates = candidates(name);
        match candidates[..] {
            [(full, found)] => {
                if let Found::Job(option) = found
                    && full != name
                {
                    let sentence = format!("{} is an abbreviation of {full}.", quoted(name));
                    let text = NoteText::new("abbreviation", sentence, "");
                    self.notes.info(span, Some(option.name), text);
                }
                Some(found)
            }
            [] => {
                let raw = RawOption {
                    name: name.into(),
                    name_span: span.clone(),
                    value: None,
                    value_span: span.end..span.end,
                    is_incomplete: false,
                };
                self.current_section(span).options.push(raw);
                None
            }
            _ => {
                let names = candidates.iter().map(|(name, _)| *name);
                let list = names.take(5).collect::<Vec<_>>().join(", ");
                let sentence = format!("`{}` is ambiguous.", quoted(name));
                let remedy = format!("Use the full name: {list}.");
                self.notes.error(
                    span,
                    Some(name),
                    NoteText::new("ambiguous_option", sentence, remedy),
                );
                None
            }
        }
    }

    fn add_option(&mut self, raw: RawOption) {
        if raw.name != "name" {
            self.current_section(&raw.name_span).options.push(raw);
            return;
        }
        match raw.value.as_deref() {
            Some("") | None => {
                let text = NoteText::new(
                    "missing_value",
                    "--name has no value.",
                    "Write --name=NAME.",
                );
                self.notes.error(&raw.span(), Some("name"), text);
            }
            Some(name) => self.begin_job(Section::new(name, raw.span())),
        }
    }

    /// `--section` also skips the jobs that follow it on the command line. Options of a skipped job
    /// apply to all later jobs (init.c, `parse_cmd_line`).
    fn begin_job(&mut self, section: Section) {
        if is_selected(&section, &self.selected) {
            return self.sections.push(section);
        }
        let sentence = format!(
            "--section skips the job {}; its options apply to all later jobs.",
            quoted(&section.name)
        );
        let text = NoteText::new("section", sentence, "Put --section after this job.");
        self.notes.warning(&section.span, Some("name"), text);
        self.sections.push(Section::new("global", section.span));
    }

    /// Returns the current section. Options before the first `--name` belong to a global section.
    fn current_section(&mut self, span: &Span) -> &mut Section {
        if self.sections.is_empty() {
            self.sections.push(Section::new("global", span.clone()));
        }
        let last = self.sections.len() - 1;
        &mut self.sections[last]
    }

    fn reject_command_substitution(&mut self, raw: &RawOption) {
        let sentence = "The value contains a command, which is not run.";
        let text = NoteText::new(
            "command_substitution",
            sentence,
            "Replace it with its output.",
        );
        self.notes.error(&raw.value_span, Some(&raw.name), text);
    }

    fn report_no_effect(&mut self, name: &str, reason: &str, span: &Span) {
        let text = NoteText::new("no_effect", format!("--{name} has no effect: {reason}"), "");
        self.notes.info(span, Some(name), text);
    }

    fn read_program_option(&mut self, option: &ProgramOption, value: Option<&str>, span: &Span) {
        let name = option.name;
        match option.effect {
            Effect::Output => self.report_no_effect(name, "it controls fio's output.", span),
            Effect::Ignored(reason) => self.report_no_effect(name, reason, span),
            Effect::NoRun => {
                let sentence =
                    format!("--{name} makes fio print information without running a job.");
                self.notes.error(
                    span,
                    Some(name),
                    NoteText::new("no_jobs", sentence, "Remove it."),
                );
            }
            Effect::Rejected(reason) => {
                let sentence = format!("--{name} {reason}");
                let text = NoteText::new("unsupported_option", sentence, "Remove it.");
                self.notes.error(span, Some(name), text);
            }
            Effect::Section => {
                let section = value.unwrap_or_default();
                let sentence = format!(
                    "Of the job files, only [{}] and the global sections are used.",
                    quoted(section)
                );
                self.notes
                    .info(span, Some(name), NoteText::new("section", sentence, ""));
                self.selected.push(section.to_owned());
            }
            Effect::ReadOnly => {
                self.is_read_only = true;
                let sentence = "--readonly rejects jobs that write, and files that would be created or extended.";
                self.notes
                    .info(span, Some(name), NoteText::new("readonly", sentence, ""));
            }
        }
    }
}
