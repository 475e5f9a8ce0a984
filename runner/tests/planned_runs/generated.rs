//! Generated jobs. A seed generates the same jobs on every host.

use crate::files::{Case, Content, Filesystem, KIB, MIB};
use rand::{RngExt, SeedableRng, rngs::Xoshiro256PlusPlus};
use serde_json::{Value, json};

struct Generator(Xoshiro256PlusPlus);

pub(crate) fn case(seed: u64) -> Case {
    let mut random = Generator(Xoshiro256PlusPlus::seed_from_u64(seed));
    let filesystem = random.pick(&[Filesystem::Ext4, Filesystem::Ext4, Filesystem::Tmpfs]);
    let content = random.pick(&[
        Content::Absent,
        Content::Absent,
        Content::Absent,
        Content::Owned,
        Content::Owned,
        Content::OwnedSparse,
        Content::Foreign,
        Content::LoopDevice,
    ]);
    let count = if random.one_in(4) { 2 } else { 1 };
    let mut case = Case {
        filesystem,
        content,
        length: random.length(content),
        confirms: !random.one_in(8),
        jobs: Vec::new(),
    };
    // A separate generator so that the other options do not depend on these.
    let mut further = Generator(Xoshiro256PlusPlus::seed_from_u64(!seed));
    for index in 0..count {
        let mut job = random.job(&case, index);
        further.further_options(&mut job);
        case.jobs.push(job.into());
    }
    case
}

/// A job that is being generated.
struct Options(serde_json::Map<String, Value>);

impl From<Options> for Value {
    fn from(options: Options) -> Self {
        Self::Object(options.0)
    }
}

impl Options {
    fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.0.insert(name.into(), value.into());
    }

    fn rw(&self) -> &str {
        self.0["rw"].as_str().unwrap()
    }

    fn is_random(&self) -> bool {
        self.rw().starts_with("rand")
    }

    fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Whether the job changes its target.
    fn destroys(&self) -> bool {
        !matches!(self.rw().trim_start_matches("rand"), "read")
    }
}

fn is_trim(job: &Value) -> bool {
    job["rw"].as_str().unwrap().contains("trim")
}

impl Generator {
    fn one_in(&mut self, chances: u32) -> bool {
        self.0.random_range(0..chances) == 0
    }

