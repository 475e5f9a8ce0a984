//! The `fio` command accepts fio's arguments and prints fio's output, for scripts and programs that
//! start fio. A link to this program with the name `fio` runs the same command.

use crate::{
    cli::{
        args::TargetArgs,
        document::{Input, import_request, read_text},
        output::{FioFormat, OutputFormat, print_error, reject, write},
        output_file::OutputFile,
        run_command::{RunFiles, run_input},
        text::import::variable_remedy,
    },
    dialect::{self, MISSING_NAME, Positions},
    system::host::import_facts::import_with_host,
};
use clap::{Args, ValueEnum};
use leadline_export::fio::VERSION;
use leadline_protocol::{
    import::{Import, ImportNote, ImportSeverity, TextSpan, UNSET_VARIABLE},
    job::fio::find_option,
    problem::Problem,
};
use std::io;

pub(crate) const NAME: &str = "fio";
/// Skipped at the start of a job file, as in other imports.
const BYTE_ORDER_MARK: char = '\u{feff}';
/// Codes of notes about files with other names than in fio. They are printed like warnings.
const NOTES_ON_FILES: &[&str] = &["file_names", "name_spaces"];
/// Delimiter of the here documents: a line that no job file contains.
const END: &str = "end of the job file, written by leadline-runner";

#[derive(Args)]
pub(crate) struct FioArgs {
    #[command(flatten)]
    target: TargetArgs,
    /// Job files or fio options; --output, --output-format, --minimal, --parse-only and --version
    /// work as in fio
    #[arg(
        value_name = "FIO_ARGUMENTS",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    arguments: Vec<String>,
}

/// fio's options that this program applies itself. The import ignores or rejects all other options
/// that are not job options.
#[derive(Debug, Default, Eq, PartialEq)]
struct ProgramOptions {
    format: Option<String>,
    output: Option<String>,
    terse_version: Option<String>,
    appends_terse: bool,
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
    if options.is_help {
        return u8::from(write(HELP).is_err());
    }
    if arguments.is_empty() {
        return reject(&[no_jobs_problem()]);
    }
    if options.is_parse_only {
        return read(&arguments)
            .document
            .map_or_else(|problems| reject(&problems), |_| 0);
    }
    let format = match check_terse(&options).and_then(|()| format(options.format.as_deref())) {
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

Leadline's options come first: --target-root=DIR, --allow-raw-write=IDENTITY, --confirm=TEXT@CODE.
Unsupported options are rejected by name.
";

/// Separates the program's options from all other options.
fn split(arguments: &[String]) -> (ProgramOptions, Vec<String>) {
    let mut options = ProgramOptions::default();
    let mut others = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let value = word.split_once('=').map(|(_, value)| value.to_owned());
        let name = match word.as_str() {
            "-m" => Some("minimal"),
            "-v" => Some("version"),
            "-h" => Some("help"),
            word => dialect::program_option(word),
        };
        match name {
            Some("output-format") => options.format = value.or_else(|| words.next().cloned()),
            Some("output") => options.output = value.or_else(|| words.next().cloned()),
            Some("terse-version") => {
                options.terse_version = value.or_else(|| words.next().cloned());
            }
            Some("append-terse") => options.appends_terse = true,
            Some("minimal") => options.format = Some("terse".into()),
            Some("parse-only") => options.is_parse_only = true,
            Some("version") => options.is_version = true,
            Some("help") => options.is_help = true,
            _ => others.push(word.clone()),
        }
    }
    (options, others)
}

/// # Errors
/// The requested terse version, or --append-terse, is not supported.
fn check_terse(options: &ProgramOptions) -> Result<(), Problem> {
    let (field, detail, remedy) = if options.appends_terse {
        let remedy = "Use --output-format=terse.";
        ("--append-terse", "--append-terse is not supported.", remedy)
    } else if options
        .terse_version
        .as_deref()
        .is_none_or(|version| version == "3")
    {
        return Ok(());
    } else {
        let detail = "Only version 3 of the terse format, fio's default, is supported.";
        (
            "--terse-version",
            detail,
            "Use --terse-version=3 or --output-format=json.",
        )
    };
    Err(Problem::invalid("output_format", field, detail, remedy))
}

fn format(name: Option<&str>) -> Result<FioFormat, Problem> {
    let name = name.unwrap_or("normal");
    FioFormat::from_str(name, false).map_err(|_| {
        Problem::invalid(
            "output_format",
            "--output-format",
            format!("`{name}` is not an output format."),
            "Use one of json, json+, terse and normal.",
        )
    })
}

/// The jobs of a command, and their logs.
fn read(arguments: &[String]) -> Input {
    let mut logs = Vec::new();
    let document = Command::new(arguments).and_then(|command| {
        let request = import_request(command.text.clone());
        let read = import_with_host(|host| dialect::import_with_logs(&request, host));
        let import = read.import;
        // An import accepts options without a job; fio does not.
        if import.notes.iter().any(|note| note.code == MISSING_NAME) {
            return Err(vec![no_jobs_problem()]);
        }
        command.print_warnings(&import);
        let problems = command.problems(&import);
        let document = import.document.ok_or(problems)?;
        read.differences.iter().for_each(print_error);
        logs = read.logs;
        Ok(document)
    });
    Input {
        document,
        import: None,
        logs,
        positions: Positions::default(),
    }
}

/// A command as a shell would parse it.
struct Command {
    /// The job files are here documents before the command.
    text: String,
    job_files: Vec<JobFile>,
}

/// Position of a job file in the text.
struct JobFile {
    path: String,
    /// Number of lines before the job file.
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
            // As in fio, standard input is empty when it is read a second time.
            let is_read = argument == "-" && job_files.iter().any(|file| file.path == "-");
            let contents = match is_read {
                true => Ok(String::new()),
                false => read_text(argument),
            };
            let contents = contents.map_err(|error| vec![unreadable_file(argument, &error)])?;
            let contents = contents.trim_start_matches(BYTE_ORDER_MARK);
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

