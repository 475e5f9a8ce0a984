//! Overhead of samples, quoted in `docs/measurement.md`, and of each probe. Run these tests
//! manually. `make bench` measures the overhead of all probes together. For the sample overhead,
//! the same job runs with and without samples: interleaved, so that drift affects both, and at the
//! highest priority, so that other processes affect neither.

use crate::scratch::{self, Disk, program::report};
use leadline_runner::system::probes::{
    Probes, extents, region::Region, residency::ResidencyMethod, vmstat::VmStat,
};
use serde_json::{Value, json};
use std::{
    fs::File,
    os::{fd::AsFd, unix::fs::FileExt},
    path::Path,
    time::Instant,
};

/// With nine rounds, the second and the eighth of the sorted values are the bounds of a confidence
/// interval of more than 95 %.
const ROUNDS: usize = 9;

/// Returns the IOPS and the workers' CPU time per I/O in ns.
fn run(document: &Value) -> (f64, f64) {
    let report = report(document)["report"].clone();
    let part = |name: &str| report["jobs"][0][name].as_f64().unwrap();
    (
        report["read"]["iops"].as_f64().unwrap(),
        part("user_ns_per_io") + part("system_ns_per_io"),
    )
}

/// With samples and probes (the default).
fn by_default(job: &Value) -> Value {
    json!({"jobs": [job]})
}

/// The interval is so long that the first sample would be due after the end of the run.
fn without_samples(job: &Value) -> Value {
    json!({"jobs": [job], "sample_ms": 10_000})
}

/// Returns the sorted IOPS ratios (with samples ÷ without).
fn compare(what: &str, job: &Value) -> Vec<f64> {
    let with = by_default(job);
    let without = without_samples(job);
    let mut iops = Vec::new();
    let mut cpu = Vec::new();
    for round in 0..ROUNDS {
        // The order alternates, because the first run of a pair changes the state of the host.
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
    for (name, ratios) in [("IOPS", &mut iops), ("CPU time per I/O", &mut cpu)] {
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
#[ignore = "a measurement: cargo test --release -p leadline-runner --test runner cost::sample_overhead -- --ignored --nocapture"]
fn sample_overhead_in_cpu_bound_run() {
    let Some(disk) = Disk::ext4() else { return };
    let ratios = compare("cached reads, samples", &cached(&disk));
    assert!(ratios[ROUNDS / 2] > 0.9, "{ratios:?}");
}

fn cached(disk: &Disk) -> Value {
    json!({"filename": disk.file("f"), "size": "256m", "rw": "randread", "bs": "4k", "iodepth": 32, "direct": 0, "cache_state": "warm",
        "runtime": 3, "time_based": 1, "cpus_allowed": "0", "nice": -20})
}

/// The figures in the module documentation of `probes`.
#[test]
#[ignore = "a measurement: cargo test -p leadline-runner --test runner cost:: -- --ignored --nocapture --test-threads 1"]
fn probe_overhead() {
    let Some(disk) = Disk::ext4() else { return };
    let file = filled(&disk.file("f"), 256 << 20);
    let region = Region::of(std::iter::once(0..256 << 20));
    let method = ResidencyMethod::detect(file.as_fd()).unwrap();
    let mut probes = Probes::new(&[disk.device.name().into()]);
    let mut vm = VmStat::open().unwrap();
    time("vmstat", || assert!(vm.read().is_some()));
    time("all counters of a sample", || drop(probes.read()));
    time("residency of 256 MiB, cached", || {
        assert!(method.residency(file.as_fd(), &region).is_ok())
    });
    time("residency map of 256 MiB, cached", || {
        drop(method.map(file.as_fd(), &region))
    });
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).unwrap();
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::Random).unwrap();
    (0..16_384u64)
        .rev()
        .for_each(|page| file.read_exact_at(&mut [0; 4096], page * 4096).unwrap());
    time("residency of 256 MiB with 16,384 single pages", || {
        assert!(method.residency(file.as_fd(), &region).is_ok())
    });
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).unwrap();
    time("residency of 256 MiB, not cached", || {
        assert!(method.residency(file.as_fd(), &region).is_ok())
    });
    time("extents of a contiguous file", || {
        drop(extents::after(file.as_fd(), &region))
    });
    let fragmented = File::create(disk.file("fragmented")).unwrap();
    (0..10_000u64).for_each(|piece| {
        fragmented
            .write_all_at(&[7; 4096], piece * 3 * 4096)
            .unwrap()
    });
    fragmented.sync_all().unwrap();
    time("extents of a file with 10,000 extents", || {
        drop(extents::after(fragmented.as_fd(), &region))
    });
}

/// Creates a file whose data is both in the page cache and on the device.
fn filled(path: &Path, bytes: u64) -> File {
    scratch::image(path, bytes);
    File::options().read(true).write(true).open(path).unwrap()
}

fn time(what: &str, mut reading: impl FnMut()) {
    const READINGS: u32 = 200;
    reading();
    let begin = Instant::now();
    (0..READINGS).for_each(|_| reading());
    eprintln!("{what}: {:?}", begin.elapsed() / READINGS);
}
