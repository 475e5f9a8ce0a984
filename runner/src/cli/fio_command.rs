//! The `fio` command: fio's arguments and output, for scripts and programs that start fio. A link
//! named `fio` to this program is the same command.

use crate::{
    cli::{
        args::TargetArgs,
        document::{Input, read_text, with_environment},
        output::{FioFormat, OutputFormat, print_error, reject, write},
        run_command::{RunFiles, run_input},
        text::import::variable_remedy,
    },
    dialect,
    system::host::import_facts::import_with_host,
};
use clap::{Args, ValueEnum};
use leadline_export::fio::VERSION;
use leadline_protocol::{
    import::{Import, ImportSeverity, TextSpan, UNSET_VARIABLE},
    job::fio::find_option,
    problem::Problem,
};
use std::{
    fmt::Display,
    fs::{self, File, Metadata},
    io::{self, Seek},
    os::unix::fs::FileTypeExt,
};

pub(crate) const NAME: &str = "fio";
/// A line that no job file contains.
const END: &str = "end of the job file, written by leadline-runner";

#[derive(Args)]
pub(crate) struct FioArgs {
    #[command(flatten)]
    target: TargetArgs,
    /// Job file, or options of fio; --output, --output-format, --minimal, --parse-only and --version
    /// have fio's meaning
    #[arg(
        value_name = "FIO_ARGUMENTS",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    arguments: Vec<String>,
}

/// fio's options that this program applies itself. The import ignores or rejects all others that
/// are not options of jobs.
#[derive(Debug, Default, Eq, PartialEq)]
struct ProgramOptions {
    format: Option<String>,
    output: Option<String>,
    is_parse_only: bool,
    is_version: bool,
    is_help: bool,
}

/// Runs the jobs and returns the exit code.
pub(crate) fn run(args: &FioArgs) -> u8 {
    let (options, arguments) = split(&args.arguments);
    if options.is_version {
        return u8::from(write(&format!("{VERSION}\n")).is_err());
    }
    if options.is_help || arguments.is_empty() {
        return u8::from(write(HELP).is_err());
    }
    if options.is_parse_only {
        return read(&arguments)
            .document
            .map_or_else(|problems| reject(&problems), |_| 0);
    }
    let format = match format(options.format.as_deref()) {
        Ok(format) => OutputFormat::Fio(format),
        Err(problem) => return reject(&[problem]),
    };
    let output = match options.output.as_deref().map(OutputFile::open).transpose() {
        Ok(output) => output,
        Err(problem) => return reject(&[problem]),
    };
    let files = RunFiles {
        logs: None,
        state: None,
    };
    let code = run_input(|| read(&arguments), &args.target, format, &files, false);
    match output.map(OutputFile::finish) {
        Some(Err(problem)) => reject(&[problem]).max(code),
        _ => code,
    }
}

const HELP: &str = "\
Takes fio's arguments, runs the jobs with Leadline and prints fio's output:

  leadline-runner fio --name=a --rw=randread --size=256m --direct=1
  leadline-runner fio --output-format=json --output=result.json job.fio
  ln -s \"$(command -v leadline-runner)\" ~/bin/fio

Options of Leadline come first: --target-root=DIR, --allow-raw-write=IDENTITY, --confirm=TEXT@CODE.
Options that are not supported are rejected by name.
";

/// Separates the options of the program from all others.
fn split(arguments: &[String]) -> (ProgramOptions, Vec<String>) {
    let mut options = ProgramOptions::default();
    let mut others = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (word.as_str(), None),
        };
        match name {
            "--output-format" => options.format = value.or_else(|| words.next().cloned()),
            "--output" => options.output = value.or_else(|| words.next().cloned()),
            "--minimal" | "-m" => options.format = Some("terse".into()),
            "--parse-only" => options.is_parse_only = true,
            "--version" | "-v" => options.is_version = true,
            "--help" | "-h" => options.is_help = true,
            _ => others.push(word.clone()),
        }
    }
    (options, others)
}

fn format(name: Option<&str>) -> Result<FioFormat, Problem> {
    let name = name.unwrap_or("normal");
    FioFormat::from_str(name, false).map_err(|_| {
        Problem::invalid(
            "output_format",
            "--output-format",
            format!("`{name}` is not a format."),
            "Use one of json, json+, terse and normal.",
        )
    })
}

/// A file that is the standard output. It is not truncated before something is written, so that a
/// rejected run does not destroy an earlier result.
struct OutputFile<'a> {
    path: &'a str,
    file: File,
}

impl<'a> OutputFile<'a> {
    fn open(path: &'a str) -> Result<Self, Problem> {
        let is_device = |found: Metadata| found.file_type().is_block_device();
        if fs::metadata(path).is_ok_and(is_device) {
            return Err(unwritable(path, "it is a block device"));
        }
        let mut options = File::options();
        options.write(true).create(true).truncate(false);
        let opened = options.open(path).and_then(|file| {
            rustix::stdio::dup2_stdout(&file)?;
            Ok(Self { path, file })
        });
        opened.map_err(|error| unwritable(path, error))
    }

    /// Removes the rest of an earlier result that was longer.
    fn finish(mut self) -> Result<(), Problem> {
        let mut truncate = || match self.file.metadata()?.is_file() {
            true => match self.file.stream_position()? {
                0 => Ok(()),
                written => self.file.set_len(written),
            },
            false => Ok(()),
        };
        truncate().map_err(|error: io::Error| unwritable(self.path, error))
    }
}

fn unwritable(path: &str, reason: impl Display) -> Problem {
    let detail = format!("{path} cannot be written: {reason}.");
    Problem::invalid("output_file", "--output", detail, "Use another path.")
}

