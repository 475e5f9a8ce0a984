//! Job files that are part of the text and named by a command.

use crate::dialect::{
    host_facts::HostFacts,
    job_file,
    notes::{NoteText, Notes},
    section::Section,
    shell::HereDocument,
    source::Source,
};
use std::collections::BTreeMap;

/// The inputs needed to read a job file that is part of the text.
pub(crate) struct Input<'a> {
    pub source: &'a Source<'a>,
    pub variables: &'a BTreeMap<String, String>,
    pub host: &'a HostFacts<'a>,
}

/// The sections of the job files, in order. fio reads them after the command line, whose global
/// options they inherit (init.c, `parse_options`).
///
/// `selected`: names of the sections that `--section` selects.
pub(crate) fn sections(
    files: &[&HereDocument],
    selected: &[String],
    input: &Input<'_>,
    notes: &mut Notes<'_>,
) -> Vec<Section> {
    let mut sections = Vec::new();
    for (index, document) in files.iter().enumerate() {
        let mut file = job_file_sections(document, input, notes);
        // fio discards the selection after the first file (init.c, `__parse_jobs_ini`).
        if index == 0 {
            file.retain(|section| is_selected(section, selected));
        } else {
            start_after_earlier_files(&mut file);
        }
        sections.append(&mut file);
    }
    sections
}

/// Whether `--section` selects a section of a job file (init.c, `skip_this_section`).
pub(crate) fn is_selected(section: &Section, selected: &[String]) -> bool {
    selected.is_empty() || section.is_global || selected.contains(&section.name)
}

/// Additional job files do not inherit global options, and run after the previous job files
/// (init.c, `parse_options` and `__parse_jobs_ini`).
fn start_after_earlier_files(file: &mut [Section]) {
    if let Some(first) = file.first_mut() {
        first.starts_file = true;
    }
    if let Some(job) = file.iter_mut().find(|section| !section.is_global) {
        job.waits_for_files = true;
    }
}

/// The sections of a job file in a here document.
fn job_file_sections(
    document: &HereDocument,
    input: &Input<'_>,
    notes: &mut Notes<'_>,
) -> Vec<Section> {
    let body = &input.source.text[document.body.clone()];
    let is_changed = |(at, c): &(usize, char)| match c {
        '`' | '\\' => true,
        '$' => !body[at + 1..].starts_with('{'),
        _ => false,
    };
    // `${NAME}` means the same in the shell and in fio.
    let changed = body.char_indices().filter(|_| !document.is_quoted);
    if let Some((at, c)) = changed.into_iter().find(is_changed) {
        let start = document.body.start + at;
        let sentence =
            format!("The shell interprets `{c}` in this here document before fio reads it.");
        let remedy = "Quote the delimiter, as in <<'EOF', or insert the value.";
        let text = NoteText::new("here_document_expansion", sentence, remedy);
        notes.error(&(start..start + 1), None, text);
    }
    let source = input.source.part(document.body.clone());
    job_file::sections(&source, input.variables, input.host, notes)
}
