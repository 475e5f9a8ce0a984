//! Creates jobs from sections: each job is a copy of the global options above it, plus its own
//! options (init.c, `get_new_job`).

use crate::dialect::{
    notes::Notes, options::Options, section::Section, source::Span, value::Value,
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
        jobs.push(FioJob {
            name,
            span: section.span.clone(),
            options,
        });
    }
    jobs
}
