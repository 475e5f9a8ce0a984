//! Exports jobs as a fio job file.

use crate::fio::job_options::option_text;
use leadline_protocol::{
    job::{OptionDoc, list::Files, value::FioValue},
    plan::{job::ResolvedJob, target::TargetKind},
    problem::Problem,
    text::printable,
};
use serde_json::{Map, Value};
use std::fmt::Write;

/// Options that fio does not support, or that have a different meaning in fio.
const LEADLINE_OPTIONS: &[&str] = &[
    "cache_state",
    "drop_caches",
    "file_state",
    "ioengine_fallback",
    "loop_device",
    "overload_time",
    "probes",
    "profile",
    "request_sizes",
    "spin",
];

/// Option values that fio does not support, as pairs of option and value.
const LEADLINE_VALUES: &[(&str, &str)] = &[
    ("fallocate", "written"),
    ("iomem", "thp"),
    ("ioengine", "io_uring_nop"),
    ("mem", "thp"),
];

/// Text that fio interprets in option values: it ends the line at comment characters and line
/// breaks, and replaces environment variables and keywords. fio has no syntax to escape them.
const INTERPRETED_BY_FIO: &[&str] = &["#", ";", "${", "$ncpus", "$mb_memory", "$pagesize", "\n"];

/// Options that determine which files are accessed. A job file cannot omit them.
const NAMING_OPTIONS: &[&str] = &["filename", "directory", "name"];

/// A job's options, in order.
type Options = Vec<(String, String)>;

/// Writes jobs as a fio job file. Engines are explicit, because fio's default differs. Paths are
/// absolute if they are known (`resolved` is not empty). Options that fio does not support are
/// listed in a comment.
///
/// # Errors
/// Returns one problem per path that a job file cannot contain: fio would access a different file.
pub fn job_file(requested: &[Value], resolved: &[ResolvedJob]) -> Result<String, Vec<Problem>> {
    let mut text = String::new();
    let mut sections = Vec::new();
    let mut omitted = Vec::new();
    let mut problems = Vec::new();
    for (index, job) in requested.iter().enumerate() {
        let job = canonical(job);
        let name = find(&job, "name").unwrap_or("job").to_owned();
        let (unsupported, supported): (Options, Options) =
            job.into_iter().partition(is_unsupported);
        omitted.extend(
            unsupported
                .iter()
                .map(|(option, value)| printable(&format!("{name}: {option}={value}"))),
        );
        let options = fio_options(supported, &unsupported, resolved.get(index));
        problems.extend(unwritable_paths(index, &name, &options));
        sections.push((section_name(&name), options));
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    if !omitted.is_empty() {
        let _ = writeln!(text, "; Not supported by fio: {}", omitted.join(", "));
    }
    write_sections(&mut text, sections);
    Ok(text)
}

fn is_interpreted_by_fio(text: &str) -> bool {
    INTERPRETED_BY_FIO.iter().any(|part| text.contains(part))
}

/// Returns a problem per path that fio would replace. Without `filename`, fio names files after the
/// job.
fn unwritable_paths<'a>(
    index: usize,
    name: &'a str,
    options: &'a Options,
) -> impl Iterator<Item = Problem> + 'a {
    let paths = options.iter();
    let paths = paths.filter(|(option, _)| NAMING_OPTIONS.contains(&option.as_str()));
    let paths = paths.map(|(option, path)| (option.as_str(), path.as_str()));
    let paths = paths.filter(|(_, path)| is_interpreted_by_fio(path));
    let is_file_name = find(options, "filename").is_none() && section_name(name) != name;
    paths
        .chain(is_file_name.then_some(("name", name)))
        .map(move |(option, value)| {
            let field = format!("jobs[{index}].{option}");
            let detail = format!("fio would access a different file than {value:?}: it replaces #, ;, line breaks, ${{NAME}} and $ncpus in job files.");
            let remedy = "Rename the file or job, and run it again.";
            Problem::invalid("not_expressible", field, detail, remedy)
        })
}

/// Replaces text that fio would interpret. Brackets end a section name, and a section whose name
/// starts with `global` defines no job (`strncmp` in `__parse_jobs_ini`).
fn section_name(name: &str) -> String {
    let mut name = name.replace(['[', ']'], "_");
    for part in INTERPRETED_BY_FIO {
        name = name.replace(part, "_");
    }
    if name.starts_with("global") {
        name.insert(0, '_');
    }
    name
}

