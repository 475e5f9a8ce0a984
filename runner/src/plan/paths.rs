//! Which files or devices a job works on, and whether it may: names are completed, everything that stands in the way
//! of touching them is refused. Nothing is ever created under /dev.

use crate::plan::asked::Asked;
use crate::plan::defaults::said;
use crate::plan::host_view::{DirectAlignment, HostView, PathFacts, PathKind};
use crate::plan::notes::Notes;
use crate::plan::state;
use leadline_protocol::plan::resolved::TargetKind;
use leadline_protocol::problem::Problem;
use std::path::Path;

/// The most files of one job over all clones: each is opened and stays open, below the kernel's usual limit of
/// descriptors (1,048,576 hard, 1,024 soft) and above what a directory benchmark needs.
const MAX_FILES: u64 = 4096;

/// What direct I/O on a loop device needs whose file has no needs of its own: its smallest sector.
const LOOP_ALIGNMENT: DirectAlignment = DirectAlignment {
    memory: 512,
    offset: 512,
};

/// A path that a job works on.
#[derive(Debug)]
pub(crate) struct Place {
    /// What it is.
    pub kind: TargetKind,
    /// What is there.
    pub facts: PathFacts,
    /// The one clone that uses it; `None` when all do.
    pub clone: Option<u32>,
}

/// A path as named: by which option, and for which clone.
struct Named {
    path: String,
    option: &'static str,
    clone: Option<u32>,
}

/// The places of a job; empty when there is none that could be worked on.
pub(crate) fn find(asked: &Asked, host: &dyn HostView, notes: &mut Notes) -> Vec<Place> {
    let named = if asked.is_null() {
        return null_places(asked, notes);
    } else {
        names(asked, host, notes)
    };
    let mut places = Vec::new();
    for Named {
        path,
        option,
        clone,
    } in named
    {
        let facts = state::meet(asked.job, host.path(&path), notes);
        let Some(kind) = kind(&path, &facts, option, notes) else {
            break;
        };
        let Some((kind, facts)) = through_loop(asked, kind, facts, host, notes) else {
            break;
        };
        let admitted = admit(asked, kind, &facts, option, notes);
        // Of a file that is refused not even the length is told; what a device is stands in the inventory anyway.
        if !admitted && kind != TargetKind::Device {
            return Vec::new();
        }
        places.push(Place { kind, facts, clone });
    }
    if places.windows(2).any(|pair| pair[0].kind != pair[1].kind) {
        let sentence =
            "Files and devices stand together in one job, whose number would be about neither.";
        notes.invalid(
            "mixed_targets",
            "filename",
            sentence,
            "Put the files and the devices into jobs of their own.",
        );
    }
    places
}

fn names(asked: &Asked, host: &dyn HostView, notes: &mut Notes) -> Vec<Named> {
    let directory = Path::new(&host.default_directory())
        .join(asked.job.directory.as_deref().unwrap_or_default());
    match &asked.job.filename {
        Some(files) => {
            check_list(asked, &files.0, notes);
            files
                .0
                .iter()
                .map(|file| Named {
                    path: text(&directory.join(file)),
                    option: "filename",
                    clone: None,
                })
                .collect()
        }
        None => generated(asked, &directory, notes),
    }
}

fn check_list(asked: &Asked, files: &[String], notes: &mut Notes) {
    if let Some(directory) = asked
        .job
        .directory
        .as_ref()
        .filter(|_| files.iter().any(|file| file.starts_with('/')))
    {
        let sentence =
            format!("filename says where the file is, and directory={directory} says it again.");
        notes.invalid(
            "place_said_twice",
            "directory",
            sentence,
            "Leave directory out, or name the files relative to it.",
        );
    }
    let count = files.len() as u64;
    if asked
        .job
        .nrfiles
        .is_some_and(|nrfiles| u64::from(nrfiles) != count)
    {
        let sentence = format!("nrfiles counts generated files, but filename names {count}.");
        notes.invalid(
            "place_said_twice",
            "nrfiles",
            sentence,
            "Leave nrfiles out, or leave filename out.",
        );
    }
    if (1..files.len()).any(|later| files[..later].contains(&files[later])) {
        notes.invalid(
            "file_named_twice",
            "filename",
            "A file is named twice in the list.",
            "Name each file once.",
        );
    }
    if count > MAX_FILES {
        notes.invalid(
            "too_many_files",
            "filename",
            format!("{count} files are named."),
            format!("Use at most {MAX_FILES}."),
        );
    }
}

/// fio's `job.clone.file`, for each clone its own.
fn generated(asked: &Asked, directory: &Path, notes: &mut Notes) -> Vec<Named> {
    let nrfiles = nrfiles(asked, notes);
    let stem = asked.name.replace('/', "_");
    let name = |clone: u32, file: u32| Named {
        path: text(&directory.join(format!("{stem}.{clone}.{file}"))),
        option: if asked.job.directory.is_some() {
            "directory"
        } else {
            "filename"
        },
        clone: Some(clone),
    };
    (0..asked.numjobs)
        .flat_map(|clone| (0..nrfiles).map(move |file| (clone, file)))
        .map(|(clone, file)| name(clone, file))
        .collect()
}

