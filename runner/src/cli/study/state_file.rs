//! The results of a study so far, in a file from which an interrupted study is resumed: a line with
//! the checksum of the other lines, a line with the plan, and one line before and one after each
//! run. The file is locked while the study runs, and is replaced as a whole whenever a line is
//! added, so it is always complete after a crash.

use crate::cli::{
    event_printer::{EventPrinter, SavedEvents},
    study::progress::{Progress, Step},
};
use leadline_protocol::{
    format::hex,
    problem::Problem,
    study::plan::{StepPlan, StudyPlan},
};
use rustix::{
    fs::{FlockOperation, flock},
    io::Errno,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::{
    borrow::Cow,
    fs::{self, File, OpenOptions, Permissions},
    io::{self, Read, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

const IN_USE: &str = "another process is using it";
const DAMAGED: &str = "it is damaged: its content does not match its checksum";
/// Prefix of the first line of every state file.
const START: &[u8] = b"{\"sha256\":\"";
/// Appended to the name of the file that replaces the state file.
const NEW_FILE_SUFFIX: &str = ".leadline-new";

pub(super) struct StateFile {
    /// Locked until it is closed.
    file: File,
    /// Symbolic links are resolved, because a rename would replace them.
    path: PathBuf,
    /// All lines except the checksum line.
    lines: String,
}

/// Contents of a state file.
pub(super) struct SavedProgress {
    pub plan: StudyPlan,
    pub steps: Vec<SavedStep>,
    /// Whether a run had started but not ended.
    pub was_interrupted: bool,
}

/// The first line of a state file.
#[derive(Deserialize, Serialize)]
struct Checksum {
    /// Checksum of the other lines, in hexadecimal digits.
    sha256: String,
}

#[derive(Deserialize, Serialize)]
struct Header {
    /// As submitted, to detect a file that belongs to another study.
    document: Value,
    plan: StudyPlan,
}

#[derive(Deserialize, Serialize)]
pub(super) struct SavedStep {
    pub plan: StepPlan,
    /// Exit codes and events.
    pub run: Option<(u8, SavedEvents)>,
    pub failed_run: Option<(u8, SavedEvents)>,
    /// Whether an earlier attempt was interrupted.
    pub interrupted: bool,
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Started,
    Ended(Box<SavedStep>),
}

impl StateFile {
    /// Opens or creates a file, and locks it. Returns its contents; `None` if the file is new.
    ///
    /// # Errors
    /// The file cannot be read, is damaged, is in use, or belongs to another study. An error leaves
    /// the file unchanged.
    pub(super) fn open(
        path: &Path,
        document: &Value,
    ) -> Result<(Self, Option<SavedProgress>), Problem> {
        let opened = open(path).map_err(|error| unusable_file(path, &error.to_string()))?;
        let (state, saved) = match opened {
            (_, Some((header, _))) if header.document != *document => {
                return Err(unusable_file(path, "it belongs to another study"));
            }
            (state, saved) => (state, saved.map(|(header, lines)| replay(header, lines))),
        };
        if let Some(at) = saved.as_ref().and_then(SavedProgress::first_unplanned_run) {
            let reason = format!("it is damaged: run {} does not match the study", at + 1);
            return Err(unusable_file(path, &reason));
        }
        match is_leftover(&state.new_path()) {
            Ok(_) => Ok((state, saved)),
            Err(error) => Err(name_in_use(path, &error)),
        }
    }

    pub(super) fn create(&mut self, document: &Value, plan: &StudyPlan) -> io::Result<()> {
        let header = Header {
            document: document.clone(),
            plan: plan.clone(),
        };
        self.append(&serde_json::to_string(&header)?)
    }

    pub(super) fn record_start(&mut self) -> io::Result<()> {
        self.append(&serde_json::to_string(&Line::Started)?)
    }

    pub(super) fn record_end(&mut self, step: &Step) -> io::Result<()> {
        let save = |(code, events): &(u8, EventPrinter)| (*code, events.save());
        let step = SavedStep {
            plan: step.plan.clone().into_owned(),
            run: step.run.as_ref().map(save),
            failed_run: step.failed_run.as_ref().map(save),
            interrupted: step.was_interrupted,
        };
        self.append(&serde_json::to_string(&Line::Ended(Box::new(step)))?)
    }

    /// The line is on disk when this function returns, so a run never starts twice without a
    /// record.
    fn append(&mut self, line: &str) -> io::Result<()> {
        self.lines.push_str(line);
        self.lines.push('\n');
        self.replace_file()
    }

    /// The file that replaces the state file.
    fn new_path(&self) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(NEW_FILE_SUFFIX);
        name.into()
    }

    fn replace_file(&mut self) -> io::Result<()> {
        let name = self.new_path();
        if is_leftover(&name)? {
            fs::remove_file(&name)?;
        }
        let mut file = File::create_new(&name)?;
        let replaced = write_locked(&mut file, &self.lines, self.file.metadata()?.permissions())
            .and_then(|()| fs::rename(&name, &self.path));
        if let Err(error) = replaced {
            // Frees the space on a full filesystem. If this fails, the next attempt removes the
            // file.
            let _ = fs::remove_file(&name);
            return Err(error);
        }
        self.file = file;
        // The rename is durable once the directory is synced.
        let directory = self.path.parent().unwrap_or(Path::new("/"));
        File::open(directory)?.sync_all()
    }
}

/// Writes a file and locks it before the rename, so no other process can lock it first.
fn write_locked(file: &mut File, lines: &str, permissions: Permissions) -> io::Result<()> {
    let checksum = Checksum {
        sha256: sha256(lines.as_bytes()),
    };
    file.set_permissions(permissions)?;
    flock(&*file, FlockOperation::NonBlockingLockExclusive)?;
    writeln!(file, "{}", serde_json::to_string(&checksum)?)?;
    file.write_all(lines.as_bytes())?;
    file.sync_all()
}

/// Whether an interrupted process left the file behind; false if there is no file.
///
/// # Errors
/// The file is not an unfinished copy of the state file, so it must not be overwritten.
fn is_leftover(path: &Path) -> io::Result<bool> {
    let found = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        found => found?,
    };
    let mut start = Vec::new();
    if found.is_file() && found.nlink() == 1 {
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(libc::O_NOFOLLOW);
        let file = options.open(path)?;
        file.take(START.len() as u64).read_to_end(&mut start)?;
        if START.starts_with(&start) {
            return Ok(true);
        }
    }
    let reason = format!("{} is not an unfinished copy of it", path.display());
    Err(io::Error::other(reason))
}

fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

type Content = Option<(Header, Vec<Line>)>;

fn open(path: &Path) -> io::Result<(StateFile, Content)> {
    let mut file = open_locked(path)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let lines = checked_lines(&bytes)?;
    let content = parse(lines)?;
    let state = StateFile {
        path: fs::canonicalize(path)?,
        lines: lines.into(),
        file,
    };
    Ok((state, content))
}

fn open_locked(path: &Path) -> io::Result<File> {
    loop {
        let mut options = OpenOptions::new();
        let file = options.read(true).append(true).create(true).open(path)?;
        let opened = file.metadata()?;
        if !opened.is_file() {
            return Err(io::Error::other("it is not a regular file"));
        }
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => return Err(io::Error::other(IN_USE)),
            locked => locked?,
        }
        // The process that held the lock may have replaced the file.
        let current = fs::metadata(path);
        let id = (opened.dev(), opened.ino());
        let Some(current) = current
            .ok()
            .filter(|found| (found.dev(), found.ino()) == id)
        else {
            continue;
        };
        // If the file is replaced, its other hard links keep the old content without the lock.
        return match current.nlink() {
            1 => Ok(file),
            links => Err(io::Error::other(format!("it has {links} hard links"))),
        };
    }
}

