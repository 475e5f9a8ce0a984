//! The data that a job leaves in its file, as seen by a device that deduplicates or compresses.
//! Files written by fio are the reference.

use crate::scratch;
use crate::scratch::program::{JSON, report, start, with};
use serde_json::{Value, json};
use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};
use tempfile::TempDir;

const SECTOR: usize = 512;
const BLOCK: usize = 4096;
const MIB: usize = 1 << 20;
/// Smaller than the distance between stamps, so that old data is recognized even if it has been
/// stamped.
const PIECE: usize = 32;
const ENGINES: [&str; 2] = ["psync", "io_uring"];

/// A file with known content. It exists before the run, so there is no layout.
struct Target {
    directory: TempDir,
    file: PathBuf,
    before: Vec<u8>,
}

impl Target {
    fn containing(before: Vec<u8>) -> Self {
        let directory = scratch::directory();
        let file = directory.path().join("t1");
        fs::write(&file, &before).unwrap();
        Self {
            directory,
            file,
            before,
        }
    }

    fn job(&self, changes: &Value) -> Value {
        let job = json!({"name": "data", "filename": self.file, "size": self.before.len(), "rw": "write", "direct": 1, "ioengine": "psync", "randseed": 7});
        with(&job, changes.clone())
    }

    /// Runs a job and returns the number of bytes written according to its report.
    fn run(&self, changes: &Value) -> usize {
        let bytes = written_bytes(&report(&self.job(changes)));
        assert_eq!(self.content().len(), self.before.len(), "{changes}");
        bytes
    }

    fn content(&self) -> Vec<u8> {
        fs::read(&self.file).unwrap()
    }

    /// Sectors whose content differs from their content before the run.
    fn changed_sectors(&self) -> Vec<Vec<u8>> {
        let after = self.content();
        let pairs = after.chunks(SECTOR).zip(self.before.chunks(SECTOR));
        pairs
            .filter(|(after, before)| after != before)
            .map(|(after, _)| after.into())
            .collect()
    }
}

fn written_bytes(result: &Value) -> usize {
    let bytes = result["report"]["write"]["bytes"].as_u64();
    usize::try_from(bytes.unwrap_or(0)).unwrap()
}

fn zeros(bytes: usize) -> Vec<u8> {
    vec![0; bytes]
}

/// Random data from xorshift64*, a generator that the runner does not use.
fn foreign_data(bytes: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let words = (0..bytes / 8).flat_map(|_| {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d).to_le_bytes()
    });
    words.collect()
}

fn distinct(bytes: &[u8], unit: usize) -> usize {
    bytes.chunks(unit).collect::<HashSet<_>>().len()
}

fn shared(one: &[u8], other: &[u8], unit: usize) -> usize {
    let known: HashSet<_> = one.chunks(unit).collect();
    let units = other.chunks(unit);
    units.filter(|unit| known.contains(unit)).count()
}

/// Distinct sectors imply distinct blocks. The file contains zeros before the run. If the job
/// writes zeros, or writes where it should read, the number of changed sectors differs from the
/// report.
fn assert_written_sectors_are_distinct(target: &Target, changes: &Value) {
    let written = target.run(changes);
    let changed = target.changed_sectors();
    assert!(written > 0, "{changes}");
    if overlaps(changes) {
        assert!((1..=written).contains(&(changed.len() * SECTOR)));
    } else {
        assert_eq!(
            changed.len() * SECTOR,
            written,
            "{changes}: zero sectors written"
        );
    }
    let sectors = distinct(&changed.concat(), SECTOR);
    assert_eq!(sectors, changed.len(), "{changes}: duplicate sectors");
}

/// Random I/Os of different sizes may overlap.
fn overlaps(changes: &Value) -> bool {
    let is_random = changes["rw"].as_str().unwrap().starts_with("rand");
    is_random && !changes["bssplit"].is_null()
}

fn every_pattern_writes_distinct_sectors(engine: &str, direct: u8, depths: &[u32]) {
    let sizes = [
        (json!({"bs": 512}), MIB),
        (json!({"bs": "4k"}), MIB),
        (json!({"bs": "64k"}), MIB),
        // Large enough for a mixed job to issue I/Os in both directions.
        (json!({"bs": "1m"}), 8 * MIB),
        (json!({"bssplit": "512/40:4k/30:64k/30"}), MIB),
    ];
    for (size, bytes) in sizes {
        for rw in ["write", "randwrite", "rw", "randrw"] {
            for iodepth in depths {
                let changes =
                    json!({"rw": rw, "iodepth": iodepth, "ioengine": engine, "direct": direct});
                let target = Target::containing(zeros(bytes));
                assert_written_sectors_are_distinct(&target, &with(&size, changes));
            }
        }
    }
}

