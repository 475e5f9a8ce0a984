//! Checks that a run writes nothing outside its jobs' regions. Generated jobs run on real files,
//! and each byte is compared with its value before the run. The test computes the regions from the
//! job, independently of the runner.

#[path = "../scratch/mod.rs"]
mod scratch;

mod generated;

use generated::Random;
use rustix::fs::{FallocateFlags, SeekFrom, fallocate, seek};
use scratch::program::run;
use serde_json::{Value, json};
use std::{
    fs::{self, File},
    ops::Range,
    os::unix::fs::{FileExt, MetadataExt},
    path::Path,
    process::Output,
};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const CASES: u64 = 240;
const THREADS: u64 = 4;
/// Bytes by which extent tree blocks and extended attributes may change a file's allocated size.
const METADATA_BYTES: u64 = 64 * KIB;
/// Maximum number of failed cases that are reduced to a minimal job. All other failures are only
/// counted.
const MAX_MINIMIZED: usize = 12;

// Files

#[derive(Clone, Copy, Debug, PartialEq)]
enum Content {
    /// The file does not exist.
    Absent,
    /// Every byte is written.
    Full,
    /// Holes with islands of data.
    Sparse,
    /// Unwritten extents with islands of data.
    Allocated,
}

#[derive(Clone, Copy, Debug)]
struct Original {
    content: Content,
    length: u64,
    seed: u64,
}

impl Original {
    fn existed(self) -> bool {
        self.content != Content::Absent
    }

    fn create(self, path: &Path) {
        if !self.existed() {
            return;
        }
        let file = File::create(path).unwrap();
        let data = Random::new(self.seed).bytes(self.length);
        match self.content {
            Content::Full => file.write_all_at(&data, 0).unwrap(),
            Content::Allocated => {
                fallocate(&file, FallocateFlags::empty(), 0, self.length).unwrap();
                self.write_islands(&file, &data);
            }
            _ => self.write_islands(&file, &data),
        }
        file.set_len(self.length).unwrap();
        file.sync_all().unwrap();
    }

    fn write_islands(self, file: &File, data: &[u8]) {
        let mut random = Random::new(self.seed + 1);
        for _ in 0..6 {
            let start = random.below(self.length.div_ceil(4 * KIB)) * 4 * KIB;
            let end = (start + random.pick(&[4 * KIB, 20 * KIB, 300 * KIB])).min(self.length);
            file.write_all_at(&data[start as usize..end as usize], start)
                .unwrap();
        }
    }
}

/// State of a file before or after a run.
#[derive(Debug, PartialEq)]
struct Snapshot {
    exists: bool,
    content: Vec<u8>,
    allocated_bytes: u64,
    /// Nanoseconds since the epoch.
    modified_ns: i128,
}

impl Snapshot {
    fn take(path: &Path) -> Self {
        let exists = path.exists();
        let content = if exists {
            fs::read(path).unwrap()
        } else {
            Vec::new()
        };
        let stat = exists.then(|| fs::metadata(path).unwrap());
        Self {
            exists,
            content,
            allocated_bytes: stat.as_ref().map_or(0, |stat| stat.blocks() * 512),
            modified_ns: stat.map_or(0, |stat| {
                i128::from(stat.mtime()) * 1_000_000_000 + i128::from(stat.mtime_nsec())
            }),
        }
    }

    fn length(&self) -> u64 {
        self.content.len() as u64
    }
}

// Regions of a job, according to the documentation

/// Value of an option in bytes, which may be a percentage of the file.
fn extent(job: &Value, option: &str, length: u64) -> Option<u64> {
    match &job[option] {
        Value::Null => None,
        Value::String(percent) => {
            let percent: u64 = percent.trim_end_matches('%').parse().unwrap();
            Some(length * percent / 100)
        }
        bytes => bytes.as_u64(),
    }
}

fn appends(job: &Value) -> bool {
    job["file_append"] == 1 || job["file_state"] == "append"
}

/// Whether the job issues writes.
fn writes(job: &Value) -> bool {
    let rw = job["rw"].as_str().unwrap();
    !rw.starts_with("read") && !rw.starts_with("randread")
}

/// Whether layout may overwrite bytes of an existing file that Leadline did not create.
fn overwrites(job: &Value) -> bool {
    job["overwrite"] == 1 || job["file_state"] == "overwrite"
}

/// Smallest block size of a job, regardless of the option that sets it.
fn smallest_block(job: &Value) -> u64 {
    let options = ["bs", "bsrange", "bssplit"];
    let given = options.iter().map(|name| &job[name]);
    match given.clone().find(|value| !value.is_null()) {
        Some(Value::String(text)) => {
            let end = text.find('k').unwrap();
            text[..end].parse::<u64>().unwrap() * KIB
        }
        Some(bytes) => bytes.as_u64().unwrap(),
        None => 4 * KIB,
    }
}