/// Replaces aliases with the options' main names, and removes null values.
fn canonical(job: &Value) -> Options {
    let empty = Map::new();
    let job = job.as_object().unwrap_or(&empty);
    let given = job.iter().filter(|(_, value)| !value.is_null());
    given
        .map(|(name, value)| {
            let name = OptionDoc::find(name).map_or(name.as_str(), |option| option.name);
            (name.into(), fio_text(name, option_text(value)))
        })
        .collect()
}

/// In fio, commas separate the blocks of a sequence; in Leadline's jobs, they separate directions.
fn fio_text(name: &str, text: String) -> String {
    match text.strip_prefix("sequence:") {
        Some(blocks) if name == "random_distribution" => {
            format!("sequence:{}", blocks.replace(':', ","))
        }
        _ => text,
    }
}

fn is_unsupported((option, value): &(String, String)) -> bool {
    LEADLINE_OPTIONS.contains(&option.as_str())
        || LEADLINE_VALUES.contains(&(option.as_str(), value.as_str()))
        || (is_interpreted_by_fio(value) && !NAMING_OPTIONS.contains(&option.as_str()))
}

fn find<'a>(options: &'a Options, name: &str) -> Option<&'a str> {
    let found = options.iter().find(|(option, _)| option == name);
    found.map(|(_, value)| value.as_str())
}

fn fio_options(
    mut options: Options,
    unsupported: &Options,
    resolved: Option<&ResolvedJob>,
) -> Options {
    options.retain(|(option, _)| option != "name");
    if find(&options, "ioengine").is_none() {
        // Jobs without I/O use fio's null engine.
        let engine = if find(unsupported, "ioengine").is_some() {
            "null"
        } else {
            "io_uring"
        };
        options.insert(0, ("ioengine".into(), engine.into()));
    }
    let paths = find(&options, "filename").or(find(&options, "directory"));
    if !paths.is_some_and(is_absolute)
        && let Some(resolved) = resolved
    {
        set_absolute_paths(&mut options, resolved);
    }
    options
}

fn is_absolute(paths: &str) -> bool {
    let files = Files::parse(paths);
    files.is_ok_and(|files| files.0.iter().all(|path| path.starts_with('/')))
}

/// Relative names refer to a target root here, but to the working directory in fio.
fn set_absolute_paths(options: &mut Options, job: &ResolvedJob) {
    let mut paths: Vec<&str> = Vec::new();
    for target in &job.targets {
        if target.kind != TargetKind::Null && !paths.contains(&target.path.as_str()) {
            paths.push(&target.path);
        }
    }
    let Some(first) = paths.first() else {
        return;
    };
    if find(options, "filename").is_some() {
        let escaped: Vec<String> = paths.iter().map(|path| path.replace(':', "\\:")).collect();
        set(options, "filename", escaped.join(":"));
        // fio prefixes every name with its directory, even absolute ones.
        options.retain(|(option, _)| option != "directory");
    } else if let Some((directory, _)) = first.rsplit_once('/') {
        set(options, "directory", directory.to_owned());
    }
}

fn set(options: &mut Options, name: &str, value: String) {
    match options.iter_mut().find(|(option, _)| option == name) {
        Some((_, old)) => *old = value,
        None => options.push((name.into(), value)),
    }
}

/// Moves options that all jobs share to `[global]`.
fn write_sections(text: &mut String, sections: Vec<(String, Options)>) {
    let is_shared = |option: &(String, String)| {
        sections.len() > 1 && sections.iter().all(|(_, options)| options.contains(option))
    };
    let shared: Options = match sections.first() {
        Some((_, first)) => first
            .iter()
            .filter(|option| is_shared(option))
            .cloned()
            .collect(),
        None => Options::new(),
    };
    let mut written = Vec::new();
    if !shared.is_empty() {
        written.push(section("global", &shared));
    }
    for (name, options) in &sections {
        let own: Options = options
            .iter()
            .filter(|option| !shared.contains(option))
            .cloned()
            .collect();
        written.push(section(name, &own));
    }
    text.push_str(&written.join("\n"));
}

fn section(name: &str, options: &Options) -> String {
    let mut text = format!("[{name}]\n");
    for (option, value) in options {
        let _ = writeln!(text, "{option}={value}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn section_names_are_valid_in_fio() {
        for (name, expected) in [
            ("a b", "a b"),
            ("a[1]", "a_1_"),
            ("a;b", "a_b"),
            ("global", "_global"),
            ("global2", "_global2"),
        ] {
            assert_eq!(section_name(name), expected);
        }
    }
}