#[test]
fn psync_writes_distinct_sectors_to_the_device() {
    every_pattern_writes_distinct_sectors("psync", 1, &[1]);
}

#[test]
fn psync_writes_distinct_sectors_to_the_page_cache() {
    every_pattern_writes_distinct_sectors("psync", 0, &[1]);
}

#[test]
fn io_uring_writes_distinct_sectors_to_the_device() {
    every_pattern_writes_distinct_sectors("io_uring", 1, &[1, 32]);
}

#[test]
fn io_uring_writes_distinct_sectors_to_the_page_cache() {
    every_pattern_writes_distinct_sectors("io_uring", 0, &[1, 32]);
}

#[test]
fn submission_options_do_not_make_writes_share_a_buffer() {
    let options = [
        json!({"iodepth_batch": 8}),
        json!({"fixedbufs": 0}),
        json!({"fixedbufs": 1}),
        json!({"mem": "thp"}),
        // Offsets repeat in every pass, but the data must not.
        json!({"loops": 3, "rw": "write"}),
        json!({"bs": "4k,64k"}),
        json!({"bs": "64k,512"}),
    ];
    for changes in options {
        let job = with(
            &json!({"rw": "randrw", "bs": "4k", "iodepth": 32, "ioengine": "io_uring"}),
            changes,
        );
        let target = Target::containing(zeros(MIB));
        target.run(&job);
        let changed = target.changed_sectors();
        assert!(!changed.is_empty(), "{job}");
        let sectors = distinct(&changed.concat(), SECTOR);
        assert_eq!(sectors, changed.len(), "{job}");
    }
}

#[test]
fn blocks_that_are_not_whole_sectors_are_distinct() {
    for engine in ENGINES {
        for bytes in [16, 100, 700, 1000] {
            let target = Target::containing(zeros(bytes * 1000));
            target.run(&json!({"bs": bytes, "direct": 0, "ioengine": engine}));
            let distinct = distinct(&target.content(), bytes);
            assert_eq!(distinct, 1000, "{engine}: blocks of {bytes} bytes");
        }
    }
}

/// Content of all files in a directory.
fn contents(directory: &Path) -> Vec<u8> {
    let files = fs::read_dir(directory).unwrap();
    files
        .flat_map(|entry| fs::read(entry.unwrap().path()).unwrap())
        .collect()
}

fn assert_files_are_distinct(directory: &Path, bytes: usize, context: &str) {
    let content = contents(directory);
    assert_eq!(content.len(), bytes, "{context}");
    let sectors = distinct(&content, SECTOR);
    assert_eq!(sectors, bytes / SECTOR, "{context}: duplicate sectors");
}

/// Two workers with two files each.
fn job_with_four_files(directory: &Path, rw: &str, engine: &str) -> Value {
    json!({"name": "data", "directory": directory, "size": "1m", "nrfiles": 2, "numjobs": 2, "rw": rw, "bs": "4k", "direct": 1, "ioengine": engine, "iodepth": 8})
}

#[test]
fn workers_write_distinct_sectors_to_their_files() {
    for engine in ENGINES {
        for rw in ["write", "randwrite"] {
            let directory = scratch::directory();
            report(&job_with_four_files(directory.path(), rw, engine));
            assert_files_are_distinct(directory.path(), 2 * MIB, &format!("{engine} {rw}"));
        }
    }
}

/// If the files were equal, a deduplicating device would read all of them from the same location.
#[test]
fn files_that_are_laid_out_for_reads_are_distinct() {
    let directory = scratch::directory();
    report(&job_with_four_files(directory.path(), "read", "io_uring"));
    assert_files_are_distinct(directory.path(), 2 * MIB, "layout");
}

