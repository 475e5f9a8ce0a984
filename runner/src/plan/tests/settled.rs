//! What comes out: defaults, paths, regions, layouts, phases and what it will cost.

use crate::plan::tests::host::{GIB, MIB, TableHost};
use crate::plan::tests::{plan, plan_on};
use leadline_protocol::job::OPTIONS;
use leadline_protocol::job::value::{EngineName, Fadvise, Fallocate, RateProcess, RwKind};
use leadline_protocol::phase::Phase;
use leadline_protocol::plan::Plan;
use leadline_protocol::plan::resolved::{Mode, ResolvedJob, Target, TargetKind};
use serde_json::{Value, json};

fn accepted(job: Value) -> Plan {
    let plan = plan(job.clone());
    assert!(plan.problems.is_empty(), "{job}\n{:#?}", plan.problems);
    plan
}

fn settled(job: Value) -> ResolvedJob {
    accepted(job).jobs.remove(0)
}

/// The value of one field as it stands in the resolved job's JSON.
fn field(job: &ResolvedJob, name: &str) -> Value {
    serde_json::to_value(job).unwrap()[name].clone()
}

#[test]
fn buffers_are_registered_where_the_limit_of_locked_memory_allows_it() {
    for (different, want) in [
        (json!({}), true),
        (json!({"iodepth": 2048}), true),
        (json!({"iodepth": 2049}), false),
        (json!({"iodepth": 1024, "numjobs": 3}), false),
        (json!({"fixedbufs": 0}), false),
        (json!({"iodepth": 4096, "fixedbufs": 1}), true),
        (json!({"ioengine": "psync", "fixedbufs": 1}), false),
    ] {
        let mut job = json!({"filename": "full", "direct": 1});
        different
            .as_object()
            .unwrap()
            .iter()
            .for_each(|(name, value)| job[name] = value.clone());
        assert_eq!(plan(job).jobs[0].ring.fixedbufs, want, "{different}");
    }
}

#[test]
fn the_limit_of_locked_memory_is_that_of_all_jobs_together() {
    let job = |different: Value| {
        let mut job = json!({"filename": "full", "direct": 1});
        different
            .as_object()
            .unwrap()
            .iter()
            .for_each(|(name, value)| job[name] = value.clone());
        job
    };
    // 8 MiB may be locked.
    let half = || job(json!({"iodepth": 1024}));
    for (jobs, want) in [
        (vec![half(), half()], vec![true, true]),
        (
            vec![half(), half(), job(json!({}))],
            vec![false, false, false],
        ),
        (
            vec![half(), half(), job(json!({"fixedbufs": 0}))],
            vec![true, true, false],
        ),
        (
            vec![half(), half(), job(json!({"ioengine": "psync"}))],
            vec![true, true, false],
        ),
        (
            vec![half(), half(), job(json!({"fixedbufs": 1}))],
            vec![false, false, true],
        ),
        (
            vec![job(json!({"iodepth": 2, "bs": "512m,4k"})), half()],
            vec![false, false],
        ),
        (
            vec![job(json!({"iodepth": 3, "bs": "512m,4k"})), half()],
            vec![false, true],
        ),
        (vec![job(json!({"mem": "thp", "numjobs": 4}))], vec![true]),
        (vec![job(json!({"mem": "thp", "numjobs": 5}))], vec![false]),
    ] {
        let plan = accepted(json!({"jobs": jobs}));
        assert_eq!(
            plan.jobs
                .iter()
                .map(|job| job.ring.fixedbufs)
                .collect::<Vec<_>>(),
            want,
            "{jobs:?}"
        );
    }
    let huge =
        json!({"filename": "full", "direct": 1, "mem": "mmaphuge", "iodepth": 513, "numjobs": 2});
    assert_eq!(
        accepted(huge).estimate.buffer_bytes,
        8 * MIB,
        "whole pages for each clone"
    );
}

