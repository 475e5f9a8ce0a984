//! Creates jobs from sections: each job is a copy of the global options above it, plus its own
//! options (init.c, `get_new_job`).

use crate::dialect::{
    notes::{NoteText, Notes, quoted},
    options::Options,
    section::Section,
    source::Span,
    value::Value,
};
use leadline_protocol::job::fio::find_option;

/// A job as fio interprets it.
#[derive(Clone, Debug)]
pub(crate) struct FioJob {
    pub name: String,
    /// Section header or `--name` option of the job.
    pub span: Span,
    pub options: Options,
}

pub(crate) fn jobs(sections: &[Section], notes: &mut Notes<'_>) -> Vec<FioJob> {
    let mut global = Options::default();
    let mut jobs = Vec::new();
    for section in sections {
        if notes.is_full() {
            break;
        }
        if section.starts_file {
            global = Options::default();
        }
        if section.is_global {
            global.apply(section, notes);
            ignore_name(&mut global, notes);
            continue;
        }
        let mut options = global.clone();
        if section.waits_for_files
            && let Some(stonewall) = find_option("stonewall")
        {
            options.store(stonewall, Value::Flag(true), section.span.clone());
        }
        options.apply(section, notes);
        let name = options.text("name").unwrap_or(&section.name).to_owned();
        if let Some(entry) = options.get("name").filter(|_| name != section.name) {
            let sentence = format!(
                "The files of this job are named after it; fio names them after the section {}.",
                quoted(&section.name)
            );
            notes.info(
                &entry.span,
                Some("name"),
                NoteText::new("file_names", sentence, ""),
            );
        }
        jobs.push(FioJob {
            name,
            span: section.span.clone(),
            options,
        });
    }
    jobs
}

/// In a global section, fio ignores `name`: jobs are named after their sections.
fn ignore_name(global: &mut Options, notes: &mut Notes<'_>) {
    if let Some(entry) = global.remove("name") {
        let sentence =
            "name has no effect in a global section: jobs are named after their sections.";
        notes.info(
            &entry.span,
            Some("name"),
            NoteText::new("no_effect", sentence, ""),
        );
    }
}