/// Returns the lines that the checksum covers.
fn checked_lines(bytes: &[u8]) -> io::Result<&str> {
    if bytes.is_empty() {
        return Ok("");
    }
    let text = str::from_utf8(bytes).ok();
    text.and_then(|text| text.split_once('\n'))
        .filter(|(first, lines)| {
            serde_json::from_str(first)
                .is_ok_and(|found: Checksum| found.sha256 == sha256(lines.as_bytes()))
        })
        .map(|(_, lines)| lines)
        .ok_or_else(|| io::Error::other(DAMAGED))
}

fn parse(lines: &str) -> io::Result<Content> {
    let damaged = |error: serde_json::Error| io::Error::other(format!("it is damaged: {error}"));
    let mut lines = lines.lines();
    let Some(first) = lines.next() else {
        return Ok(None);
    };
    let header = serde_json::from_str(first).map_err(damaged)?;
    let lines = lines.map(|line| serde_json::from_str(line).map_err(damaged));
    Ok(Some((header, lines.collect::<Result<_, _>>()?)))
}

fn replay(header: Header, lines: Vec<Line>) -> SavedProgress {
    let mut saved = SavedProgress {
        plan: header.plan,
        steps: Vec::new(),
        was_interrupted: false,
    };
    for line in lines {
        match line {
            Line::Started => saved.was_interrupted = true,
            Line::Ended(step) => {
                saved.steps.push(*step);
                saved.was_interrupted = false;
            }
        }
    }
    saved
}

impl SavedProgress {
    /// Index of the first saved run that does not match the plan. Procedures add runs after the
    /// planned runs.
    fn first_unplanned_run(&self) -> Option<usize> {
        let id = |step: &StepPlan| (step.step, step.repeat);
        let expected = |at: usize| match self.plan.steps.get(at) {
            Some(planned) => Some(id(planned)),
            None if self.plan.procedure.is_some() => Some((at as u32 + 1, 1)),
            None => None,
        };
        let mut steps = self.steps.iter().enumerate();
        steps
            .find(|(at, step)| expected(*at) != Some(id(&step.plan)))
            .map(|(at, _)| at)
    }
}

/// The temporary name needed to replace the state file is already taken.
fn name_in_use(path: &Path, error: &io::Error) -> Problem {
    let detail = format!("{} cannot be used: {error}.", path.display());
    let remedy = "Move that file, or use another file with --state.";
    Problem::invalid("state_file", "state", detail, remedy)
}

fn unusable_file(path: &Path, reason: &str) -> Problem {
    let detail = format!("{} cannot be used: {reason}.", path.display());
    let remedy = if reason == IN_USE {
        "Wait until that process exits, or use another file with --state."
    } else {
        "Use another file with --state, or remove this one to start again."
    };
    Problem::invalid("state_file", "state", detail, remedy)
}

impl SavedStep {
    /// Adds the step to the progress as if it had just run.
    pub(super) fn restore(
        self,
        progress: &mut Progress,
        restored: impl Fn(SavedEvents) -> EventPrinter,
    ) {
        // The document that was submitted for the step.
        let document = json!({"jobs": &self.plan.jobs});
        let restore = |(code, events)| {
            let mut events = restored(events);
            events.set_requested(&document);
            (code, events)
        };
        progress.steps.push(Step {
            plan: Cow::Owned(self.plan),
            run: self.run.map(&restore),
            failed_run: self.failed_run.map(&restore),
            was_interrupted: self.interrupted,
        });
    }
}