#[test]
fn defaults_are_those_of_the_table() {
    let job = settled(json!({"filename": "full", "direct": 1}));
    assert_eq!(
        (
            job.name.as_str(),
            job.mode,
            job.pattern.rw,
            job.ring.ioengine
        ),
        ("job", Mode::Direct, RwKind::Read, EngineName::IoUring)
    );
    assert_eq!(
        (
            job.pattern.bs.read.min,
            job.pattern.bs.write.max,
            job.ring.iodepth,
            job.numjobs,
            job.timing.loops
        ),
        (4096, 4096, 1, 1, 1)
    );
    assert_eq!(
        (
            job.target.size,
            job.timing.io_size,
            job.target.offset,
            job.pattern.randseed
        ),
        (GIB, GIB, 0, 137)
    );
    assert_eq!(
        (
            job.timing.runtime_ms,
            job.timing.number_ios,
            job.ring.iodepth_batch_submit,
            job.pattern.rwmixread
        ),
        (None, None, None, None)
    );
    assert_eq!(
        (
            job.target.invalidate,
            job.target.fallocate,
            job.timing.thinktime_blocks,
            job.pattern.percentage_random.read
        ),
        (true, Fallocate::Written, 1, 100)
    );
}

/// Whatever is in the table comes out of the plan, so that a default changed there is changed everywhere.
#[test]
fn no_default_is_said_twice() {
    let plain = settled(json!({"filename": "full", "direct": 1, "rw": "randrw"}));
    for option in OPTIONS
        .iter()
        .filter(|option| option.default.is_some() && option.name != "rw")
    {
        let mut job = json!({"filename": "full", "direct": 1, "rw": "randrw"});
        // Saying the default is the same as saying nothing; these two only exist where they are said.
        if [
            "iodepth_batch_submit",
            "iodepth_batch_complete_min",
            "rwmixwrite",
            "randseed",
        ]
        .contains(&option.name)
        {
            continue;
        }
        job[option.name] = json!(option.default);
        assert_eq!(
            settled(job),
            plain,
            "{} = {:?}",
            option.name,
            option.default
        );
    }
}

#[test]
fn modes_follow_from_target_and_direct() {
    for (filename, direct, mode) in [
        ("full", 0, Mode::Buffered),
        ("full", 1, Mode::Direct),
        ("/dev/vdb", 0, Mode::Raw),
        ("/dev/vdb", 1, Mode::Raw),
    ] {
        assert_eq!(
            settled(json!({"filename": filename, "direct": direct})).mode,
            mode
        );
    }
    let own = settled(json!({"filename": "new", "size": "1m", "direct": 1, "loop": 1}));
    assert_eq!(
        (own.mode, own.targets[0].kind, own.targets[0].layout_bytes),
        (Mode::Raw, TargetKind::Loop, MIB)
    );
    let null = settled(json!({"ioengine": "null", "rw": "randrw", "iodepth": 8}));
    assert_eq!(
        (
            null.mode,
            null.target.size,
            null.targets[0].device.clone(),
            null.target.invalidate
        ),
        (Mode::Null, GIB, None, false)
    );
}

#[test]
fn times_and_batches_are_settled() {
    let job = settled(
        json!({"filename": "full", "direct": 1, "runtime": 12, "ramp_time": "1500ms", "startdelay": "1ms", "thinktime": 30, "iodepth": 16,
        "iodepth_batch_submit": 0, "iodepth_batch_complete_min": 99, "rate_iops": "100,200", "rwmixwrite": 30, "rw": "randrw"}),
    );
    assert_eq!(
        (
            job.timing.runtime_ms,
            job.timing.ramp_ms,
            job.timing.startdelay_ms,
            job.timing.thinktime_us
        ),
        (Some(12_000), 1500, 1, 30)
    );
    assert_eq!(
        (
            job.ring.iodepth_batch_submit,
            job.ring.iodepth_batch_complete_min,
            job.pattern.rwmixread
        ),
        (Some(16), Some(16), Some(70))
    );
    assert_eq!(
        (
            job.timing.rate_iops.read,
            job.timing.rate_iops.write,
            job.timing.rate.read
        ),
        (Some(100), Some(200), None)
    );
    assert_eq!(job.timing.rate_process, RateProcess::Linear);
    let random =
        settled(json!({"filename": "full", "direct": 1, "rate": "1m", "rate_process": "poisson"}));
    assert_eq!(
        (random.timing.rate_process, random.has_rate()),
        (RateProcess::Poisson, true)
    );
    assert_eq!(
        settled(json!({"filename": "full", "direct": 1, "rate": 0}))
            .timing
            .rate
            .read,
        None,
        "0 has no limit, as in fio"
    );
}

