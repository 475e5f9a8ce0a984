//! fio's arguments: option names, which may be abbreviated, and job files.

use crate::dialect::command_options::{PROGRAM_OPTIONS, ProgramOption};
use leadline_protocol::job::fio::{FIO_OPTIONS, FioOption, find_option};

#[derive(Clone, Copy)]
pub(crate) enum Found {
    Job(&'static FioOption),
    Program(&'static ProgramOption),
}

/// The options that have this name or, if there are none, whose names start with it.
pub(crate) fn candidates(name: &str) -> Vec<(&'static str, Found)> {
    if let Some(option) = find_option(name) {
        return vec![(option.name, Found::Job(option))];
    }
    let job_names = FIO_OPTIONS.iter().flat_map(|option| {
        let names = std::iter::once(option.name).chain(option.aliases.iter().copied());
        names.map(move |name| (name, Found::Job(option)))
    });
    let programs = PROGRAM_OPTIONS.iter();
    let programs = programs.map(|option| (option.name, Found::Program(option)));
    if let Some(exact) = programs.clone().find(|(full, _)| *full == name) {
        return vec![exact];
    }
    let all = job_names.chain(programs);
    all.filter(|(full, _)| full.starts_with(name)).collect()
}

/// The full name of the fio command-line option that this argument sets, without its value. `None`
/// for job options, unknown options and ambiguous abbreviations.
pub(crate) fn program_option(argument: &str) -> Option<&'static str> {
    let name = argument.strip_prefix("--").or(argument.strip_prefix('-'))?;
    let name = name.split('=').next().unwrap_or(name);
    match candidates(name)[..] {
        [(full, Found::Program(_))] if !name.is_empty() => Some(full),
        _ => None,
    }
}

/// Indexes of fio's arguments that are job files; `-` is standard input.
pub(crate) fn job_file_arguments(arguments: &[String]) -> Vec<usize> {
    let mut files = Vec::new();
    let mut is_value = false;
    let mut has_stopped = false;
    for (index, argument) in arguments.iter().enumerate() {
        if std::mem::take(&mut is_value) {
            continue;
        }
        let name = argument.trim_start_matches('-');
        match argument.len() - name.len() {
            _ if has_stopped || argument == "-" => files.push(index),
            0 => files.push(index),
            2 if name.is_empty() => has_stopped = true,
            // `--bs=4k` matches no name, so the next argument is not its value.
            _ => {
                is_value = match candidates(name)[..] {
                    [(_, Found::Job(option))] => option.requires_value(),
                    [(_, Found::Program(option))] => option.requires_value,
                    _ => false,
                };
            }
        }
    }
    files
}