/// After a mixed job, the blocks that it only read still hold layout data.
#[test]
fn mixed_workers_write_distinct_sectors_to_their_files() {
    for engine in ENGINES {
        let directory = scratch::directory();
        let job = job_with_four_files(directory.path(), "randrw", engine);
        report(&with(&job, json!({"rw": "read"})));
        let layout = contents(directory.path());
        let written = written_bytes(&report(&job)) / SECTOR;
        let after = contents(directory.path());
        let unchanged = shared(&layout, &after, SECTOR);
        assert_eq!(after.len() / SECTOR - unchanged, written, "{engine}");
        let new = distinct(&after, SECTOR) - distinct_of_both(&layout, &after);
        assert_eq!(new, written, "{engine}: duplicate sectors");
    }
}

/// Number of distinct sectors of `after` that also occur in `before`.
fn distinct_of_both(before: &[u8], after: &[u8]) -> usize {
    let known: HashSet<_> = before.chunks(SECTOR).collect();
    let after: HashSet<_> = after.chunks(SECTOR).collect();
    after.intersection(&known).count()
}

#[test]
fn jobs_and_runs_with_the_same_seed_write_distinct_sectors() {
    let directory = scratch::directory();
    let job = |name: &str| json!({"name": name, "directory": directory.path(), "size": "1m", "rw": "randwrite", "bs": "4k", "direct": 1, "randseed": 7});
    report(&json!({"jobs": [job("a"), job("b")]}));
    report(&job("c"));
    report(&job("d"));
    assert_files_are_distinct(directory.path(), 4 * MIB, "four files");
}

#[test]
fn workers_on_the_same_file_write_distinct_sectors() {
    for engine in ENGINES {
        let target = Target::containing(zeros(MIB));
        target.run(&json!({"rw": "randwrite", "numjobs": 2, "ioengine": engine, "iodepth": 4}));
        let sectors = distinct(&target.content(), SECTOR);
        assert_eq!(sectors, MIB / SECTOR, "{engine}");
    }
}

#[test]
fn second_run_with_the_same_seed_writes_different_data() {
    for engine in ENGINES {
        for (rw, iodepth) in [("write", 1), ("randwrite", 32)] {
            let job = json!({"rw": rw, "iodepth": iodepth, "ioengine": engine});
            let target = Target::containing(zeros(MIB));
            target.run(&job);
            let first = target.content();
            target.run(&job);
            // The data must not occur at other offsets either: otherwise, a lost write could be
            // undetectable.
            let stale = shared(&first, &target.content(), SECTOR);
            assert_eq!(stale, 0, "{job}");
        }
    }
}

/// Contents that each block had in two successive reads of the file. Requiring two reads excludes
/// torn blocks.
fn observed_contents(target: &Target, job: &Value) -> Vec<HashSet<Vec<u8>>> {
    let mut child = start(&target.job(job), &JSON[2..]);
    let mut observed = vec![HashSet::new(); target.before.len() / BLOCK];
    let mut last = target.content();
    while child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(2));
        let now = target.content();
        collect_stable_blocks(&mut observed, &last, &now);
        last = now;
    }
    assert!(child.wait_with_output().unwrap().status.success());
    collect_stable_blocks(&mut observed, &last, &target.content());
    observed
}

fn collect_stable_blocks(observed: &mut [HashSet<Vec<u8>>], last: &[u8], now: &[u8]) {
    let blocks = last.chunks(BLOCK).zip(now.chunks(BLOCK));
    for (seen, (last, now)) in observed.iter_mut().zip(blocks) {
        if last == now {
            seen.insert(now.into());
        }
    }
}

/// The file is small and the rate is low, so every pass can be observed.
fn assert_every_pass_differs(engine: &str, changes: Value) {
    let job = json!({"loops": 2, "rate_iops": 50, "bs": "4k", "ioengine": engine});
    let job = with(&job, changes);
    let target = Target::containing(zeros(16 * BLOCK));
    for (index, contents) in observed_contents(&target, &job).iter().enumerate() {
        // The initial zeros, plus the data of each pass.
        assert_eq!(contents.len(), 3, "{job}: block {index}");
        let sectors = distinct(
            &contents.iter().flatten().copied().collect::<Vec<_>>(),
            SECTOR,
        );
        assert_eq!(sectors, 2 * BLOCK / SECTOR + 1, "{job}: block {index}");
    }
}

#[test]
fn second_pass_with_psync_writes_different_data() {
    assert_every_pass_differs("psync", json!({"rw": "write"}));
    assert_every_pass_differs("psync", json!({"rw": "write", "refill_buffers": 1}));
}

