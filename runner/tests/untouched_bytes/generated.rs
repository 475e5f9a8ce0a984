//! Generated jobs on generated files.

use crate::{CASES, Case, Content, KIB, MAX_MINIMIZED, MIB, Original, THREADS, end, writes};
use serde_json::{Map, Value, json};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// A PCG-like generator. A seed generates the same cases on every host.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d)
    }

    fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let mixed = (self.0 ^ (self.0 >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed ^ (mixed >> 32)
    }

    /// A number below the limit.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn one_in(&mut self, chances: u64) -> bool {
        self.below(chances) == 0
    }

    pub(crate) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }

    pub(crate) fn bytes(&mut self, count: u64) -> Vec<u8> {
        let words = count.div_ceil(8);
        let mut bytes: Vec<u8> = (0..words).flat_map(|_| self.next().to_le_bytes()).collect();
        bytes.truncate(count as usize);
        bytes
    }
}

// Cases

fn generate(seed: u64) -> Case {
    let mut random = Random::new(seed);
    let contents = [
        Content::Absent,
        Content::Full,
        Content::Full,
        Content::Sparse,
        Content::Sparse,
        Content::Allocated,
    ];
    let content = random.pick(&contents);
    let count = if random.one_in(4) { 2 } else { 1 };
    let jobs: Vec<Value> = (0..count)
        .map(|index| generate_job(&mut random, content, index))
        .collect();
    let length = generate_length(&mut random, content, &jobs);
    Case {
        original: Original {
            content,
            length,
            seed,
        },
        jobs,
    }
}

/// A length that is shorter than, equal to or longer than the regions.
fn generate_length(random: &mut Random, content: Content, jobs: &[Value]) -> u64 {
    let needed = jobs.iter().map(|job| end(job, 4 * MIB)).max().unwrap();
    let needed = needed.clamp(MIB, 16 * MIB);
    let all_read = !jobs.iter().any(writes);
    if content == Content::Absent {
        return 0;
    }
    match random.below(if all_read { 12 } else { 6 }) {
        0 => needed / 2,
        1 => needed / 2 + 1 + random.below(4 * KIB),
        2 | 3 => needed,
        4 => needed + MIB + random.below(100_000),
        _ => needed + MIB,
    }
}

fn generate_job(random: &mut Random, content: Content, index: u64) -> Value {
    let patterns = [
        "read",
        "write",
        "write",
        "randread",
        "randwrite",
        "randwrite",
        "rw",
        "randrw",
    ];
    let mut job = Map::new();
    job.insert("name".into(), json!(format!("job{index}")));
    job.insert("rw".into(), json!(random.pick(&patterns)));
    job.insert("direct".into(), json!(random.below(2)));
    job.insert("randseed".into(), json!(random.below(1000)));
    let mut job = Value::Object(job);
    generate_blocks(random, &mut job);
    generate_region(random, &mut job, content);
    generate_amount(random, &mut job);
    generate_engine(random, &mut job);
    generate_state(random, &mut job, content);
    job
}

fn generate_blocks(random: &mut Random, job: &mut Value) {
    match random.below(8) {
        0 => job["bssplit"] = json!("4k/50:12k/30:64k/20"),
        1 => job["bssplit"] = json!("8k/60:256k/40"),
        2 => job["bsrange"] = json!("4k-96k"),
        _ => job["bs"] = json!(random.pick(&["4k", "8k", "20k", "64k", "128k", "256k"])),
    }
    if random.one_in(10) {
        job["norandommap"] = json!(1);
    }
    if random.one_in(10) {
        job["random_distribution"] = json!(random.pick(&["zipf:1.1", "pareto:0.3", "normal:20"]));
    }
    if random.one_in(12) {
        let rw = job["rw"].as_str().unwrap();
        let modifier = if rw.starts_with("rand") { "8" } else { "36k" };
        job["rw"] = json!(format!("{rw}:{modifier}"));
    }
}

fn generate_region(random: &mut Random, job: &mut Value, content: Content) {
    if content != Content::Absent && random.one_in(6) {
        job["size"] = json!(format!("{}%", 20 + random.below(40)));
        job["offset"] = json!(format!("{}%", random.below(40)));
        return;
    }
    // Buffered jobs need no alignment.
    let unit = if job["direct"] == 0 && random.one_in(3) {
        random.pick(&[1, 512])
    } else {
        4 * KIB
    };
    let size = (256 * KIB + random.below(MIB)) / unit * unit;
    job["size"] = json!(size);
    if !random.one_in(3) {
        job["offset"] = json!(random.below(2 * MIB) / unit * unit);
    }
    if random.one_in(3) {
        let blocks = size / (4 * KIB) * 4 * KIB;
        let gap = random.pick(&[0, 4 * KIB, 300 * KIB]);
        job["numjobs"] = json!(1 + random.below(3));
        job["offset_increment"] =
            json!(random.pick(&[0, blocks / (8 * KIB) * 4 * KIB, blocks]) + gap);
    }
}