fn nrfiles(asked: &Asked, notes: &mut Notes) -> u32 {
    let nrfiles = said!(asked.job, nrfiles);
    let total = u64::from(nrfiles) * u64::from(asked.numjobs);
    if nrfiles == 0 || total > MAX_FILES {
        let sentence = format!(
            "nrfiles={nrfiles} for {} clones makes {total} files.",
            asked.numjobs
        );
        notes.invalid(
            "too_many_files",
            "nrfiles",
            sentence,
            format!("Use 1 to {MAX_FILES} files over all clones."),
        );
        return 1;
    }
    nrfiles
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// What a path is as a target; `None`, with the problem, when it cannot be one.
fn kind(path: &str, facts: &PathFacts, option: &str, notes: &mut Notes) -> Option<TargetKind> {
    let under_dev =
        facts.canonical.starts_with("/dev/") || facts.filesystem.as_deref() == Some("devtmpfs");
    let (code, sentence, remedy) = match facts.kind {
        PathKind::File if !under_dev => return Some(TargetKind::File),
        PathKind::Missing if !under_dev => return Some(TargetKind::File),
        PathKind::Device => return Some(TargetKind::Device),
        PathKind::Missing | PathKind::MissingDirectory
            if under_dev || path.starts_with("/dev/") =>
        {
            (
                "missing_device",
                format!("There is no device {path}, and none is ever created."),
                "`leadline-runner devices` lists those there are.".into(),
            )
        }
        PathKind::MissingDirectory => {
            let directory = Path::new(path).parent().map(text).unwrap_or_default();
            (
                "missing_directory",
                format!("The directory of {path} does not exist."),
                format!("Create it: mkdir -p {directory}"),
            )
        }
        PathKind::Directory => (
            "is_a_directory",
            format!("{path} is a directory."),
            format!(
                "Name a file in it, or write directory={path} and leave filename out for generated files."
            ),
        ),
        PathKind::File | PathKind::Missing | PathKind::Other => (
            "not_a_target",
            format!("{path} is neither a regular file nor a block device."),
            "Name a file, or a device as `leadline-runner devices` lists it.".into(),
        ),
    };
    notes.invalid(code, option, sentence, remedy);
    None
}

/// A target as it is met through a loop device of the run's own, where the job asks for one; `None`, with the problem, when
/// it cannot be had.
fn through_loop(
    asked: &Asked,
    kind: TargetKind,
    facts: PathFacts,
    host: &dyn HostView,
    notes: &mut Notes,
) -> Option<(TargetKind, PathFacts)> {
    if !said!(asked.job, loop_device).0 {
        return Some((kind, facts));
    }
    if kind == TargetKind::Device {
        let sentence = format!("{} is a device already.", facts.canonical);
        notes.invalid(
            "loop_needs_file",
            "loop_device",
            sentence,
            "Leave loop_device out, or name a file.",
        );
        return None;
    }
    if let Some((reason, remedy)) = host.loop_unavailable() {
        notes.environment("loop_unavailable", "loop_device", reason, remedy);
    }
    // The device takes direct I/O whatever the filesystem of its file does.
    let direct_alignment = facts.direct_alignment.or(Ok(LOOP_ALIGNMENT));
    Some((
        TargetKind::Loop,
        PathFacts {
            direct_alignment,
            ..facts
        },
    ))
}

/// Whether the guard lets the job do what it wants to do there; whether that is possible is checked too.
fn admit(
    asked: &Asked,
    kind: TargetKind,
    facts: &PathFacts,
    option: &str,
    notes: &mut Notes,
) -> bool {
    check_possible(asked, kind, facts, notes);
    let rw = asked.rw.kind;
    let refused = facts
        .reading_refused
        .as_ref()
        .filter(|_| rw.reads())
        .or(facts.writing_refused.as_ref().filter(|_| rw.destroys()));
    if let Some(problem) = refused {
        notes.refuse(problem.clone(), option);
        false
    } else if kind != TargetKind::Device && !facts.under_target_root {
        let sentence = format!("{} lies outside the target roots.", facts.canonical);
        let remedy =
            "Name a file under a target root, or start with --target-root for its directory.";
        notes.refuse(
            Problem::guard("outside_roots", option, sentence, remedy),
            option,
        );
        false
    } else {
        true
    }
}

/// Whether the target can do at all what is asked of it.
fn check_possible(asked: &Asked, kind: TargetKind, facts: &PathFacts, notes: &mut Notes) {
    if let (true, Err(reason)) = (asked.direct, &facts.direct_alignment) {
        let remedy =
            "Write direct=0, or use a file on a filesystem with O_DIRECT, such as ext4 or xfs.";
        notes.environment(
            "direct_not_possible",
            "direct",
            format!(
                "{} cannot be opened with O_DIRECT: {}.",
                facts.canonical,
                reason.trim_end_matches('.')
            ),
            remedy,
        );
    }
    if asked.rw.kind.trims() && kind == TargetKind::File {
        let sentence = format!(
            "{} is a file, and only block devices are trimmed.",
            facts.canonical
        );
        notes.invalid(
            "trim_needs_device",
            "rw",
            sentence,
            "Name a block device, or use a pattern that reads or writes.",
        );
    }
}

/// `ioengine=null` touches nothing: its targets are only lengths.
fn null_places(asked: &Asked, notes: &mut Notes) -> Vec<Place> {
    let place = |_| Place {
        kind: TargetKind::Null,
        facts: PathFacts {
            kind: PathKind::Missing,
            canonical: "null".into(),
            length: 0,
            filesystem: None,
            device: None,
            identity: None,
            direct_alignment: Ok(DirectAlignment {
                memory: 1,
                offset: 1,
            }),
            free_bytes: 0,
            fully_written: None,
            is_ours: false,
            under_target_root: true,
            reading_refused: None,
            writing_refused: None,
        },
        clone: None,
    };
    let files = asked
        .job
        .filename
        .as_ref()
        .map_or_else(|| nrfiles(asked, notes) as usize, |files| files.0.len());
    (0..files).map(place).collect()
}