    /// Locates a note in the command that the user entered.
    fn location(&self, span: TextSpan, option: Option<&str>) -> String {
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
        let is_printed = |note: &&ImportNote| {
            note.severity == ImportSeverity::Warning || NOTES_ON_FILES.contains(&note.code.as_str())
        };
        for note in notes.filter(is_printed) {
            let location = self.location(note.span, note.option.as_deref());
            print_error(format_args!("{location}{} {}", note.sentence, note.remedy));
        }
    }

    fn problems(&self, import: &Import) -> Vec<Problem> {
        let notes = import.notes.iter();
        let errors = notes.filter(|note| note.severity == ImportSeverity::Error);
        let errors = errors.map(|note| {
            let location = self.location(note.span, note.option.as_deref());
            let detail = format!("{location}{}", note.sentence);
            Problem::invalid(&note.code, "", detail, &note.remedy)
        });
        let questions = import.questions.iter().map(|question| {
            let location = self.location(question.span, None);
            let detail = format!("{location}{}", question.sentence);
            Problem::invalid(UNSET_VARIABLE, "", detail, variable_remedy(&question.name))
        });
        errors.chain(questions).collect()
    }
}

fn is_job_option(name: &str) -> bool {
    find_option(name).is_some()
}

/// As in fio, a job file or a job name is required; options alone do not define a job.
fn no_jobs_problem() -> Problem {
    let detail = "No jobs are defined.";
    let remedy = "Pass a job file, or --name=NAME before the options of a job.";
    Problem::invalid("no_jobs", "", detail, remedy)
}

fn unreadable_file(path: &str, error: &io::Error) -> Problem {
    let detail = format!("{path} cannot be read: {error}.");
    let remedy = "Pass the path to a job file, or - for standard input.";
    Problem::invalid("unreadable", "", detail, remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn program_options_are_split_from_job_arguments() {
        let (options, others) = split(&words("--output-format json --output=a --name x job.fio"));
        assert_eq!(options.format.as_deref(), Some("json"));
        assert_eq!(options.output.as_deref(), Some("a"));
        assert_eq!(others, words("--name x job.fio"));
        assert_eq!(split(&words("-m a.fio")).0.format.as_deref(), Some("terse"));
        // As in fio, names may be abbreviated.
        for (text, format) in [
            ("--output-f=json", "json"),
            ("--output-form json+", "json+"),
            ("-output-format=normal", "normal"),
            ("--minim", "terse"),
        ] {
            assert_eq!(
                split(&words(text)).0.format.as_deref(),
                Some(format),
                "{text}"
            );
        }
        assert_eq!(
            split(&words("--outpu=a")).1,
            words("--outpu=a"),
            "ambiguous"
        );
    }

    #[test]
    fn unsupported_terse_versions_are_rejected() {
        let check = |text| check_terse(&split(&words(text)).0);
        assert!(check("--minimal --terse-version 3").is_ok());
        assert!(check("--terse-version=5 --minimal").is_err());
        assert!(check("--append-terse").is_err());
    }

    #[test]
    fn job_files_are_distinguished_from_values() {
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