#[test]
fn second_pass_with_io_uring_writes_different_data() {
    assert_every_pass_differs("io_uring", json!({"rw": "write"}));
    // Each pass uses the buffers in the same order.
    assert_every_pass_differs("io_uring", json!({"rw": "randwrite", "iodepth": 4}));
}

/// Jobs in which half of the I/Os are writes, in every data mode.
fn mixed_jobs() -> impl Iterator<Item = Value> {
    let data = [
        json!({}),
        json!({"scramble_buffers": 0}),
        json!({"refill_buffers": 1}),
        json!({"zero_buffers": 1}),
        json!({"buffer_compress_percentage": 50}),
        json!({"dedupe_percentage": 50}),
    ];
    let setups = [
        json!({"ioengine": "psync", "direct": 1}),
        json!({"ioengine": "psync", "direct": 0}),
        json!({"ioengine": "io_uring", "direct": 1, "iodepth": 1}),
        json!({"ioengine": "io_uring", "direct": 1, "iodepth": 32, "fixedbufs": 1}),
        json!({"ioengine": "io_uring", "direct": 0, "iodepth": 32, "fixedbufs": 0}),
    ];
    data.into_iter().flat_map(move |data| {
        let setups = setups.clone();
        setups.into_iter().map(move |setup| {
            with(
                &with(&json!({"rw": "randrw", "bs": "4k"}), setup),
                data.clone(),
            )
        })
    })
}

#[test]
fn mixed_jobs_never_write_data_that_they_read() {
    let before = foreign_data(MIB / 2);
    for job in mixed_jobs() {
        let target = Target::containing(before.clone());
        let written = target.run(&job);
        let changed = target.changed_sectors();
        // Fewer changed bytes mean that a write repeated existing data; more mean that a read
        // changed the file.
        assert_eq!(changed.len() * SECTOR, written, "{job}");
        // The data between stamps must not repeat either.
        let pieces = shared(&before, &changed.concat(), PIECE);
        assert_eq!(pieces, 0, "{job}: pieces of data that the job read");
    }
}

#[test]
fn mixed_job_does_not_repeat_data_from_a_previous_run() {
    for engine in ENGINES {
        let mut target = Target::containing(zeros(MIB));
        target.run(&json!({"rw": "randwrite", "ioengine": engine}));
        target.before = target.content();
        for rw in ["rw", "randrw"] {
            let written = target.run(&json!({"rw": rw, "ioengine": engine, "iodepth": 32}));
            let changed = target.changed_sectors();
            assert_eq!(changed.len() * SECTOR, written, "{engine} {rw}");
            let repeated = shared(&target.before, &changed.concat(), SECTOR);
            assert_eq!(repeated, 0, "{engine} {rw}");
            target.before = target.content();
        }
    }
}

#[test]
fn writes_do_not_contain_data_from_reads_of_another_size() {
    let before = foreign_data(2 * MIB);
    for bs in ["4k,64k", "64k,4k"] {
        for engine in ENGINES {
            let target = Target::containing(before.clone());
            target.run(&json!({"rw": "randrw", "bs": bs, "ioengine": engine, "iodepth": 8}));
            let changed = target.changed_sectors();
            assert!(!changed.is_empty());
            let pieces = shared(&before, &changed.concat(), PIECE);
            assert_eq!(pieces, 0, "{engine} {bs}");
        }
    }
}

#[test]
fn reads_change_nothing() {
    let target = Target::containing(foreign_data(MIB));
    for engine in ENGINES {
        for rw in ["read", "randread"] {
            for direct in [0, 1] {
                let job = json!({"rw": rw, "ioengine": engine, "direct": direct, "iodepth": 32});
                assert_eq!(target.run(&job), 0, "{job}");
                assert!(target.content() == target.before, "{job}");
            }
        }
    }
}

#[test]
fn zero_buffers_writes_only_zeros() {
    for engine in ENGINES {
        for rw in ["write", "randwrite", "rw", "randrw"] {
            // Neither option may stamp or refill the zeros.
            for others in [json!({}), json!({"scramble_buffers": 1})] {
                let job = json!({"rw": rw, "zero_buffers": 1, "ioengine": engine, "iodepth": 8});
                let target = Target::containing(foreign_data(MIB));
                let written = target.run(&with(&job, others));
                let changed = target.changed_sectors().concat();
                assert_eq!(changed.len(), written, "{job}");
                assert!(changed.iter().all(|byte| *byte == 0), "{job}");
            }
        }
    }
}