/// Start of the first region. As in fio, a percentage is rounded up to a multiple of the block
/// size.
fn offset(job: &Value, length: u64) -> u64 {
    let offset = extent(job, "offset", length).unwrap_or(0);
    if job["offset"].is_string() {
        offset.next_multiple_of(smallest_block(job))
    } else {
        offset
    }
}

/// One region of whole blocks per worker. For an appending job, relative to the end of the file.
fn regions(job: &Value, length: u64) -> Vec<Range<u64>> {
    let increment = extent(job, "offset_increment", length).unwrap_or(0);
    let workers = job["numjobs"].as_u64().unwrap_or(1);
    let block = smallest_block(job);
    let region = |worker| {
        let start = offset(job, length) + worker * increment;
        let size = extent(job, "size", length).unwrap_or(length.saturating_sub(start));
        start..start + size / block * block
    };
    (0..workers).map(region).collect()
}

fn end(job: &Value, length: u64) -> u64 {
    let ends = regions(job, length).into_iter().map(|region| region.end);
    ends.max().unwrap_or(0)
}

/// Maximum number of bytes that an appending job may add.
fn total(job: &Value, length: u64) -> u64 {
    let regions = regions(job, length).into_iter();
    regions.map(|region| region.end).sum()
}

/// Changes that a run's jobs may make to their file.
struct Permitted {
    regions: Vec<Range<u64>>,
    /// The file must not be longer than this.
    max_length: u64,
    /// Whether no job may change the file.
    only_reads: bool,
    /// The exact length after a successful run, if it is documented.
    length: Option<u64>,
}

impl Permitted {
    fn new(jobs: &[Value], original: Original) -> Self {
        let length = original.length;
        let existed = original.existed();
        let extends = |job: &&Value| writes(job) || job["file_state"] == "written" || !existed;
        let (appending, others): (Vec<&Value>, Vec<&Value>) = jobs.iter().partition(|j| appends(j));
        let ends = others.iter().filter(|job| extends(job));
        let old_end = ends.map(|job| end(job, length)).fold(length, u64::max);
        let max_length = old_end + appending.iter().map(|job| total(job, length)).sum::<u64>();
        let written = others.iter().filter(|job| writes(job) || overwrites(job));
        Self {
            regions: written.flat_map(|job| regions(job, length)).collect(),
            max_length,
            only_reads: existed && !jobs.iter().any(|job| extends(&job) || overwrites(job)),
            length: documented_length(jobs, original),
        }
    }

    fn contains(&self, offset: u64) -> bool {
        self.regions.iter().any(|region| region.contains(&offset))
    }

    /// Bytes that may be allocated: the regions, rounded to whole blocks, and any extension of the
    /// file.
    fn allocatable(&self, length: u64) -> u64 {
        let block = |bytes: u64| bytes / (4 * KIB) * 4 * KIB;
        let rounded = |region: &Range<u64>| block(region.start)..block(region.end + 4 * KIB - 1);
        let mut ranges: Vec<_> = self.regions.iter().map(rounded).collect();
        ranges.push(block(length)..block(self.max_length.max(length) + 4 * KIB - 1));
        ranges.sort_by_key(|range| range.start);
        let mut end = 0;
        let mut sum = 0;
        for range in ranges {
            sum += range.end.saturating_sub(range.start.max(end));
            end = end.max(range.end);
        }
        sum
    }
}

/// Layout extends the file of a writing job to the end of its last region. For appends, and with
/// `fallocate=none` and `keep`, the writes extend the file instead.
fn documented_length(jobs: &[Value], original: Original) -> Option<u64> {
    let [job] = jobs else { return None };
    let on_demand = ["none", "keep"].contains(&job["fallocate"].as_str().unwrap_or_default());
    let is_known = writes(job) && !appends(job) && !on_demand && job["file_state"] != "fresh";
    let is_exact = job["size"].is_u64() && is_known;
    is_exact.then(|| end(job, original.length).max(original.length))
}

// Runs

#[derive(Clone, Debug)]
struct Case {
    original: Original,
    jobs: Vec<Value>,
}

/// A run of a case, with snapshots of its file before and after.
struct Outcome {
    output: Output,
    before: Snapshot,
    after: Snapshot,
    /// Names of the files in the directory.
    names: Vec<String>,
}