#[test]
fn the_kernel_is_told_the_pattern() {
    let hint = |rw: &str, hint: Value| {
        settled(json!({"filename": "full", "direct": 0, "rw": rw, "fadvise_hint": hint}))
            .target
            .fadvise_hint
    };
    assert_eq!(
        [
            hint("randread", json!(1)),
            hint("read", json!(1)),
            hint("read", json!("random")),
            hint("read", json!(0))
        ],
        [
            Fadvise::Random,
            Fadvise::Sequential,
            Fadvise::Random,
            Fadvise::None
        ]
    );
}

#[test]
fn shares_of_data_need_fresh_data() {
    let data = |option: &str, value: u32| {
        let job = settled(json!({"filename": "full", "direct": 1, "rw": "write", option: value}));
        (job.data.zero_buffers, job.data.refill_buffers)
    };
    assert_eq!(
        [
            data("buffer_compress_percentage", 50),
            data("dedupe_percentage", 1),
            data("refill_buffers", 1)
        ],
        [(false, true); 3]
    );
    assert_eq!(
        [
            data("buffer_compress_percentage", 100),
            data("zero_buffers", 1)
        ],
        [(true, false); 2]
    );
    assert_eq!(data("dedupe_percentage", 0), (false, false));
}

#[test]
fn seeds_differ_by_job_also_when_said() {
    let seeds = |job: Value| {
        accepted(json!({"jobs": [job.clone(), job]}))
            .jobs
            .iter()
            .map(|job| job.pattern.randseed)
            .collect::<Vec<_>>()
    };
    let plain = seeds(json!({"filename": "full", "direct": 1}));
    assert!(plain[0] == 137 && plain[1] != 137 && plain[1] < 1 << 53);
    let said = seeds(json!({"filename": "full", "direct": 1, "randseed": 7}));
    assert!(said[0] == 7 && said[1] != 7 && said[1] < 1 << 53);
    let fresh = json!({"filename": "full", "direct": 1, "randrepeat": 0});
    assert_ne!(seeds(fresh.clone())[0], seeds(fresh)[0]);
}

#[test]
fn names_are_told_apart() {
    let job = |name: &str| json!({"name": name, "filename": "full", "direct": 1});
    let names = accepted(json!({"jobs": [job("a"), job("b"), job("a"), job("a")]}))
        .jobs
        .into_iter()
        .map(|job| job.name)
        .collect::<Vec<_>>();
    assert_eq!(names, ["a", "b", "a-2", "a-3"]);
}

/// Path, clone, offset, size, length and layout, the last four in MiB.
type Shape<'a> = (&'a str, Option<u32>, u64, u64, u64, u64);

fn shape(target: &Target) -> Shape<'_> {
    (
        &target.path,
        target.worker,
        target.offset / MIB,
        target.size / MIB,
        target.length / MIB,
        target.layout_bytes / MIB,
    )
}

fn check_targets(job: Value, want: &[Shape]) -> ResolvedJob {
    let job = settled(job);
    assert_eq!(job.targets.iter().map(shape).collect::<Vec<_>>(), want);
    job
}

#[test]
fn files_are_named_and_shared_as_in_fio() {
    check_targets(
        json!({"filename": "new", "size": "1m", "direct": 1}),
        &[("/data/new", None, 0, 1, 1, 1)],
    );
    check_targets(
        json!({"filename": "sub", "directory": "deep", "size": "1m", "direct": 1}),
        &[("/data/deep/sub", None, 0, 1, 1, 1)],
    );
    check_targets(
        json!({"filename": "link", "direct": 1}),
        &[("/data/full", None, 0, 1024, 1024, 0)],
    );
    check_targets(
        json!({"name": "a/b", "size": "2m", "numjobs": 2, "nrfiles": 2, "direct": 1}),
        &[
            ("/data/a_b.0.0", Some(0), 0, 1, 1, 1),
            ("/data/a_b.0.1", Some(0), 0, 1, 1, 1),
            ("/data/a_b.1.0", Some(1), 0, 1, 1, 1),
            ("/data/a_b.1.1", Some(1), 0, 1, 1, 1),
        ],
    );
    check_targets(
        json!({"filename": "full", "numjobs": 4, "direct": 1}),
        &[("/data/full", None, 0, 1024, 1024, 0)],
    );
    check_targets(
        json!({"filename": "full:short", "direct": 1}),
        &[
            ("/data/full", None, 0, 1024, 1024, 0),
            ("/data/short", None, 0, 64, 64, 0),
        ],
    );
}