fn is_installed(program: &str) -> bool {
    let found = scratch::run(program, &["--version"]).is_ok();
    if !found {
        scratch::skip(&format!("{program} is not installed"));
    }
    found
}

/// A file written in one of the data modes.
struct WrittenFile {
    target: Target,
    content: Vec<u8>,
}

impl WrittenFile {
    /// Writes 4 KiB blocks in random order.
    fn by_runner(mode: &Value, engine: &str, iodepth: u32, bytes: usize) -> Self {
        let target = Target::containing(zeros(bytes));
        let job = json!({"rw": "randwrite", "bs": "4k", "ioengine": engine, "iodepth": iodepth});
        assert_eq!(target.run(&with(&job, mode.clone())), bytes, "{mode}");
        Self::in_target(target)
    }

    fn by_fio(mode: &Value, engine: &str, iodepth: u32, bytes: usize) -> Self {
        let target = Target::containing(zeros(bytes));
        let mut args: Vec<_> = [
            "--name=data",
            "--rw=randwrite",
            "--bs=4k",
            "--direct=1",
            "--thread",
        ]
        .map(String::from)
        .into();
        args.extend([
            format!("--filename={}", target.file.display()),
            format!("--size={bytes}"),
            format!("--ioengine={engine}"),
            format!("--iodepth={iodepth}"),
        ]);
        let mode = mode.as_object().unwrap().iter();
        args.extend(mode.map(|(name, value)| format!("--{name}={value}")));
        scratch::run("fio", &args.iter().map(String::as_str).collect::<Vec<_>>()).unwrap();
        Self::in_target(target)
    }

    fn in_target(target: Target) -> Self {
        let content = target.content();
        Self { target, content }
    }

    /// Percentage of blocks that a deduplicating device would have to store.
    fn distinct_percent(&self) -> f64 {
        percent(distinct(&self.content, BLOCK) * BLOCK, self.content.len())
    }

    /// Percentage of bytes that a compressing device would have to store.
    fn compressed_percent(&self, compressor: Compressor) -> f64 {
        let (program, level, extension) = compressor;
        let file = self.target.file.to_str().unwrap();
        scratch::run(program, &[level, "-q", "-k", "-f", file]).unwrap();
        let output = self.target.directory.path().join(format!("t1.{extension}"));
        let bytes = fs::metadata(output).unwrap().len();
        percent(usize::try_from(bytes).unwrap(), self.content.len())
    }
}

fn percent(part: usize, whole: usize) -> f64 {
    part as f64 * 100.0 / whole as f64
}