    fn within(&mut self, low: u64, high: u64) -> u64 {
        self.0.random_range(low..=high)
    }

    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.0.random_range(0..choices.len())]
    }

    fn length(&mut self, content: Content) -> u64 {
        match content {
            Content::Absent => 0,
            Content::LoopDevice => 4 * MIB,
            _ if self.one_in(6) => self.within(1, MIB),
            _ => self.within(64, 512) * 4 * KIB,
        }
    }

    fn job(&mut self, case: &Case, index: u64) -> Options {
        let mut job = Options(serde_json::Map::new());
        job.set("name", format!("job{index}"));
        self.pattern(case, &mut job);
        // A direct write that cannot evict pages of concurrent buffered I/O makes the next fsync
        // fail with EIO (mm/filemap.c, dio_warn_stale_pagecache).
        if let Some(first) = case.jobs.first() {
            job.set("direct", first["direct"].clone());
        }
        self.blocks(&mut job);
        self.region(case, &mut job);
        self.amount(&mut job);
        self.engine(&mut job);
        self.times(&mut job);
        self.rates(&mut job);
        self.state(case, &mut job);
        self.data(&mut job);
        if job.destroys() && self.one_in(5) {
            self.verify(&mut job);
        }
        if self.one_in(7) {
            self.mistake(&mut job);
        }
        job
    }

    /// Adds an option that few jobs have.
    fn further_options(&mut self, job: &mut Options) {
        if !self.one_in(3) {
            return;
        }
        let options = [
            ("file_service_type", json!("sequential")),
            ("file_service_type", json!("random:3")),
            ("file_service_type", json!("roundrobin:2")),
            ("rw_sequencer", json!("identical")),
            ("random_distribution", json!("zipf:1.2:0.3")),
            ("random_distribution", json!("normal:20:1")),
            ("random_distribution", json!("zoned_abs:60/32k:40/32k")),
            ("offset_align", json!("16k")),
            ("filename_format", json!("$jobname-$filenum")),
            ("filename_format", json!("$filenum.$jobname.$jobnum")),
            ("buffer_pattern", json!("0xdeadbeef")),
            ("cpus_allowed", json!("0")),
            ("thinktime_iotime", json!("20ms")),
            ("thinktime_spin", json!(100)),
            ("startdelay", json!("10ms-50ms")),
            ("create_only", json!(1)),
            ("fsync_on_close", json!(1)),
            ("exitall", json!(1)),
            ("rate_iops_min", json!(1)),
            ("prio", json!(5)),
            ("prioclass", json!(3)),
            ("group_reporting", json!(1)),
            ("bs", json!("8k,")),
        ];
        let (name, value) = &options[self.0.random_range(0..options.len())];
        job.set(name, value.clone());
        if *name == "cpus_allowed" {
            job.set("cpus_allowed_policy", "split");
        }
    }

    fn verify(&mut self, job: &mut Options) {
        job.set("verify", "crc32c");
        for option in ["do_verify", "verify_fatal"] {
            if self.one_in(4) {
                job.set(option, self.within(0, 1));
            }
        }
        if self.one_in(4) {
            job.set("verify_interval", self.pick(&["512", "1k", "4k"]));
        }
    }

    fn pattern(&mut self, case: &Case, job: &mut Options) {
        let kinds = [
            "read",
            "write",
            "rw",
            "randread",
            "randwrite",
            "randrw",
            "randwrite",
            "randread",
        ];
        let rw = if case.content == Content::LoopDevice && self.one_in(2) {
            self.pick(&["trim", "randtrim", "trimwrite", "randtrimwrite"])
        } else {
            self.pick(&kinds)
        };
        // The kernel rejects a trim of pages that another job is writing to (blkdev_fallocate:
        // EBUSY).
        let rw = match &case.jobs[..] {
            [first, ..] if is_trim(first) != rw.contains("trim") => "randread",
            _ => rw,
        };
        job.set("rw", rw);
        job.set("direct", self.within(0, 1));
        job.set("randseed", self.within(0, 1000));
        if job.is_random() {
            self.random_offsets(job);
        } else if self.one_in(5) {
            let modifier = self.pick(&["4k", "36k", "-4k", "-8k"]);
            job.set("rw", format!("{rw}:{modifier}"));
        }
        if rw.ends_with("rw") && self.one_in(2) {
            job.set("rwmixread", self.pick(&[0, 1, 30, 70, 75, 99, 100]));
        }
    }

    fn random_offsets(&mut self, job: &mut Options) {
        let rw = job.rw().to_owned();
        if self.one_in(8) {
            job.set("rw", format!("{rw}:{}", self.within(2, 9)));
        }
        if self.one_in(6) {
            job.set("norandommap", 1);
        }
        if self.one_in(6) {
            let kinds = ["zipf:1.1", "pareto:0.3", "normal:20", "zoned:50/10:50/90"];
            job.set("random_distribution", self.pick(&kinds));
        }
        if self.one_in(8) {
            job.set("percentage_random", self.pick(&[0, 20, 50, 99]));
        }
    }

    fn blocks(&mut self, job: &mut Options) {
        let sizes = ["4k", "4k", "4k", "8k", "16k", "20k", "64k"];
        match self.within(0, 9) {
            0 => job.set("bssplit", "4k/50:12k/30:64k/20"),
            1 => job.set("bssplit", "8k/60:32k/40"),
            2 => job.set("bsrange", "4k-64k"),
            3 => job.set("bs", "4k,16k,32k"),
            4 => job.set("bs", "16k,4k,8k"),
            _ => job.set("bs", self.pick(&sizes)),
        }
        if self.one_in(12) {
            job.set("blockalign", self.pick(&["4k", "8k", "64k"]));
        }
    }

    fn region(&mut self, case: &Case, job: &mut Options) {
        if case.content == Content::Absent && self.one_in(3) {
            job.set("directory", ".");
            if self.one_in(2) {
                job.set("nrfiles", self.within(1, 3));
            }
        }
        match self.within(0, 5) {
            0 if case.content != Content::Absent => job.set("size", "50%"),
            1 if case.content != Content::Absent => {}
            2 => job.set("size", self.within(1, MIB)),
            _ => job.set("size", self.within(16, 256) * 4 * KIB),
        }
        if self.one_in(4) {
            job.set("offset", self.within(0, 64) * 4 * KIB);
        }
        if self.one_in(3) {
            job.set("numjobs", self.within(1, 3));
            if self.one_in(2) {
                job.set("offset_increment", self.within(0, 64) * 4 * KIB);
            }
        }
        if self.one_in(12) {
            job.set("filesize", self.within(16, 512) * 4 * KIB);
        }
    }

    fn amount(&mut self, job: &mut Options) {
        if self.one_in(5) {
            job.set("number_ios", self.within(1, 64));
        }
        if self.one_in(5) {
            job.set("io_size", self.within(16, 3000) * KIB);
        }
        if self.one_in(8) {
            job.set("loops", self.within(1, 3));
        }
    }

    fn engine(&mut self, job: &mut Options) {
        let engines = [
            "psync", "io_uring", "io_uring", "null", "libaio", "libaio", "sync", "pvsync",
            "pvsync2", "mmap",
        ];
        let mut engine = self.pick(&engines);
        // A mapping cannot be direct.
        if engine == "mmap" && job.0["direct"] == 1 && job.0["randseed"] != 0 {
            engine = "pvsync";
        }
        job.set("ioengine", engine);
        // The default size is 1 GiB.
        if engine == "null" && !job.has("size") {
            job.set("size", MIB);
        }
        if self.one_in(2) {
            let depth = self.within(1, 16);
            job.set("iodepth", depth);
            if self.one_in(3) {
                job.set("iodepth_batch_submit", self.within(0, depth));
            }
            if self.one_in(4) {
                job.set("iodepth_batch_complete_min", self.within(1, depth));
            }
        }
        for (option, chances) in [("fsync", 8), ("fdatasync", 12)] {
            if self.one_in(chances) {
                job.set(option, self.within(1, 16));
            }
        }
        if self.one_in(5) {
            job.set("end_fsync", 1);
        }
        if self.one_in(12) {
            job.set("sync", self.pick(&["sync", "dsync"]));
        }
    }

    fn times(&mut self, job: &mut Options) {
        if self.one_in(3) {
            job.set("runtime", format!("{}ms", self.within(50, 250)));
            if !self.one_in(3) {
                job.set("time_based", 1);
            }
        }
        if self.one_in(6) {
            job.set("ramp_time", format!("{}ms", self.within(10, 100)));
        }
        if self.one_in(8) {
            job.set("startdelay", format!("{}ms", self.within(10, 100)));
        }
    }

    /// Rate limits low enough to throttle a small job within a second.
    fn rates(&mut self, job: &mut Options) {
        if self.one_in(8) {
            job.set(
                "rate_iops",
                self.pick(&["500", "2000", "400,800", "800,400"]),
            );
            job.set("rate_process", self.pick(&["linear", "poisson"]));
        } else if self.one_in(10) {
            job.set("rate", self.pick(&["4m", "16m", "4m,8m", "16m,2m"]));
        }
        if self.one_in(10) {
            job.set("thinktime", self.within(1, 2000));
            if self.one_in(2) {
                job.set("thinktime_blocks", self.within(1, 16));
            }
        }
    }

    fn state(&mut self, case: &Case, job: &mut Options) {
        let states = ["written", "overwrite", "append", "fresh", "as-is"];
        let kinds = ["none", "native", "posix", "keep", "truncate", "written"];
        match self.within(0, 13) {
            0 | 1 => job.set("file_state", self.pick(&states)),
            2 | 3 if job.destroys() => job.set("fallocate", self.pick(&kinds)),
            4 if job.destroys() => job.set("overwrite", 1),
            5 if job.destroys() => job.set("file_append", 1),
            6 if job.destroys() => job.set("create_on_open", 1),
            7 if case.content != Content::LoopDevice => job.set("loop_device", 1),
            _ => {}
        }
        match self.within(0, 11) {
            0 | 1 => job.set("cache_state", self.pick(&["cold", "warm", "as-is"])),
            2 => job.set("pre_read", 1),
            3 => job.set("invalidate", 0),
            4 => job.set("fadvise_hint", self.pick(&["0", "random", "sequential"])),
            _ => {}
        }
        if self.one_in(4) {
            job.set("unlink", 1);
        }
    }

    fn data(&mut self, job: &mut Options) {
        match self.within(0, 15) {
            0 => job.set("zero_buffers", 1),
            1 => job.set("refill_buffers", 1),
            2 => job.set("scramble_buffers", 0),
            3 => job.set("buffer_compress_percentage", 50),
            4 => job.set("dedupe_percentage", 30),
            _ => {}
        }
    }

    /// Adds one invalid option, or one that conflicts with another option.
    fn mistake(&mut self, job: &mut Options) {
        let mistakes = [
            ("bs", json!("1000")),
            ("bs", json!("0")),
            ("bs", json!("4k-")),
            ("bssplit", json!("4k/50:6k/50")),
            ("bsrange", json!("64k-4k")),
            ("size", json!("100t")),
            ("size", json!(0)),
            ("size", json!(100)),
            ("io_size", json!(100)),
            ("offset", json!(513)),
            ("offset", json!("90%")),
            ("number_ios", json!(0)),
            ("iodepth", json!(0)),
            ("iodepth", json!(1_000_000)),
            ("iodepth_batch_complete_min", json!(100)),
            ("numjobs", json!(0)),
            ("rw", json!("trim")),
            ("rw", json!("rw:8")),
            ("rwmixread", json!(101)),
            ("time_based", json!(1)),
            ("nrfiles", json!(0)),
            ("file_append", json!(1)),
            ("file_state", json!("fresh")),
            ("hipri", json!(1)),
            ("rate_iops", json!(0)),
            ("cpus_allowed", json!("4000")),
            ("nice", json!(30)),
            ("verify", json!("crc32c")),
            ("create_on_open", json!(1)),
            ("mem", json!("mmaphuge")),
            ("overwrite", json!(1)),
            ("file_service_type", json!("zipf")),
            ("random_distribution", json!("zoned_abs:100/1t")),
            ("offset_align", json!(0)),
            ("buffer_pattern", json!("'file'")),
            ("prio", json!(8)),
            ("rate_min", json!("1t")),
            ("ioengine", json!("posixaio")),
        ];
        let (name, value) = &mistakes[self.0.random_range(0..mistakes.len())];
        if self.one_in(20) {
            job.0.remove("direct");
        } else if !job.has(name) || self.one_in(2) {
            job.set(name, value.clone());
        }
    }
}