fn generate_amount(random: &mut Random, job: &mut Value) {
    if random.one_in(3) {
        job["number_ios"] = json!(1 + random.below(64));
    }
    if random.one_in(4) {
        job["io_size"] = json!((64 + random.below(3000)) * KIB);
    }
    if random.one_in(12) {
        job["loops"] = json!(2);
    }
}

fn generate_engine(random: &mut Random, job: &mut Value) {
    job["ioengine"] = json!(random.pick(&["psync", "io_uring"]));
    if job["ioengine"] == "io_uring" {
        job["iodepth"] = json!(1 + random.below(8));
    }
    if random.one_in(8) {
        job["fsync"] = json!(1 + random.below(8));
    }
    if random.one_in(6) {
        job["end_fsync"] = json!(1);
    }
    if random.one_in(8) {
        job["cache_state"] = json!(random.pick(&["cold", "warm"]));
    }
}

/// Initial state of the file. Contradictory options are rare, because the runner rejects them.
fn generate_state(random: &mut Random, job: &mut Value, content: Content) {
    let writes = writes(job);
    match random.below(12) {
        0 => job["file_state"] = json!("written"),
        1 | 2 if writes => job["file_state"] = json!("overwrite"),
        3 if content == Content::Absent && writes => job["file_state"] = json!("fresh"),
        4 if writes => {
            job["file_append"] = json!(1);
            job.as_object_mut().unwrap().remove("offset");
        }
        5 | 6 if writes => job["overwrite"] = json!(1),
        5 => job["overwrite"] = json!(1),
        7..=9 if writes => {
            let kinds = ["none", "native", "posix", "keep", "truncate"];
            job["fallocate"] = json!(random.pick(&kinds));
        }
        _ => {}
    }
}

#[derive(Default)]
struct Counts {
    done: AtomicUsize,
    rejected: AtomicUsize,
    changed: AtomicUsize,
    minimized: AtomicUsize,
}

/// Runs a generated case. Returns the violation, if any, with its minimal job.
fn judge(seed: u64, counts: &Counts) -> Option<String> {
    let case = generate(seed);
    let outcome = case.run();
    let add = |count: &AtomicUsize, hit: bool| count.fetch_add(usize::from(hit), Relaxed);
    add(&counts.done, outcome.code() == Some(0));
    add(&counts.rejected, outcome.was_rejected());
    add(&counts.changed, outcome.changed());
    let violation = outcome.violation(&case)?;
    if counts.minimized.fetch_add(1, Relaxed) >= MAX_MINIMIZED {
        return Some(format!("case {seed}: {violation}"));
    }
    let minimal = case.minimized();
    let violation = minimal.run().violation(&minimal).unwrap_or(violation);
    let Case { original, jobs } = minimal;
    Some(format!(
        "case {seed}: {violation}\n  {original:?} {}",
        json!(jobs)
    ))
}

#[test]
fn generated_jobs_change_nothing_outside_their_regions() {
    let counts = Counts::default();
    let judge_share = |thread| {
        let seeds = (thread..CASES).step_by(THREADS as usize);
        seeds
            .filter_map(|seed| judge(seed, &counts))
            .collect::<Vec<_>>()
    };
    let violations: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|thread| scope.spawn(move || judge_share(thread)))
            .collect();
        let results = threads.into_iter().map(|thread| thread.join().unwrap());
        results.flatten().collect()
    });
    let (done, rejected, changed) = (
        counts.done.load(Relaxed),
        counts.rejected.load(Relaxed),
        counts.changed.load(Relaxed),
    );
    eprintln!("{CASES} jobs: {done} ran, {rejected} rejected, {changed} changed their file");
    assert!(
        violations.is_empty(),
        "{} violations:\n{}",
        violations.len(),
        violations.join("\n")
    );
    assert!(
        done * 100 >= CASES as usize * 60,
        "only {done} jobs ran, {rejected} rejected"
    );
    assert!(
        changed * 100 >= CASES as usize * 30,
        "only {changed} jobs wrote"
    );
}