impl Case {
    fn run(&self) -> Outcome {
        let directory = scratch::directory();
        let path = directory.path().join("target");
        fs::write(directory.path().join("neighbor"), b"unrelated").unwrap();
        self.original.create(&path);
        let before = Snapshot::take(&path);
        let output = run(&self.document(&path), &["--json"]);
        let neighbor = fs::read(directory.path().join("neighbor")).unwrap();
        assert_eq!(neighbor, b"unrelated", "{self:?}");
        Outcome {
            output,
            before,
            after: Snapshot::take(&path),
            names: scratch::document::files(directory.path()),
        }
    }

    fn document(&self, path: &Path) -> Value {
        let mut jobs = self.jobs.clone();
        jobs.iter_mut()
            .for_each(|job| job["filename"] = json!(path));
        json!({ "jobs": jobs })
    }

    /// Runs the case, asserts that it does not violate the rules, and returns the outcome.
    fn check(&self) -> Outcome {
        let outcome = self.run();
        if let Some(violation) = outcome.violation(self) {
            panic!("{violation}\n{self:?}\n{}", outcome.stderr());
        }
        outcome
    }

    /// Like `check`, for a case that the runner must accept.
    fn check_success(&self) -> Outcome {
        let outcome = self.check();
        assert_eq!(outcome.code(), Some(0), "{self:?}: {}", outcome.stderr());
        outcome
    }

    /// Removes jobs and options as long as the run continues to violate the rules.
    fn minimized(mut self) -> Self {
        while let Some(smaller) = self.smaller().into_iter().find(Self::fails) {
            self = smaller;
        }
        self
    }

    fn fails(&self) -> bool {
        self.run().violation(self).is_some()
    }

    fn smaller(&self) -> Vec<Self> {
        let jobs = 0..self.jobs.len();
        let fewer_jobs = jobs.clone().filter(|_| self.jobs.len() > 1).map(|index| {
            let mut case = self.clone();
            case.jobs.remove(index);
            case
        });
        let options = jobs.flat_map(|index| {
            let names: Vec<&String> = self.jobs[index].as_object().unwrap().keys().collect();
            names.into_iter().map(move |name| (index, name))
        });
        let fewer_options = options
            .filter(|(_, name)| !["rw", "direct", "size"].contains(&name.as_str()))
            .map(|(index, name)| {
                let mut case = self.clone();
                case.jobs[index].as_object_mut().unwrap().remove(name);
                case
            });
        fewer_jobs.chain(fewer_options).collect()
    }
}

impl Outcome {
    fn code(&self) -> Option<i32> {
        self.output.status.code()
    }

    fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.output.stderr).into()
    }

    fn was_rejected(&self) -> bool {
        [Some(2), Some(3), Some(5)].contains(&self.code())
    }

    fn changed(&self) -> bool {
        self.before.content != self.after.content
    }

    /// Returns the first violated rule, if any.
    fn violation(&self, case: &Case) -> Option<String> {
        let permitted = Permitted::new(&case.jobs, case.original);
        let violation = self
            .foreign_name()
            .or_else(|| self.forbidden_change(&permitted))
            .or_else(|| self.changed_byte(&permitted))
            .or_else(|| self.wrong_length(&permitted))
            .or_else(|| self.wrong_allocation(&permitted))
            .or_else(|| self.unexpected_end())?;
        Some(format!(
            "{violation} ({:?}: {})",
            self.output.status,
            self.stderr().trim()
        ))
    }

    /// A job that was accepted must not fail, for example because of a file that is too short.
    fn unexpected_end(&self) -> Option<String> {
        let is_expected = self.code() == Some(0)
            || self.was_rejected()
            || self.has_finding("stalled")
            || (self.failed_with_eio() && self.has_finding("direct_and_buffered"));
        (!is_expected).then(|| "unexpected exit status".to_owned())
    }

    fn failed_with_eio(&self) -> bool {
        let result: Value = serde_json::from_slice(&self.output.stdout).unwrap_or_default();
        self.code() == Some(1) && result["report"]["errors"]["first"]["errno"] == libc::EIO
    }

    /// Used for `stalled` (the host's disk completed no I/O for seconds) and `direct_and_buffered`
    /// (the kernel may fail flushes with EIO).
    fn has_finding(&self, code: &str) -> bool {
        let result: Value = serde_json::from_slice(&self.output.stdout).unwrap_or_default();
        let findings = result["findings"].as_array();
        findings.is_some_and(|all| all.iter().any(|finding| finding["code"] == code))
    }

    fn foreign_name(&self) -> Option<String> {
        let is_unknown = |name: &&String| !["target", "neighbor"].contains(&name.as_str());
        let name = self.names.iter().find(is_unknown)?;
        Some(format!("{name} was left in the directory"))
    }

    fn forbidden_change(&self, permitted: &Permitted) -> Option<String> {
        let reason = if self.was_rejected() {
            "rejected job"
        } else if permitted.only_reads {
            "read-only job"
        } else {
            return None;
        };
        let (before, after) = (&self.before, &self.after);
        (before != after).then(|| {
            format!(
                "a {reason} changed the file: exists {} -> {}, length {} -> {}, allocated {} -> {}, content changed: {}",
                before.exists, after.exists, before.length(), after.length(),
                before.allocated_bytes, after.allocated_bytes, self.changed()
            )
        })
    }

    fn changed_byte(&self, permitted: &Permitted) -> Option<String> {
        let pairs = self.before.content.iter().zip(&self.after.content);
        let changed = (0..).zip(pairs).filter(|(_, (old, new))| old != new);
        let mut outside = changed.filter(|(offset, _)| !permitted.contains(*offset));
        let (first, _) = outside.next()?;
        let last = outside.last().map_or(first, |(offset, _)| offset);
        Some(format!(
            "bytes {first} to {last} changed outside the regions {:?}",
            permitted.regions
        ))
    }

    fn wrong_length(&self, permitted: &Permitted) -> Option<String> {
        let (old, new) = (self.before.length(), self.after.length());
        let max = permitted.max_length;
        if !(old..=max).contains(&new) {
            return Some(format!("length {old} -> {new}, expected at most {max}"));
        }
        let length = permitted.length.filter(|_| self.code() == Some(0))?;
        (new != length).then(|| format!("length {old} -> {new}, expected {length}"))
    }

    fn wrong_allocation(&self, permitted: &Permitted) -> Option<String> {
        let (old, new) = (self.before.allocated_bytes, self.after.allocated_bytes);
        let max = old + permitted.allocatable(self.before.length()) + METADATA_BYTES;
        let min = old.saturating_sub(METADATA_BYTES);
        (!(min..=max).contains(&new))
            .then(|| format!("allocated {old} -> {new} bytes, expected {min} to {max}"))
    }
}