/// Program, compression level, and extension of its output.
type Compressor = (&'static str, &'static str, &'static str);

fn compressors() -> Vec<Compressor> {
    let mut all = vec![("zstd", "-3", "zst"), ("xz", "-1", "xz")];
    all.retain(|(program, ..)| is_installed(program));
    all
}

/// One I/O in flight, and more than one.
const DEPTHS: [(&str, u32); 2] = [("psync", 1), ("io_uring", 8)];

#[test]
fn unchanged_buffers_repeat_as_in_fio() {
    let mode = json!({"scramble_buffers": 0});
    for (engine, iodepth) in [("psync", 1), ("io_uring", 1), ("io_uring", 8)] {
        let leadline = WrittenFile::by_runner(&mode, engine, iodepth, MIB);
        let blocks = distinct(&leadline.content, BLOCK);
        assert!(
            (1..=iodepth as usize).contains(&blocks),
            "{engine}, depth {iodepth}: {blocks} distinct blocks"
        );
        assert_eq!(shared(&zeros(PIECE), &leadline.content, PIECE), 0, "zeros");
        if is_installed("fio") {
            let fio = WrittenFile::by_fio(&mode, engine, iodepth, MIB);
            assert_eq!(blocks, distinct(&fio.content, BLOCK), "{engine}");
        }
    }
}

#[test]
fn data_deduplicates_and_compresses_as_in_fio() {
    if !is_installed("fio") {
        return;
    }
    for mode in [json!({}), json!({"refill_buffers": 1})] {
        for (engine, iodepth) in DEPTHS {
            let leadline = WrittenFile::by_runner(&mode, engine, iodepth, 2 * MIB);
            let fio = WrittenFile::by_fio(&mode, engine, iodepth, 2 * MIB);
            let (actual, expected) = (leadline.distinct_percent(), fio.distinct_percent());
            assert!(
                actual >= expected - 1.0,
                "{mode} {engine}: {actual:.1} % distinct, fio {expected:.1} %"
            );
            for compressor in compressors() {
                let actual = leadline.compressed_percent(compressor);
                let expected = fio.compressed_percent(compressor);
                assert!(
                    actual >= expected * 0.98,
                    "{mode} {engine} {compressor:?}: {actual:.1} %, fio {expected:.1} %"
                );
            }
        }
    }
}

#[test]
fn requested_share_of_the_data_is_compressible() {
    let mode = json!({"buffer_compress_percentage": 50, "refill_buffers": 1});
    for (engine, iodepth) in DEPTHS {
        let leadline = WrittenFile::by_runner(&mode, engine, iodepth, 2 * MIB);
        assert_near(
            leadline.distinct_percent(),
            100.0,
            &format!("{engine}: distinct"),
        );
        let fio = is_installed("fio").then(|| WrittenFile::by_fio(&mode, engine, iodepth, 2 * MIB));
        for compressor in compressors() {
            let actual = leadline.compressed_percent(compressor);
            assert_near(actual, 50.0, &format!("{engine} {compressor:?}"));
            if let Some(fio) = &fio {
                let expected = fio.compressed_percent(compressor);
                assert_near(actual, expected, &format!("{engine} {compressor:?}, fio"));
            }
        }
    }
}

#[test]
fn requested_share_of_the_blocks_is_duplicate() {
    let mode = json!({"dedupe_percentage": 50});
    for (engine, iodepth) in DEPTHS {
        // In smaller files, random variation of the share exceeds 3 %.
        let leadline = WrittenFile::by_runner(&mode, engine, iodepth, 8 * MIB);
        assert_near(
            leadline.distinct_percent(),
            50.0,
            &format!("{engine}: distinct"),
        );
        // Blocks that are not duplicates must not compress. xz would be too slow here.
        for compressor in compressors()
            .into_iter()
            .filter(|(name, ..)| *name == "zstd")
        {
            let actual = leadline.compressed_percent(compressor);
            assert!(actual >= 47.0, "{engine} {compressor:?}: {actual:.1} %");
        }
        if is_installed("fio") {
            let fio = WrittenFile::by_fio(&mode, engine, iodepth, 8 * MIB);
            assert_near(leadline.distinct_percent(), fio.distinct_percent(), "fio");
        }
    }
}

#[track_caller]
fn assert_near(actual: f64, expected: f64, what: &str) {
    assert!(
        (actual - expected).abs() <= 3.0,
        "{what}: {actual:.1} % instead of {expected:.1} %"
    );
}

#[test]
fn zeros_deduplicate_and_compress_as_in_fio() {
    let mode = json!({"zero_buffers": 1});
    for (engine, iodepth) in DEPTHS {
        let leadline = WrittenFile::by_runner(&mode, engine, iodepth, MIB);
        assert!(leadline.content == zeros(MIB), "{engine}");
        if is_installed("fio") {
            let fio = WrittenFile::by_fio(&mode, engine, iodepth, MIB);
            assert!(leadline.content == fio.content, "{engine}");
        }
    }
}

#[test]
fn both_engines_write_equally_distinct_data() {
    let modes = [
        json!({}),
        json!({"refill_buffers": 1}),
        json!({"buffer_compress_percentage": 50, "refill_buffers": 1}),
        json!({"dedupe_percentage": 50}),
        json!({"scramble_buffers": 0}),
        json!({"zero_buffers": 1}),
    ];
    for mode in modes {
        let [psync, io_uring] = ENGINES.map(|engine| WrittenFile::by_runner(&mode, engine, 1, MIB));
        let difference = psync.distinct_percent() - io_uring.distinct_percent();
        // Both engines use the same seed, so random variation does not explain a difference.
        assert!(
            difference.abs() < 1.0,
            "{mode}: {difference:.1} % more distinct blocks"
        );
        for compressor in compressors() {
            let [one, other] = [&psync, &io_uring].map(|file| file.compressed_percent(compressor));
            assert!(
                (one - other).abs() < 1.0,
                "{mode} {compressor:?}: {one:.1} % and {other:.1} %"
            );
        }
    }
}