#[test]
fn regions_are_bytes_of_their_files() {
    let job = check_targets(
        json!({"filename": "full", "size": "50%", "offset": "25%", "direct": 1}),
        &[("/data/full", None, 256, 512, 1024, 0)],
    );
    assert_eq!((job.target.size, job.target.offset), (512 * MIB, 256 * MIB));
    check_targets(
        json!({"filename": "/dev/vdb", "direct": 1, "offset": "9g"}),
        &[("/dev/vdb", None, 9216, 1024, 10240, 0)],
    );
    check_targets(
        json!({"filename": "full", "size": "100m", "offset_increment": "100m", "numjobs": 2, "direct": 1}),
        &[
            ("/data/full", Some(0), 0, 100, 1024, 0),
            ("/data/full", Some(1), 100, 100, 1024, 0),
        ],
    );
    let rest = check_targets(
        json!({"filename": "full", "offset_increment": "512m", "numjobs": 2, "direct": 1}),
        &[
            ("/data/full", Some(0), 0, 1024, 1024, 0),
            ("/data/full", Some(1), 512, 512, 1024, 0),
        ],
    );
    assert_eq!((rest.io_size_of(0), rest.io_size_of(1)), (GIB, 512 * MIB));
    check_targets(
        json!({"filename": "new", "filesize": "8m", "size": "4m", "offset": "50%", "direct": 1}),
        &[("/data/new", None, 4, 4, 8, 8)],
    );
    check_targets(
        json!({"filename": "odd", "direct": 0, "bs": 100}),
        &[("/data/odd", None, 0, 0, 0, 0)],
    );
    assert_eq!(
        settled(json!({"filename": "odd", "direct": 0, "bs": 300}))
            .target
            .size,
        900
    );
}

#[test]
fn work_is_counted_per_clone() {
    let work = |different: Value| {
        let mut job = json!({"filename": "full", "direct": 1, "size": "10m"});
        different
            .as_object()
            .unwrap()
            .iter()
            .for_each(|(name, value)| job[name] = value.clone());
        settled(job).timing.io_size / MIB
    };
    assert_eq!(
        [
            work(json!({})),
            work(json!({"loops": 3})),
            work(json!({"io_size": "25m"})),
            work(json!({"io_size": "50%", "loops": 2}))
        ],
        [10, 30, 25, 10]
    );
    assert_eq!(
        [work(json!({"io_size": 0})), work(json!({"io_size": "0%"}))],
        [10, 10],
        "0 is not said, as in fio"
    );
}

#[test]
fn files_are_laid_out_as_far_as_they_are_missing() {
    let write = |filename: &str, more: Value| {
        let mut job = json!({"filename": filename, "rw": "write", "size": "100m", "direct": 0});
        more.as_object()
            .unwrap()
            .iter()
            .for_each(|(name, value)| job[name] = value.clone());
        job
    };
    check_targets(
        write("short", json!({})),
        &[("/data/short", None, 0, 100, 100, 36)],
    );
    check_targets(
        write("new", json!({"fallocate": "none"})),
        &[("/data/new", None, 0, 100, 0, 0)],
    );
    check_targets(
        write("new", json!({"fallocate": "native"})),
        &[("/data/new", None, 0, 100, 100, 0)],
    );
    check_targets(
        write("new", json!({"fallocate": "none", "overwrite": 1})),
        &[("/data/new", None, 0, 100, 100, 100)],
    );
    check_targets(
        write("sparse", json!({})),
        &[("/data/sparse", None, 0, 100, 1024, 0)],
    );
    check_targets(
        write("sparse", json!({"overwrite": 1})),
        &[("/data/sparse", None, 0, 100, 1024, 1024)],
    );
    check_targets(
        write("short", json!({"file_append": 1})),
        &[("/data/short", None, 64, 100, 64, 0)],
    );
    check_targets(
        write("new", json!({"create_on_open": 1})),
        &[("/data/new", None, 0, 100, 0, 0)],
    );
    check_targets(
        write("new", json!({"offset_increment": "100m", "numjobs": 2})),
        &[
            ("/data/new", Some(0), 0, 100, 200, 200),
            ("/data/new", Some(1), 100, 100, 200, 0),
        ],
    );
}

