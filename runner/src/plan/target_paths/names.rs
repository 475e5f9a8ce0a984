//! Takes file names from `filename`, or generates them from `directory`, `name` and `nrfiles`.

use crate::plan::{host_view::HostView, issues::Issues, job_request::JobRequest};
use leadline_protocol::{job::range::MAX_FILES, text::is_deceptive};
use std::{collections::BTreeSet, path::Path};

pub(super) struct TargetName {
    pub path: String,
    /// The option that sets the name.
    pub option: &'static str,
    /// The only worker that uses the file; `None` if all workers use it.
    pub worker: Option<u32>,
}

pub(super) fn resolve(
    request: &JobRequest,
    host: &dyn HostView,
    issues: &mut Issues,
) -> Vec<TargetName> {
    let job = request.job;
    let directory =
        Path::new(&host.default_directory()).join(job.directory.as_deref().unwrap_or_default());
    let Some(files) = &job.filename else {
        return generate(request, &directory, issues);
    };
    check_list(request, &files.0, issues);
    // A list with too many names is rejected, but its first names are still checked.
    let files = files.0.iter().take(MAX_FILES as usize);
    files
        .map(|file| TargetName {
            path: join(&directory, file),
            option: "filename",
            worker: None,
        })
        .collect()
}

/// Number of targets for `ioengine=null`.
pub(super) fn null_target_count(request: &JobRequest, issues: &mut Issues) -> usize {
    match &request.job.filename {
        Some(files) => files.0.len(),
        None => nrfiles(request, issues) as usize,
    }
}

fn check_list(request: &JobRequest, files: &[String], issues: &mut Issues) {
    if request.job.directory.is_some() && files.iter().any(|file| file.starts_with('/')) {
        issues.invalid(
            "conflicting_options",
            "directory",
            "directory and an absolute filename are mutually exclusive.",
            "Remove directory, or use a relative filename.",
        );
    }
    let count = files.len() as u64;
    if let Some(nrfiles) = request.job.nrfiles
        && u64::from(nrfiles) != count
    {
        issues.invalid(
            "conflicting_options",
            "nrfiles",
            format!("nrfiles={nrfiles} conflicts with filename, which has {count} names."),
            "Remove nrfiles or filename.",
        );
    }
    if files.iter().any(|file| file.chars().any(is_deceptive)) {
        issues.invalid(
            "invalid_name",
            "filename",
            "filename contains control or invisible characters.",
            "Rename the file.",
        );
    }
    if files.iter().collect::<BTreeSet<_>>().len() < files.len() {
        issues.invalid(
            "duplicate_filename",
            "filename",
            "filename lists a file twice.",
            "Use each file once.",
        );
    }
    if count > MAX_FILES {
        issues.invalid(
            "too_many_files",
            "filename",
            format!("filename has {count} names."),
            format!("Use at most {MAX_FILES}."),
        );
    }
}

/// Generates names from `filename_format`, as in fio. Workers with the same file names share files.
fn generate(request: &JobRequest, directory: &Path, issues: &mut Issues) -> Vec<TargetName> {
    let stem = request.name.replace('/', "_");
    let nrfiles = nrfiles(request, issues);
    let option = match request.job.directory {
        Some(_) => "directory",
        None => "filename",
    };
    let format = request.job.filename_format();
    let name = |worker: u32, file: u32| {
        // The job's name may contain a keyword.
        let format = format.replace("$clientuid", "");
        let parts = format.split("$jobname").map(|part| {
            let part = part.replace("$jobnum", &worker.to_string());
            part.replace("$filenum", &file.to_string())
        });
        parts.collect::<Vec<_>>().join(&stem)
    };
    check_format(&format, nrfiles, issues);
    let is_shared = !format.contains("$jobnum");
    let workers = if is_shared { 1 } else { request.numjobs };
    let mut names = Vec::new();
    for worker in 0..workers {
        for file in 0..nrfiles {
            names.push(TargetName {
                path: join(directory, &name(worker, file)),
                option,
                worker: (!is_shared).then_some(worker),
            });
        }
    }
    names
}

fn check_format(format: &str, nrfiles: u32, issues: &mut Issues) {
    if format.chars().any(is_deceptive) {
        issues.invalid(
            "invalid_name",
            "filename_format",
            "filename_format contains control or invisible characters.",
            "Remove them.",
        );
    }
    if nrfiles > 1 && !format.contains("$filenum") {
        issues.invalid(
            "duplicate_filename",
            "filename_format",
            format!("filename_format={format} results in the same name for {nrfiles} files."),
            "Add $filenum, or use nrfiles=1.",
        );
    }
}

fn nrfiles(request: &JobRequest, issues: &mut Issues) -> u32 {
    let nrfiles = request.job.nrfiles();
    let total = u64::from(nrfiles) * u64::from(request.numjobs);
    if (1..=MAX_FILES).contains(&total) {
        return nrfiles;
    }
    issues.invalid(
        "too_many_files",
        "nrfiles",
        format!(
            "nrfiles={nrfiles} and numjobs={} result in {total} files.",
            request.numjobs
        ),
        format!("Use 1 to {MAX_FILES} files in total."),
    );
    1
}

fn join(directory: &Path, file: &str) -> String {
    directory.join(file).to_string_lossy().into_owned()
}
