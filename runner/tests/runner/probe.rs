//! Compares the probes' counts with a known number of I/Os.

use crate::scratch::{Loop, directory, image, run};
use leadline_runner::system::probes::{
    CounterWindow, Counters, Probes,
    rusage::{CpuTimes, thread_times},
};
use std::{
    fs::{self, File, OpenOptions},
    os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt},
    path::Path,
    time::Instant,
};

const MIB: u64 = 1 << 20;
const BLOCK: usize = 4096;

fn window(probes: &mut Probes, work: impl FnOnce()) -> CounterWindow {
    let before = probes.read();
    work();
    Counters::window(&before, &probes.read())
}

fn direct(path: &str) -> File {
    OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_DIRECT)
        .open(path)
        .unwrap()
}

/// Calls `io` with an aligned block and the offsets of `count` nonadjacent blocks.
fn each_block(count: u64, mut io: impl FnMut(&mut [u8], u64)) {
    let mut memory = vec![1; 2 * BLOCK];
    let head = memory.as_ptr().align_offset(BLOCK);
    (0..count).for_each(|number| io(&mut memory[head..head + BLOCK], number * 3 * BLOCK as u64));
}

#[test]
fn loop_device_counts_every_issued_io() {
    let dir = directory();
    let file = dir.path().join("disk");
    image(&file, 32 * MIB);
    let Some(disk) = Loop::attach(&file, &[]) else {
        return;
    };
    let device = direct(&disk.0);
    let mut probes = Probes::new(&[disk.name().into()]);
    let reads = window(&mut probes, || {
        each_block(1000, |block, at| device.read_exact_at(block, at).unwrap())
    })
    .device
    .unwrap();
    assert_eq!(
        (reads.read_ios, reads.read_bytes, reads.write_ios),
        (1000, 1000 * BLOCK as u64, 0)
    );
    let writes = window(&mut probes, || {
        each_block(500, |block, at| device.write_all_at(block, at).unwrap())
    })
    .device
    .unwrap();
    assert_eq!(
        (writes.write_ios, writes.write_bytes, writes.read_ios),
        (500, 500 * BLOCK as u64, 0)
    );
}

#[test]
fn loop_device_maps_to_the_disk_of_its_backing_file() {
    let dir = directory();
    let file = dir.path().join("disk");
    image(&file, 8 * MIB);
    let backing_major = rustix::fs::major(fs::metadata(&file).unwrap().dev());
    let Some(disk) = Loop::attach(&file, &[]) else {
        return;
    };
    let devices = window(&mut Probes::new(&[disk.name().into()]), || ()).physical_devices;
    match backing_major {
        0 => assert_eq!(
            devices[0].0,
            disk.name(),
            "tmpfs and overlay have no underlying device"
        ),
        _ => assert!(
            devices.iter().all(
                |(name, _)| Path::new("/sys/class/block").join(name).exists()
                    && name != disk.name()
            ),
            "{devices:?}"
        ),
    }
}

#[test]
fn memory_counters_include_pages_that_were_read() {
    let dir = directory();
    let file = dir.path().join("f");
    image(&file, 64 * MIB);
    let copy = || {
        let before = Probes::new(&[]).read().memory.unwrap();
        run(
            "dd",
            &[
                &format!("of={}", dir.path().join("g").display()),
                &format!("if={}", file.display()),
                "bs=1M",
                "status=none",
            ],
        )
        .unwrap();
        (before, Probes::new(&[]).read().memory.unwrap())
    };
    let is_counted = |after: u64, before: u64| after > before + 32 * MIB;
    // During a copy, the host may evict pages, and other tests may remove files.
    let mut copies = (0..10).map(|_| {
        let copied = copy();
        fs::remove_file(dir.path().join("g")).unwrap();
        copied
    });
    let counted = copies.find(|(before, after)| is_counted(after.cached, before.cached));
    let (_, after) = counted.expect("a copy of 64 MiB in the page cache");
    assert!(after.dirty > 0);
}

#[test]
fn cpu_time_of_the_workload_is_counted() {
    const WORK_NS: u64 = 200_000_000;
    let spent = |since: CpuTimes| {
        thread_times().since(since).user_ns + thread_times().since(since).system_ns
    };
    let busy = window(&mut Probes::new(&[]), || {
        let begin = thread_times();
        while spent(begin) < WORK_NS {
            std::hint::spin_loop();
        }
    });
    let cpu = busy.cpu.unwrap();
    let min = WORK_NS as f64 * 100.0 / busy.elapsed_ns as f64;
    assert!(
        cpu.process_user + cpu.process_system >= min * 0.99,
        "{cpu:?}, expected at least {min}"
    );
    assert!(cpu.host_user + cpu.host_system > 0.0, "{cpu:?}");
    assert!(
        cpu.host_user + cpu.host_system + cpu.host_iowait + cpu.host_steal <= 100.1,
        "{cpu:?}"
    );
}

#[test]
fn missing_counters_have_a_reason() {
    let mut probes = Probes::new(&[]);
    assert!(probes.absent()["device"].contains("no block device is visible below the targets"));
    assert_eq!(window(&mut probes, || ()).device, None);
    assert_eq!(
        probes.absent().contains_key("pressure"),
        !Path::new("/proc/pressure/io").exists()
    );
}

/// Measures the time per reading of one device. Ignored because it depends on the host's load.
#[test]
#[ignore = "a measurement: cargo test -p leadline-runner --test runner probe:: -- --ignored --nocapture"]
fn reading_cost() {
    const READINGS: u32 = 10_000;
    let name = fs::read_dir("/sys/class/block")
        .unwrap()
        .flatten()
        .next()
        .unwrap()
        .file_name()
        .into_string()
        .unwrap();
    let mut probes = Probes::new(&[name]);
    let begin = Instant::now();
    (0..READINGS).for_each(|_| drop(std::hint::black_box(probes.read())));
    let each = begin.elapsed() / READINGS;
    eprintln!("{each:?} per reading");
    assert!(each.as_micros() < 1000);
}