#[test]
fn a_later_job_meets_what_an_earlier_one_laid_out() {
    let job = |name: &str, size: &str| json!({"name": name, "filename": "new", "size": size, "direct": 1});
    let plan = accepted(json!({"jobs": [job("a", "10m"), job("b", "50%"), job("c", "15m")]}));
    let shapes: Vec<_> = plan.jobs.iter().map(|job| shape(&job.targets[0])).collect();
    assert_eq!(
        shapes,
        [
            ("/data/new", None, 0, 10, 10, 10),
            ("/data/new", None, 0, 5, 10, 0),
            ("/data/new", None, 0, 15, 15, 5)
        ]
    );
    assert_eq!(plan.estimate.layout_bytes, 15 * MIB);
    assert!(
        plan.findings
            .iter()
            .all(|finding| finding.code != "file_extended"),
        "the run made it itself"
    );
}

#[test]
fn alignment_is_the_coarser_of_memory_and_offset() {
    assert_eq!(
        settled(json!({"filename": "full", "direct": 1})).targets[0].alignment,
        512
    );
    assert_eq!(
        settled(json!({"filename": "full", "direct": 0})).targets[0].alignment,
        1
    );
    assert_eq!(
        settled(json!({"filename": "/dev/loop0", "direct": 1})).targets[0].alignment,
        4096
    );
}

#[test]
fn sizes_are_settled_per_direction() {
    let job = settled(
        json!({"filename": "full", "direct": 1, "rw": "randrw", "bsrange": "4k-10k,8k-8k"}),
    );
    assert_eq!(
        (
            job.pattern.bs.read.min,
            job.pattern.bs.read.max,
            job.pattern.bs.write.min,
            job.pattern.bs.write.max
        ),
        (4096, 8192, 8192, 8192)
    );
    let job = settled(json!({"filename": "full", "direct": 1, "bssplit": "4k/60:64k/40"}));
    assert_eq!(
        (
            job.pattern.bs.read.min,
            job.pattern.bs.read.max,
            job.pattern.bs.read.split.len()
        ),
        (4096, 65536, 2)
    );
    assert_eq!(field(&job, "blockalign")["read"], json!(4096));
}

#[test]
fn phases_and_costs_are_told() {
    let plan = accepted(
        json!({"filename": "new", "size": "1g", "direct": 0, "rw": "randrw", "rwmixread": 75, "runtime": "30s", "ramp_time": "5s",
        "startdelay": "2s", "iodepth": 8, "numjobs": 2, "end_fsync": 1, "unlink": 1, "drop_caches": 1}),
    );
    let phases: Vec<Phase> = plan.phases.iter().map(|phase| phase.phase).collect();
    assert_eq!(
        phases,
        [
            Phase::Guard,
            Phase::Layout,
            Phase::DropCaches,
            Phase::Invalidate,
            Phase::Ramp,
            Phase::Measure,
            Phase::Flush,
            Phase::CleanUp
        ]
    );
    let estimate = plan.estimate;
    assert_eq!(
        (
            estimate.seconds,
            estimate.layout_bytes,
            estimate.measure_write_bytes
        ),
        (Some(37.0), GIB, Some(GIB / 2))
    );
    assert_eq!(estimate.buffer_bytes, 8 * 2 * 4096);
    assert!(
        estimate
            .seconds_note
            .is_some_and(|note| note.contains("At most") && note.contains("1 GiB are laid out"))
    );
}

#[test]
fn costs_are_bounded_by_what_bounds_them() {
    let cost = |job: Value| accepted(job).estimate;
    assert_eq!(cost(json!({"filename": "full", "direct": 1})).seconds, None);
    let timed = cost(
        json!({"filename": "full", "direct": 1, "rw": "write", "runtime": 10, "time_based": 1}),
    );
    assert_eq!(
        (timed.seconds, timed.seconds_note, timed.measure_write_bytes),
        (Some(10.0), None, None)
    );
    assert_eq!(
        cost(json!({"filename": "full", "direct": 1, "rw": "write", "number_ios": 10}))
            .measure_write_bytes,
        Some(40960)
    );
    assert_eq!(
        cost(json!({"filename": "full", "direct": 1, "ioengine": "psync", "iodepth": 64}))
            .buffer_bytes,
        4096
    );
}

