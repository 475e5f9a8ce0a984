//! Resolved options and their defaults.

use crate::plan::tests::{
    accepted,
    host::{GIB, MIB, TableHost},
    plan_on, resolved_job,
};
use leadline_protocol::{
    job::{
        OPTIONS,
        engine::EngineName,
        keyword::{Fadvise, Fallocate, RateProcess},
        rw::RwKind,
    },
    plan::{job::Mode, target::TargetKind},
};
use serde_json::{Value, json};

#[test]
fn defaults_come_from_the_option_table() {
    let job = resolved_job(json!({"filename": "full", "direct": 1}));
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
        (true, Fallocate::Written, Some(1), 100)
    );
}

#[test]
fn setting_an_option_to_its_default_has_no_effect() {
    let plain = resolved_job(json!({"filename": "full", "direct": 1, "rw": "randrw"}));
    for option in OPTIONS
        .iter()
        .filter(|option| option.default.is_some() && option.name != "rw")
    {
        let mut job = json!({"filename": "full", "direct": 1, "rw": "randrw"});
        // Setting these options to their defaults is not the same as leaving them unset.
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
            resolved_job(job),
            plain,
            "{} = {:?}",
            option.name,
            option.default
        );
    }
}

#[test]
fn mode_depends_on_target_and_direct() {
    for (filename, direct, mode) in [
        ("full", 0, Mode::Buffered),
        ("full", 1, Mode::Direct),
        ("/dev/vdb", 0, Mode::Raw),
        ("/dev/vdb", 1, Mode::Raw),
    ] {
        assert_eq!(
            resolved_job(json!({"filename": filename, "direct": direct})).mode,
            mode
        );
    }
    let own = resolved_job(json!({"filename": "new", "size": "1m", "direct": 1, "loop": 1}));
    assert_eq!(
        (own.mode, own.targets[0].kind, own.targets[0].layout_bytes),
        (Mode::Raw, TargetKind::Loop, MIB)
    );
    let null = resolved_job(json!({"ioengine": "null", "rw": "randrw", "iodepth": 8}));
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
fn times_and_batches_are_resolved() {
    let job = resolved_job(
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
    let random = resolved_job(
        json!({"filename": "full", "direct": 1, "rate": "1m", "rate_process": "poisson"}),
    );
    assert_eq!(
        (random.timing.rate_process, random.has_rate()),
        (RateProcess::Poisson, true)
    );
    assert_eq!(
        resolved_job(json!({"filename": "full", "direct": 1, "rate": 0}))
            .timing
            .rate
            .read,
        None,
        "0 means unlimited, as in fio"
    );
}

#[test]
fn fadvise_hint_follows_the_pattern() {
    let hint = |rw: &str, hint: Value| {
        resolved_job(json!({"filename": "full", "direct": 0, "rw": rw, "fadvise_hint": hint}))
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
fn compress_and_dedupe_percentages_refill_buffers() {
    let data = |option: &str, value: u32| {
        let job =
            resolved_job(json!({"filename": "full", "direct": 1, "rw": "write", option: value}));
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
fn seeds_differ_by_job() {
    let seeds = |job: Value| {
        accepted(json!({"jobs": [job.clone(), job]}))
            .jobs
            .iter()
            .map(|job| job.pattern.randseed)
            .collect::<Vec<_>>()
    };
    let plain = seeds(json!({"filename": "full", "direct": 1}));
    assert!(plain[0] == 137 && plain[1] != 137 && plain[1] < 1 << 53);
    let requested = seeds(json!({"filename": "full", "direct": 1, "randseed": 7}));
    assert!(requested[0] == 7 && requested[1] != 7 && requested[1] < 1 << 53);
    let fresh = json!({"filename": "full", "direct": 1, "randrepeat": 0});
    assert_ne!(seeds(fresh.clone())[0], seeds(fresh)[0]);
}

#[test]
fn repeated_job_names_are_numbered() {
    let job = |name: &str| json!({"name": name, "filename": "full", "direct": 1});
    let names = accepted(json!({"jobs": [job("a"), job("b"), job("a"), job("a")]}))
        .jobs
        .into_iter()
        .map(|job| job.name)
        .collect::<Vec<_>>();
    assert_eq!(names, ["a", "b", "a-2", "a-3"]);
}

#[test]
fn alignment_is_the_maximum_of_memory_and_offset() {
    assert_eq!(
        resolved_job(json!({"filename": "full", "direct": 1})).targets[0].alignment,
        512
    );
    assert_eq!(
        resolved_job(json!({"filename": "full", "direct": 0})).targets[0].alignment,
        1
    );
    assert_eq!(
        resolved_job(json!({"filename": "/dev/loop0", "direct": 1})).targets[0].alignment,
        4096
    );
}

#[test]
fn block_sizes_are_resolved_per_direction() {
    let job = resolved_job(
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
    let job = resolved_job(json!({"filename": "full", "direct": 1, "bssplit": "4k/60:64k/40"}));
    assert_eq!(
        (
            job.pattern.bs.read.min,
            job.pattern.bs.read.max,
            job.pattern.bs.read.split.len()
        ),
        (4096, 65536, 2)
    );
    assert_eq!(job.pattern.blockalign.read, 4096);
}

#[test]
fn io_uring_falls_back_only_if_requested() {
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
fn states_expand_to_options() {
    let of = |filename: &str, rw: &str, name: &str, value: &str| {
        let mut job = json!({"filename": filename, "size": "1m", "direct": 0, "rw": rw});
        job[name] = json!(value);
        resolved_job(job)
    };
    let fresh = of("owned", "write", "file_state", "fresh");
    assert_eq!(
        (
            fresh.target.fallocate,
            fresh.targets[0].length,
            fresh.targets[0].existed
        ),
        (Fallocate::None, 0, false)
    );
    let written = of("owned-sparse", "read", "file_state", "written");
    assert_eq!(
        (written.target.overwrite, written.targets[0].layout_bytes),
        (true, MIB)
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