/// The jobs of a command, and their logs.
fn read(arguments: &[String]) -> Input {
    let mut logs = Vec::new();
    let document = Command::new(arguments).and_then(|command| {
        let request = with_environment(command.text.clone());
        let import = import_with_host(|host| dialect::import(&request, host));
        command.print_warnings(&import);
        let problems = command.problems(&import);
        let document = import.document.ok_or(problems)?;
        let differences;
        (logs, differences) = import_with_host(|host| dialect::logs_of_command(&request, host));
        differences.iter().for_each(print_error);
        Ok(document)
    });
    Input {
        document,
        import: None,
        logs,
    }
}

/// A command as a shell would read it.
struct Command {
    /// The job files are here documents before the command.
    text: String,
    job_files: Vec<JobFile>,
}

/// A job file within the text.
struct JobFile {
    path: String,
    /// Lines of the text before it.
    lines_before: u32,
    lines: u32,
}

impl Command {
    /// # Errors
    /// A job file cannot be read.
    fn new(arguments: &[String]) -> Result<Self, Vec<Problem>> {
        let indexes = dialect::job_file_arguments(arguments);
        let mut text = String::new();
        let mut job_files: Vec<JobFile> = Vec::new();
        let mut words = vec![NAME.to_owned()];
        for (index, argument) in arguments.iter().enumerate() {
            if !indexes.contains(&index) {
                words.push(format!("'{}'", argument.replace('\'', r"'\''")));
                continue;
            }
            // As in fio, the second reader of the standard input finds its end.
            let is_read = argument == "-" && job_files.iter().any(|file| file.path == "-");
            let contents = match is_read {
                true => Ok(String::new()),
                false => read_text(argument),
            };
            let contents = contents.map_err(|error| vec![unreadable(argument, &error)])?;
            let name = format!("job-file-{}", job_files.len() + 1);
            text += &format!("cat > {name} <<'{END}'\n");
            let lines_before = text.matches('\n').count() as u32;
            text += &format!("{}\n", contents.trim_end_matches('\n'));
            job_files.push(JobFile {
                path: argument.clone(),
                lines_before,
                lines: text.matches('\n').count() as u32 - lines_before,
            });
            text += &format!("{END}\n");
            words.push(name);
        }
        text += &words.join(" ");
        Ok(Self { text, job_files })
    }

    /// Where a note is, in the words of whoever wrote the command.
    fn place(&self, span: TextSpan, option: Option<&str>) -> String {
        let mut files = self.job_files.iter();
        let in_file = files.find_map(|file| {
            let line = span.line.checked_sub(file.lines_before)?;
            (1..=file.lines).contains(&line).then_some((file, line))
        });
        match (in_file, option) {
            (Some((file, line)), _) => {
                format!("{}, line {line}, column {}: ", file.path, span.column)
            }
            (None, Some(option)) if is_job_option(option) => format!("--{option}: "),
            _ => String::new(),
        }
    }

    fn print_warnings(&self, import: &Import) {
        let notes = import.notes.iter();
        for note in notes.filter(|note| note.severity == ImportSeverity::Warning) {
            let place = self.place(note.span, note.option.as_deref());
            print_error(format_args!("{place}{} {}", note.sentence, note.remedy));
        }
    }

    fn problems(&self, import: &Import) -> Vec<Problem> {
        let notes = import.notes.iter();
        let errors = notes.filter(|note| note.severity == ImportSeverity::Error);
        let errors = errors.map(|note| {
            let place = self.place(note.span, note.option.as_deref());
            let detail = format!("{place}{}", note.sentence);
            without_field(&note.code, detail, &note.remedy)
        });
        let questions = import.questions.iter().map(|question| {
            let place = self.place(question.span, None);
            let detail = format!("{place}{}", question.sentence);
            without_field(UNSET_VARIABLE, detail, &variable_remedy(&question.name))
        });
        errors.chain(questions).collect()
    }
}

fn is_job_option(name: &str) -> bool {
    find_option(name).is_some()
}

fn unreadable(path: &str, error: &io::Error) -> Problem {
    let detail = format!("{path} cannot be read: {error}.");
    let remedy = "Pass the path to a job file, or - for standard input.";
    without_field("unreadable", detail, remedy)
}

/// The detail says where the problem is.
fn without_field(code: &str, detail: String, remedy: &str) -> Problem {
    Problem {
        field: None,
        ..Problem::invalid(code, "", detail, remedy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn options_of_the_program_are_separated() {
        let (options, others) = split(&words("--output-format json --output=a --name x job.fio"));
        assert_eq!(options.format.as_deref(), Some("json"));
        assert_eq!(options.output.as_deref(), Some("a"));
        assert_eq!(others, words("--name x job.fio"));
        assert_eq!(split(&words("-m a.fio")).0.format.as_deref(), Some("terse"));
    }

    #[test]
    fn job_files_are_told_from_values() {
        let files = |text| dialect::job_file_arguments(&words(text));
        assert_eq!(files("--ioengine libaio --max-jobs=1 a.fio"), [3]);
        assert_eq!(files("--name=a --rw read --direct=1 -"), [4]);
        assert_eq!(files("--bs=4k --eta never a.fio b.fio"), [3, 4]);
        assert_eq!(files("-name a --hipri a.fio"), [3], "hipri takes no value");
        assert_eq!(files("-- --name"), [1]);
    }

    #[test]
    fn arguments_are_quoted() {
        let Ok(command) = Command::new(&words("--name=it's --description=$(date)")) else {
            panic!("there is no job file to read");
        };
        assert_eq!(
            command.text,
            r"fio '--name=it'\''s' '--description=$(date)'"
        );
    }
}
