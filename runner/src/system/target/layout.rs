//! Layout: creates and fills files before the measurement, as planned. If a file cannot be
//! completed, it is restored to its previous state, to avoid leaving the filesystem full.

mod blocks;
mod chunk_writer;

use crate::{
    plan::host_view::PathKind,
    system::{
        guard::{Guard, Purpose},
        host::{
            ownership::{self, Mark},
            resolved_path::ResolvedPath,
        },
        target::{
            Finish, Targets,
            cancellable::{ExitBlocker, HUNG_TIMEOUT, run_with_timeout},
            checks::{check_identity, identity_changed, open_failed, remove_failed},
            file_spec::{FileSpec, file_specs},
            open_beneath::remove_in_root,
            owned_file::OwnedFile,
            progress::Progress,
        },
    },
};
use leadline_protocol::{
    phase::{Phase, PhaseChange},
    plan::{job::ResolvedJob, target::TargetKind},
    problem::Problem,
};
use rustix::io::Errno;
use std::{path::Path, sync::atomic::AtomicBool};

/// Provides the data for the file at a path, starting at a byte offset (see `LayoutData::fill`).
type Fill<'a> = dyn FnMut(&str, u64, &mut [u8]) + 'a;

struct Layout<'a> {
    guard: Guard,
    fill: &'a mut Fill<'a>,
    progress: Progress<'a>,
    stop: &'a AtomicBool,
    /// Whether the kernel may still be writing to the file, because the storage did not respond
    /// when the run was stopped.
    has_hung: bool,
}

impl Targets {
    /// Creates and fills the files of all jobs that do not set `create_on_open`. `progress`
    /// receives `PhaseState::Progress` every 100 ms. When this returns, the written data is on the
    /// device and not in the page cache.
    ///
    /// # Errors
    /// A guard problem, `no_space`, `fallocate_unsupported`, `layout_failed`, or `open_failed`. A
    /// file whose layout failed or was stopped is restored to its old length, or removed if this
    /// run created it.
    pub fn lay_out(
        &mut self,
        jobs: &[ResolvedJob],
        fill: &mut Fill,
        progress: &mut dyn FnMut(PhaseChange),
        stop: &AtomicBool,
    ) -> Result<Finish, Problem> {
        let files = file_specs(jobs, |job, target| {
            let is_file = matches!(target.kind, TargetKind::File | TargetKind::Loop);
            is_file && !job.target.create_on_open
        });
        let total = files.iter().map(FileSpec::write_bytes).sum();
        let mut layout = Layout {
            guard: Guard::live(&self.permissions),
            fill,
            progress: Progress::new(Phase::Layout, total, progress),
            stop,
            has_hung: false,
        };
        for file in &files {
            if self.lay_out_file(&mut layout, file)? == Finish::Stopped {
                return Ok(Finish::Stopped);
            }
        }
        Ok(Finish::Done)
    }

    fn lay_out_file(&mut self, layout: &mut Layout, file: &FileSpec) -> Result<Finish, Problem> {
        let mut found = ResolvedPath::find(Path::new(file.path));
        if file.fresh && found.kind == PathKind::File {
            layout.remove_owned(&found)?;
            found = ResolvedPath::find(&found.path);
        }
        let old_length = found.stat.map(|stat| stat.length);
        let purpose = match old_length {
            None => Purpose::Write,
            _ if file.write_bytes() > 0 => Purpose::Write,
            _ => file.purpose,
        };
        layout.guard.admit(&found, purpose)?;
        let is_complete =
            file.write_bytes() == 0 && old_length.is_some_and(|length| length >= file.length);
        if purpose == Purpose::Read || is_complete || found.kind == PathKind::Device {
            return Ok(Finish::Done);
        }
        self.check_matches_plan(&layout.guard, file.path, &found)?;
        self.record_reused(&found);
        let fd = layout.open(&found, file).map_err(open_failed(file.path))?;
        let stat = check_identity(file.path, &fd, found.stat)?;
        // Another file may have replaced the new one.
        if old_length.is_none() && (stat.links != 1 || stat.length != 0) {
            return Err(identity_changed(file.path, "was replaced"));
        }
        self.written.insert(found.path.clone(), stat);
        let created = OwnedFile::new(&found.path, stat, file.unlink);
        let result = layout.create_blocks(&fd, file);
        let is_done = result == Ok(Finish::Done);
        match old_length {
            None if is_done => self.created.push(created),
            None if layout.has_hung => self.remove_without_waiting(created),
            None => {
                created.remove(&layout.guard)?;
            }
            Some(length) if !is_done => {
                let restored = layout.restore_length(&fd, length);
                restored.map_err(open_failed(file.path))?;
            }
            Some(_) => {}
        }
        if layout.has_hung {
            self.hung_layout = Some(file.path.into());
            return Ok(Finish::Stopped);
        }
        result.map_err(|error| layout_problem(file, error))
    }

    /// A stop does not wait for the removal, because removing a file waits for its pending I/O.
    fn remove_without_waiting(&self, file: OwnedFile) {
        let permissions = self.permissions.clone();
        let blocker = ExitBlocker::new();
        run_with_timeout(HUNG_TIMEOUT, "remove", move || {
            let _blocker = blocker;
            file.remove(&Guard::live(&permissions))
        });
    }
}

impl Layout<'_> {
    /// Removes the file for `file_state=fresh`. The plan rejects files without an ownership mark;
    /// the mark is checked again here.
    fn remove_owned(&self, found: &ResolvedPath) -> Result<(), Problem> {
        let path = &found.path;
        self.guard.admit(found, Purpose::Write)?;
        if !ownership::is_owned(Mark::Target, path) {
            let change = "was modified by another program";
            return Err(identity_changed(&path.to_string_lossy(), change));
        }
        remove_in_root(&self.guard, path).map_err(|error| Problem {
            code: "layout_failed".into(),
            field: Some("file_state".into()),
            remedy: "Remove it manually, or use file_state=overwrite.".into(),
            ..remove_failed(path)(error)
        })
    }
}

fn layout_problem(file: &FileSpec, error: Errno) -> Problem {
    let FileSpec { path, length, .. } = file;
    match error {
        Errno::NOSPC | Errno::DQUOT => Problem::environment(
            "no_space",
            "size",
            format!(
                "The filesystem of {path} does not have enough space for {length} bytes ({error})."
            ),
            "Use a smaller size, or free up space. A new file was removed; an existing file has its old length.",
        ),
        Errno::OPNOTSUPP => {
            let option = file.fallocate.as_str();
            Problem::environment(
                "fallocate_unsupported",
                "fallocate",
                format!("The filesystem of {path} does not support fallocate={option} ({error})."),
                "Use fallocate=written, truncate or none.",
            )
        }
        _ => Problem::environment(
            "layout_failed",
            "filename",
            format!("{path} cannot be laid out: {error}."),
            "Check the device and the filesystem (dmesg).",
        ),
    }
}