#[test]
fn buffers_are_as_large_as_the_largest_io_that_the_job_does() {
    let buffers = |different: Value| {
        let mut job = json!({"filename": "full", "direct": 1, "bs": "4k,64m,128m", "iodepth": 256});
        different
            .as_object()
            .unwrap()
            .iter()
            .for_each(|(name, value)| job[name] = value.clone());
        let plan = plan_on(
            &TableHost {
                memory: 64 * GIB,
                ..TableHost::default()
            },
            job.clone(),
        );
        assert!(plan.problems.is_empty(), "{job}\n{:#?}", plan.problems);
        (plan.jobs[0].largest_buffer(), plan.estimate.buffer_bytes)
    };
    assert_eq!(buffers(json!({"rw": "randread"})), (4096, MIB));
    assert_eq!(buffers(json!({"rw": "randwrite"})), (64 * MIB, 16 * GIB));
    assert_eq!(buffers(json!({"rw": "randrw"})), (64 * MIB, 16 * GIB));
    assert_eq!(
        buffers(json!({"rw": "randtrim", "filename": "/dev/loop0"})),
        (1, 4096),
        "trims move nothing, one at a time"
    );
    assert_eq!(
        buffers(json!({"rw": "randrw", "ioengine": "null"})),
        (1, MIB)
    );
}

#[test]
fn one_sentence_tells_what_the_number_means() {
    let tell = |job: Value| accepted(job).measures;
    assert_eq!(
        tell(json!({"filename": "full", "rw": "randread", "iodepth": 32, "direct": 1})),
        "How fast ext4 on vda does random reads of 4 KiB at depth 32, past the page cache."
    );
    assert!(
        tell(json!({"filename": "full", "rw": "randread", "direct": 0}))
            .contains("the device never sees")
    );
    assert!(
        tell(json!({"filename": "full", "rw": "randwrite", "direct": 0})).contains("memory takes")
    );
    assert!(
        tell(json!({"filename": "full", "rw": "randwrite", "direct": 0, "fsync": 1}))
            .contains("durable")
    );
    assert!(
        tell(json!({"filename": "/dev/vdb", "direct": 1, "numjobs": 2})).contains(
            "the device vdb itself does sequential reads of 4 KiB at depth 1 from 2 clones"
        )
    );
    assert!(
        tell(json!({"filename": "new", "size": "1m", "direct": 1, "loop_device": 1}))
            .contains("a loop device of our own on /data/new")
    );
    assert!(tell(json!({"ioengine": "null"})).contains("ceiling"));
}

#[test]
fn io_uring_falls_back_only_when_the_job_says_so() {
    let host = TableHost {
        io_uring: false,
        ..TableHost::default()
    };
    let plan = plan_on(
        &host,
        json!({"filename": "full", "direct": 1, "ioengine_fallback": "psync"}),
    );
    assert!(plan.problems.is_empty() && plan.jobs[0].ring.ioengine == EngineName::Psync);
    assert_eq!(plan.findings[0].code, "engine_fallback");
}

#[test]
fn states_are_the_options_that_they_stand_for() {
    let of = |filename: &str, rw: &str, name: &str, word: &str| {
        let mut job = json!({"filename": filename, "size": "1m", "direct": 0, "rw": rw});
        job[name] = json!(word);
        settled(job)
    };
    let fresh = of("ours", "write", "file_state", "fresh");
    assert_eq!(
        (
            fresh.target.fallocate,
            fresh.targets[0].length,
            fresh.targets[0].existed
        ),
        (Fallocate::None, 0, false)
    );
    let written = of("ours-sparse", "read", "file_state", "written");
    assert_eq!(
        (written.target.overwrite, written.targets[0].layout_bytes),
        (true, GIB)
    );
    assert_eq!(
        of("full", "read", "file_state", "written").targets[0].layout_bytes,
        0
    );
    assert!(
        of("sparse", "write", "file_state", "overwrite")
            .target
            .overwrite
    );
    assert_eq!(
        of("full", "write", "file_state", "append").targets[0].offset,
        GIB
    );
    let (cold, warm) = (
        of("full", "read", "cache_state", "cold"),
        of("full", "read", "cache_state", "warm"),
    );
    assert_eq!(
        (
            cold.target.invalidate,
            cold.target.pre_read,
            warm.target.invalidate,
            warm.target.pre_read
        ),
        (true, false, false, true)
    );
}