// The most severe cases

fn existing(content: Content, length: u64) -> Original {
    Original {
        content,
        length,
        seed: 7,
    }
}

/// A direct job on the first MiB of a file.
fn first_mib(rw: &str, changes: Value) -> Value {
    let job = json!({"rw": rw, "bs": "64k", "size": MIB, "direct": 1});
    scratch::program::with(&job, changes)
}

fn case(original: Original, jobs: &[Value]) -> Case {
    Case {
        original,
        jobs: jobs.to_vec(),
    }
}

/// A 1 GiB file with data only in its last MiB.
fn file_with_one_island(path: &Path) -> (File, Vec<u8>) {
    let file = File::create_new(path).unwrap();
    let island = Random::new(3).bytes(MIB);
    file.write_all_at(&island, 1023 * MIB).unwrap();
    file.sync_all().unwrap();
    scratch::mark_owned(path);
    (File::open(path).unwrap(), island)
}

fn check_large_sparse_file(job: &Value) {
    let directory = scratch::directory();
    let path = directory.path().join("target");
    let (file, island) = file_with_one_island(&path);
    let allocated = || file.metadata().unwrap().blocks() * 512;
    let before = allocated();
    let job = scratch::program::with(job, json!({"filename": path}));
    let output = run(&job, &["--json"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        file.metadata().unwrap().len(),
        1024 * MIB,
        "{job}: {stderr}"
    );
    let mut found = vec![0; island.len()];
    file.read_exact_at(&mut found, 1023 * MIB).unwrap();
    assert!(found == island, "{job}: the island changed");
    let next_data = seek(&file, SeekFrom::Data(MIB)).unwrap();
    assert_eq!(next_data, 1023 * MIB, "{job}: a hole was filled");
    let grown = allocated().saturating_sub(before);
    assert!(
        grown <= MIB + METADATA_BYTES,
        "{job}: {grown} bytes allocated"
    );
    assert_eq!(output.status.code(), Some(0), "{job}: {stderr}");
}

#[test]
fn overwrite_keeps_the_rest_of_a_large_sparse_file() {
    check_large_sparse_file(&first_mib("write", json!({"overwrite": 1})));
}

#[test]
fn file_state_overwrite_keeps_the_rest_of_a_large_sparse_file() {
    check_large_sparse_file(&first_mib("randwrite", json!({"file_state": "overwrite"})));
}

#[test]
fn reader_with_overwrite_keeps_the_rest_of_a_large_sparse_file() {
    check_large_sparse_file(&first_mib("randread", json!({"overwrite": 1})));
}

#[test]
fn allocation_keeps_the_holes_of_a_large_sparse_file() {
    for fallocate in ["none", "native", "posix", "keep", "truncate", "written"] {
        check_large_sparse_file(&first_mib("write", json!({"fallocate": fallocate})));
    }
}

#[test]
fn reader_does_not_extend_a_shorter_foreign_file() {
    for content in [Content::Full, Content::Sparse] {
        for (rw, engine) in [("read", "psync"), ("randread", "io_uring")] {
            for length in [512 * KIB, 512 * KIB + 100] {
                let job = first_mib(rw, json!({"ioengine": engine}));
                let outcome = case(existing(content, length), &[job]).check();
                assert_ne!(outcome.code(), Some(0));
                assert!(!outcome.stderr().is_empty());
            }
        }
    }
}

#[test]
fn reader_beyond_the_end_of_a_foreign_file_is_rejected() {
    let job = first_mib("read", json!({"offset": 4 * MIB}));
    let outcome = case(existing(Content::Full, MIB), &[job]).check();
    assert!(outcome.was_rejected(), "{:?}", outcome.code());
}

#[test]
fn file_state_written_extends_a_shorter_file_and_keeps_its_content() {
    let job = first_mib("read", json!({"file_state": "written"}));
    let outcome = case(existing(Content::Full, 512 * KIB), &[job]).check_success();
    assert_eq!(outcome.after.length(), MIB);
}

#[test]
fn overwrite_keeps_the_gap_between_two_jobs() {
    let low = first_mib("write", json!({"name": "low", "overwrite": 1}));
    let high = scratch::program::with(&low, json!({"name": "high", "offset": 3 * MIB}));
    for content in [Content::Full, Content::Sparse, Content::Allocated] {
        case(existing(content, 6 * MIB), &[low.clone(), high.clone()]).check_success();
    }
}

#[test]
fn overwrite_keeps_the_gaps_between_workers() {
    let workers =
        json!({"overwrite": 1, "numjobs": 3, "offset": 64 * KIB, "offset_increment": 2 * MIB});
    for content in [Content::Full, Content::Sparse, Content::Allocated] {
        let job = first_mib("randwrite", workers.clone());
        case(existing(content, 8 * MIB), &[job]).check_success();
    }
}

#[test]
fn overwrite_of_unaligned_regions_keeps_their_neighbors() {
    let job = json!({"rw": "write", "bs": 1000, "offset": 4097, "size": 333_000, "direct": 0, "overwrite": 1});
    for content in [Content::Full, Content::Sparse] {
        case(existing(content, MIB + 77), std::slice::from_ref(&job)).check_success();
    }
}

#[test]
fn writes_of_a_longer_region_keep_an_unaligned_tail() {
    for overwrite in [0, 1] {
        let job = first_mib("write", json!({"overwrite": overwrite, "offset": 2 * MIB}));
        let original = existing(Content::Full, MIB + 4095);
        case(original, &[job]).check_success();
    }
}

#[test]
fn allocation_never_shortens_a_longer_file() {
    for fallocate in ["none", "native", "posix", "keep", "truncate", "written"] {
        let job = first_mib("randwrite", json!({"fallocate": fallocate}));
        case(existing(Content::Full, 2 * MIB + 123), &[job]).check_success();
    }
}

#[test]
fn allocation_extends_a_shorter_file_and_keeps_its_content() {
    for fallocate in ["native", "posix", "truncate", "written"] {
        for content in [Content::Full, Content::Sparse] {
            let changes = json!({"fallocate": fallocate, "number_ios": 1});
            let original = existing(content, 512 * KIB + 100);
            case(original, &[first_mib("write", changes)]).check_success();
        }
    }
}

#[test]
fn mixed_job_never_reads_beyond_a_shorter_file() {
    for fallocate in ["none", "native", "posix", "keep", "truncate", "written"] {
        let changes = json!({"fallocate": fallocate, "rwmixread": 90});
        let original = existing(Content::Full, 512 * KIB);
        case(original, &[first_mib("randrw", changes)]).check();
    }
}

#[test]
fn append_keeps_all_bytes() {
    for append in [json!({"file_append": 1}), json!({"file_state": "append"})] {
        let outcome =
            case(existing(Content::Full, MIB), &[first_mib("write", append)]).check_success();
        assert_eq!(outcome.after.length(), 2 * MIB);
    }
}

#[test]
fn fresh_never_replaces_a_foreign_file() {
    let job = first_mib("write", json!({"file_state": "fresh"}));
    let outcome = case(existing(Content::Full, MIB), &[job]).check();
    assert!(outcome.was_rejected(), "{:?}", outcome.code());
}
