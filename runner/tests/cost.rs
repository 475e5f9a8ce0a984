//! What samples and probes cost a run, as `docs/measurement.md` quotes it: the same job with and without, in turns, so that
//! what drifts hits both; with the highest priority, so that others on the host hit neither. Measurements, run by hand.

mod scratch;

use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Instant;

use leadline_runner::system::probes::region::Region;
use leadline_runner::system::probes::residency::ResidencyMethod;
use leadline_runner::system::probes::vmstat::VmStat;
use leadline_runner::system::probes::{Probes, extents};
use scratch::{Disk, result};
use serde_json::{Value, json};

/// Rounds of each; nine give an interval of more than 95 % from the second to the eighth.
const ROUNDS: usize = 9;

/// I/Os a second, and processor time of the clones per I/O in ns, of one run of some seconds.
fn run(document: &Value) -> (f64, f64) {
    let report = result(document)["report"].clone();
    let part = |name: &str| report["jobs"][0][name].as_f64().unwrap();
    (
        report["read"]["iops"].as_f64().unwrap(),
        part("user_ns_per_io") + part("system_ns_per_io"),
    )
}

/// The job with samples and probes, which is how it comes.
fn as_it_comes(job: &Value) -> Value {
    json!({"jobs": [job]})
}

fn without_probes(job: &Value) -> Value {
    let mut job = job.clone();
    job["probes"] = json!(0);
    json!({"jobs": [job]})
}

/// The first sample would come after the end.
fn without_samples(job: &Value) -> Value {
    json!({"jobs": [job], "sample_ms": 10_000})
}

/// The rounds' ratios of with to without, in order.
fn compare(what: &str, job: &Value, without: fn(&Value) -> Value) -> Vec<f64> {
    let (with, without) = (as_it_comes(job), without(job));
    let (mut iops, mut cpu) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        // Whoever comes second meets the same host in another state: they take turns.
        let (a, b) = if round % 2 == 0 {
            let a = run(&with);
            (a, run(&without))
        } else {
            let b = run(&without);
            (run(&with), b)
        };
        eprintln!(
            "{what} round {}: {:.0} IOPS with, {:.0} without",
            round + 1,
            a.0,
            b.0
        );
        iops.push(a.0 / b.0);
        cpu.push(a.1 / b.1);
    }
    for (name, ratios) in [("IOPS", &mut iops), ("processor time per I/O", &mut cpu)] {
        ratios.sort_by(f64::total_cmp);
        eprintln!(
            "{what}: {name} with ÷ without: {:.4} [{:.4}, {:.4}]",
            ratios[ROUNDS / 2],
            ratios[1],
            ratios[ROUNDS - 2]
        );
    }
    iops
}

#[test]
#[ignore = "a measurement: cargo test -p leadline-runner --test cost -- --ignored --nocapture --test-threads 1"]
fn a_run_that_the_processor_bounds() {
    let Some(disk) = Disk::ext4() else { return };
    let ratios = compare("hot reads, probes", &hot(&disk), without_probes);
    assert!(ratios[ROUNDS / 2] > 0.9, "{ratios:?}");
}

#[test]
#[ignore = "a measurement: cargo test --release -p leadline-runner --test cost -- --ignored --nocapture samples"]
fn samples_of_a_run_that_the_processor_bounds() {
    let Some(disk) = Disk::ext4() else { return };
    let ratios = compare("hot reads, samples", &hot(&disk), without_samples);
    assert!(ratios[ROUNDS / 2] > 0.9, "{ratios:?}");
}

fn hot(disk: &Disk) -> Value {
    json!({"filename": disk.file("f"), "size": "256m", "rw": "randread", "bs": "4k", "iodepth": 32, "direct": 0, "cache_state": "warm",
        "runtime": 3, "time_based": 1, "cpus_allowed": "0", "nice": -20})
}

#[test]
#[ignore = "a measurement: cargo test -p leadline-runner --test cost -- --ignored --nocapture --test-threads 1"]
fn a_run_that_the_device_bounds() {
    let directory = scratch::directory();
    let job = json!({"filename": Path::new(directory.path()).join("f"), "size": "256m", "rw": "randread", "bs": "4k", "iodepth": 8, "direct": 1,
        "runtime": 3, "time_based": 1, "nice": -20});
    let ratios = compare("direct reads, probes", &job, without_probes);
    assert!(ratios[ROUNDS / 2] > 0.9, "{ratios:?}");
}

/// The figures in the headers of `probe.rs` and of the files in `probe/`.
#[test]
#[ignore = "a measurement: cargo test -p leadline-runner --test cost -- --ignored --nocapture --test-threads 1"]
fn each_probe_by_itself() {
    let Some(disk) = Disk::ext4() else { return };
    let file = filled(&disk.file("f"), 256 << 20);
    let region = Region::of(std::iter::once(0..256 << 20));
    let means = ResidencyMethod::detect(file.as_fd()).unwrap();
    let mut probes = Probes::new(&[disk.device.name().into()]);
    let mut vm = VmStat::open().unwrap();
    each("the host's writeback", || assert!(vm.read().is_some()));
    each("all counters of a sample", || drop(probes.read()));
    each("residency of 256 MiB that is cached", || {
        assert!(means.residency(file.as_fd(), &region).is_ok())
    });
    each("map of 256 MiB that is cached", || {
        drop(means.map(file.as_fd(), &region))
    });
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).unwrap();
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::Random).unwrap();
    (0..16_384u64)
        .rev()
        .for_each(|page| file.read_exact_at(&mut [0; 4096], page * 4096).unwrap());
    each("residency of 256 MiB with 16,384 single pages", || {
        assert!(means.residency(file.as_fd(), &region).is_ok())
    });
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).unwrap();
    each("residency of 256 MiB that is not", || {
        assert!(means.residency(file.as_fd(), &region).is_ok())
    });
    each("extents of one piece", || {
        drop(extents::after(file.as_fd(), &region))
    });
    let pieces = File::create(disk.file("pieces")).unwrap();
    (0..10_000u64).for_each(|piece| pieces.write_all_at(&[7; 4096], piece * 3 * 4096).unwrap());
    pieces.sync_all().unwrap();
    each("extents of 10,000 pieces", || {
        drop(extents::after(pieces.as_fd(), &region))
    });
}

/// A file full of data, in the page cache and on the device.
fn filled(path: &Path, bytes: u64) -> File {
    scratch::image(path, bytes);
    File::options().read(true).write(true).open(path).unwrap()
}

fn each(what: &str, mut reading: impl FnMut()) {
    const READINGS: u32 = 200;
    reading();
    let begin = Instant::now();
    (0..READINGS).for_each(|_| reading());
    eprintln!("{what}: {:?}", begin.elapsed() / READINGS);
}
