//! Files in known states, private disks, other users of a disk, and the true shares of the cases.

use crate::{
    case::{Expected, Situation, Truth},
    scratch::{self, Loop, Mounted, locked_pages::LockedPages, program::with},
};
use rand::{SeedableRng, rngs::Xoshiro256PlusPlus, seq::SliceRandom};
use rustix::fs::{Advice, FallocateFlags, fadvise, fallocate};
use serde_json::{Value, json};
use std::{
    any::Any,
    cell::Cell,
    fs::{self, File},
    ops::RangeInclusive,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread::{self, JoinHandle, sleep},
    time::{Duration, Instant},
};

pub(crate) type Prepared = Result<Situation, String>;

pub(crate) const PAGE: u64 = 4096;
pub(crate) const MIB: u64 = 1 << 20;

/// Random buffered 4 KiB reads that read each block of the region exactly once.
pub(crate) fn reads(file: &Path, changes: Value) -> Value {
    let job = json!({"filename": file, "rw": "randread", "bs": "4k", "direct": 0, "invalidate": 0});
    with(&job, changes)
}

/// Jobs that run in parallel.
pub(crate) fn together(jobs: &[Value]) -> Value {
    json!({"jobs": jobs})
}

/// File names for one job, which accesses the files in turn.
pub(crate) fn targets(files: &[PathBuf]) -> Value {
    let names: Vec<_> = files.iter().map(|file| file.to_str().unwrap()).collect();
    json!(names.join(":"))
}

pub(crate) fn situation(job: Value, truth: Expected, resources: Vec<Box<dyn Any>>) -> Prepared {
    Ok(Situation {
        job,
        during_run: None,
        truth,
        resources,
    })
}

/// Boxes a resource for `situation`.
pub(crate) fn keep(resource: impl Any) -> Box<dyn Any> {
    Box::new(resource)
}

// Files

/// A fully written file without pages in the page cache.
pub(crate) fn cold(path: &Path, bytes: u64) -> PathBuf {
    scratch::image(path, bytes);
    evict(path);
    assert_eq!(cached(path), 0);
    path.into()
}

pub(crate) fn evict(path: &Path) {
    fadvise(File::open(path).unwrap(), 0, None, Advice::DontNeed).unwrap();
}

/// A file whose first `bytes` hold data; the rest is a hole.
pub(crate) fn sparse(path: &Path, bytes: u64, length: u64) -> PathBuf {
    cold(path, bytes);
    let file = File::options().write(true).open(path).unwrap();
    file.set_len(length).unwrap();
    path.into()
}

/// A file whose first `bytes` hold data; the rest is allocated but unwritten.
pub(crate) fn unwritten(path: &Path, bytes: u64, length: u64) -> PathBuf {
    cold(path, bytes);
    let file = File::options().write(true).open(path).unwrap();
    fallocate(&file, FallocateFlags::empty(), bytes, length - bytes).unwrap();
    file.sync_all().unwrap();
    path.into()
}

/// A file in which every other page is a hole.
pub(crate) fn perforated(path: &Path, bytes: u64) -> PathBuf {
    cold(path, bytes);
    let file = File::options().write(true).open(path).unwrap();
    let punch = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    for offset in (PAGE..bytes).step_by(2 * PAGE as usize) {
        fallocate(&file, punch, offset, PAGE).unwrap();
    }
    file.sync_all().unwrap();
    evict(path);
    path.into()
}

/// Number of bytes of a file in the page cache.
pub(crate) fn cached(path: &Path) -> u64 {
    let args = ["--bytes", "--noheadings", "--output", "RES"];
    let text = scratch::run("fincore", &[&args[..], &[path.to_str().unwrap()]].concat());
    text.unwrap().parse().unwrap()
}

/// Keeps a range of a file in the page cache.
pub(crate) fn lock(path: &Path, offset: u64, bytes: u64) -> LockedPages {
    LockedPages::range(&File::open(path).unwrap(), offset, bytes)
}

pub(crate) fn lock_all(path: &Path) -> LockedPages {
    lock(path, 0, fs::metadata(path).unwrap().len())
}

/// A file of which only `bytes` from `offset` are in the page cache.
pub(crate) fn warm_range(
    path: &Path,
    length: u64,
    offset: u64,
    bytes: u64,
) -> (PathBuf, Box<dyn Any>) {
    cold(path, length);
    let locked = (bytes > 0).then(|| lock(path, offset, bytes));
    assert_eq!(cached(path), bytes);
    (path.into(), keep(locked))
}

pub(crate) fn warm(path: &Path, length: u64) -> (PathBuf, Box<dyn Any>) {
    warm_range(path, length, 0, length)
}

/// A file with every other page in the page cache.
pub(crate) fn every_other_page_warm(path: &Path, length: u64) -> (PathBuf, Box<dyn Any>) {
    cold(path, length);
    let offsets = (0..length).step_by(2 * PAGE as usize);
    let locked: Vec<_> = offsets.map(|offset| lock(path, offset, PAGE)).collect();
    assert_eq!(cached(path), length / 2);
    (path.into(), keep(locked))
}

// Disks

pub(crate) const EXT4: &str = "mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0";
pub(crate) const XFS: &str = "mkfs.xfs -q -f";
pub(crate) const BTRFS: &str = "mkfs.btrfs -q -f";

/// A tmpfs below the target root.
pub(crate) fn tmpfs(below: &Path) -> (PathBuf, Box<dyn Any>) {
    tmpfs_of(below, "200m")
}

pub(crate) fn tmpfs_of(below: &Path, size: &str) -> (PathBuf, Box<dyn Any>) {
    let at = below.join("memory");
    fs::create_dir(&at).unwrap();
    let target = at.to_str().unwrap();
    let options = format!("size={size}");
    scratch::run("mount", &["-t", "tmpfs", "-o", &options, "none", target]).unwrap();
    let mounted = keep(Mounted::existing(&at));
    (at, mounted)
}

/// A filesystem on a private loop device, mounted below the target root. Other users of the host's
/// disk do not affect the device's counters, so these are independent evidence.
pub(crate) struct Volume {
    pub at: PathBuf,
    pub image: PathBuf,
    _mounted: Mounted,
    device: Loop,
}

impl Volume {
    pub(crate) fn new(below: &Path, make: &str, options: &str) -> Result<Self, String> {
        Self::on_loop(below, make, options, &["--direct-io=on"])
    }

    pub(crate) fn on_loop(
        below: &Path,
        make: &str,
        options: &str,
        loop_options: &[&str],
    ) -> Result<Self, String> {
        let image = below.join("image");
        File::create(&image).unwrap().set_len(400 * MIB).unwrap();
        let device = Loop::attach(&image, loop_options).ok_or("no loop device")?;
        let mut words = make.split(' ');
        let program = words.next().unwrap();
        scratch::run(
            program,
            &words.chain([device.0.as_str()]).collect::<Vec<_>>(),
        )?;
        let at = below.join("mounted");
        Ok(Self {
            _mounted: Mounted::with_options(&device.0, &at, options),
            at,
            image,
            device,
        })
    }

    pub(crate) fn ext4(below: &Path) -> Result<Self, String> {
        Self::new(below, EXT4, "defaults")
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.at.join(name)
    }

    fn stat(&self) -> PathBuf {
        format!("/sys/block/{}/stat", self.device.name()).into()
    }

    /// Random reads of at most a page, one at a time. The device receives one request for each read
    /// that misses the page cache. `zeros` is the share of reads that are served as zeros, without
    /// the device.
    pub(crate) fn counts_misses(&self, zeros: RangeInclusive<f64>) -> Expected {
        let stat = self.stat();
        let before = requests(&stat);
        Box::new(move |result| {
            let ios = issued(result);
            let missed = requests(&stat) - before;
            let device = (missed - FILESYSTEM_READS).max(0.0) / ios..=missed / ios;
            let memory = rest(&device, &zeros);
            vec![read(memory, zeros, device)]
        })
    }

    /// Direct reads of at most a page. The device receives one request for each read of written
    /// data. All other reads are served from holes or unwritten blocks.
    pub(crate) fn counts_device(&self) -> Expected {
        let stat = self.stat();
        let before = requests(&stat);
        Box::new(move |result| {
            let reached = requests(&stat) - before;
            let ios = issued(result);
            let device = (reached - FILESYSTEM_READS).max(0.0) / ios..=reached / ios;
            vec![read(NONE, rest(&device, &NONE), device)]
        })
    }

    /// Direct reads of a disk whose image is partly cached. Each read that misses the image's page
    /// cache adds at least one page to it.
    pub(crate) fn counts_new_pages_of_the_image(&self) -> Expected {
        let image = self.image.clone();
        let before = pages(&image);
        Box::new(move |result| {
            let added = pages(&image) - before;
            let device = 0.0..=(added / issued(result)).clamp(0.0, 1.0);
            vec![read(rest(&device, &NONE), NONE, device)]
        })
    }

    /// Reads with readahead. A read of a page that was read ahead may count as device or as memory,
    /// because the job itself caused the device read. The number of reads that need uncached data
    /// is at least the number of device requests, and at most the share `cold` of all reads.
    pub(crate) fn counts_requests(&self, cold: f64) -> Expected {
        let stat = self.stat();
        let before = requests(&stat);
        Box::new(move |result| {
            let requests = (requests(&stat) - before) / issued(result);
            let min = requests - FILESYSTEM_READS / issued(result);
            // The host may evict pages that were read ahead before they are used.
            let max = cold.max(requests.min(1.0));
            let device = min.clamp(0.0, cold)..=max;
            vec![read(rest(&device, &NONE), NONE, device)]
        })
    }
}

/// The directories of an overlay mount.
pub(crate) struct Overlay(PathBuf);

impl Overlay {
    pub(crate) fn below(at: &Path) -> Self {
        for name in ["lower", "upper", "work", "overlay"] {
            fs::create_dir(at.join(name)).unwrap();
        }
        Self(at.into())
    }

    pub(crate) fn lower(&self) -> PathBuf {
        self.0.join("lower")
    }

    /// Call this once the lower files exist.
    pub(crate) fn mount(&self) -> (PathBuf, Box<dyn Any>) {
        let path = |name| self.0.join(name).display().to_string();
        let [lower, upper, work, at] = ["lower", "upper", "work", "overlay"].map(path);
        let options = format!("lowerdir={lower},upperdir={upper},workdir={work}");
        scratch::run("mount", &["-t", "overlay", "-o", &options, "none", &at]).unwrap();
        (
            self.0.join("overlay"),
            keep(Mounted::existing(Path::new(&at))),
        )
    }
}

/// Maximum difference in shares between two random orders of the same reads.
const ORDER: f64 = 0.03;

/// The share of random reads that wait for the device if each page is read once. A control
/// experiment on the same file counts how often the thread is descheduled to wait for I/O. The
/// number of device requests cannot be used, because reads of cached pages also start readahead
/// (`page_cache_async_ra` in mm/readahead.c).
pub(crate) fn waits_like_random_reads(file: &Path) -> Expected {
    let opened = File::open(file).unwrap();
    let pages = opened.metadata().unwrap().len() / PAGE;
    let mut waits = 0;
    let mut buffer = [0; PAGE as usize];
    let mut order: Vec<u64> = (0..pages).collect();
    order.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(1));
    for page in order {
        let before = voluntary_switches();
        opened.read_exact_at(&mut buffer, page * PAGE).unwrap();
        waits += u64::from(voluntary_switches() > before);
    }
    evict(file);
    let share = waits as f64 / pages as f64;
    let device = (share - ORDER).max(0.0)..=(share + ORDER).min(1.0);
    Box::new(move |_| vec![read(rest(&device, &NONE), NONE, device)])
}

/// Number of voluntary context switches of the calling thread.
fn voluntary_switches() -> i64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: the kernel fills the struct if the call succeeds.
    let usage = unsafe {
        assert_eq!(libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()), 0);
        usage.assume_init()
    };
    usage.ru_nvcsw
}

/// Allowance for metadata reads, which the job does not issue.
const FILESYSTEM_READS: f64 = 40.0;

/// The remaining share: 1 minus two other shares.
fn rest(one: &RangeInclusive<f64>, other: &RangeInclusive<f64>) -> RangeInclusive<f64> {
    (1.0 - one.end() - other.end()).max(0.0)..=1.0 - one.start() - other.start()
}

fn requests(stat: &Path) -> f64 {
    let text = fs::read_to_string(stat).unwrap();
    text.split_whitespace().next().unwrap().parse().unwrap()
}

// Truths

pub(crate) const NONE: RangeInclusive<f64> = 0.0..=0.0;

fn read(
    memory: RangeInclusive<f64>,
    zeros: RangeInclusive<f64>,
    device: RangeInclusive<f64>,
) -> Truth {
    Truth {
        direction: "read",
        memory,
        zeros,
        device,
    }
}

/// Shares that are known exactly by construction.
pub(crate) fn exactly(memory: f64, zeros: f64, device: f64) -> Expected {
    assert!((memory + zeros + device - 1.0).abs() < 1e-9);
    between(memory..=memory, zeros..=zeros, device..=device)
}

pub(crate) fn between(
    memory: RangeInclusive<f64>,
    zeros: RangeInclusive<f64>,
    device: RangeInclusive<f64>,
) -> Expected {
    Box::new(|_| vec![read(memory, zeros, device)])
}

/// Shares of reads at independent random offsets: within 5 standard deviations of the expected
/// value.
pub(crate) fn on_average(memory: f64, zeros: f64, device: f64) -> Expected {
    Box::new(move |result| {
        let ios = issued(result);
        let around = |share: f64| {
            let deviation = 5.0 * (share * (1.0 - share) / ios).sqrt();
            share - deviation..=share + deviation
        };
        vec![read(around(memory), around(zeros), around(device))]
    })
}

/// The layer that serves all reads of a job.
#[derive(Clone, Copy)]
pub(crate) enum Layer {
    Memory,
    Zeros,
    Device,
}

/// Jobs that are each served by a single layer. A layer's share is the share of reads issued by its
/// jobs.
pub(crate) fn by_job(layers: &'static [Layer]) -> Expected {
    Box::new(move |result| {
        let mut shares = [0.0; 3];
        for (layer, job) in layers
            .iter()
            .zip(result["report"]["jobs"].as_array().unwrap())
        {
            shares[*layer as usize] += job["read"]["ios"].as_f64().unwrap() / issued(result);
        }
        let [memory, zeros, device] = shares.map(|share| share..=share);
        vec![read(memory, zeros, device)]
    })
}

fn issued(result: &Value) -> f64 {
    result["report"]["read"]["ios"].as_f64().unwrap()
}

// Changes during the run

/// Time at which conditions change during a run of about a second.
const MIDWAY: Duration = Duration::from_millis(500);

/// Evicts a cached file midway through the run.
pub(crate) fn evicted_midway(
    job: Value,
    file: PathBuf,
    lock: Option<LockedPages>,
    truth: Expected,
    resources: Vec<Box<dyn Any>>,
) -> Prepared {
    let during_run = move |_| {
        sleep(MIDWAY);
        drop(lock);
        evict(&file);
    };
    Ok(Situation {
        job,
        during_run: Some(Box::new(during_run)),
        truth,
        resources,
    })
}

/// Reads the whole file midway through the run. The job reads each block at most once and without
/// readahead, so the number of pages cached just before that is the number of reads that have
/// reached the device. The number of pages that the process has read from storage by the time all
/// pages are cached is an upper bound.
pub(crate) fn filled_midway(job: Value, file: PathBuf, resources: Vec<Box<dyn Any>>) -> Prepared {
    let counts = Rc::new(Cell::new(None));
    let seen = Rc::clone(&counts);
    let during_run = move |pid: u32| {
        sleep(MIDWAY);
        let before = pages(&file);
        drop(fs::read(&file));
        let lock = lock_all(&file);
        counts.set(Some(([before, read_from_storage(pid) / PAGE as f64], lock)));
    };
    let truth = move |result: &Value| {
        let (reads, _lock) = seen.take().unwrap();
        let [min, max] = reads.map(|reads| (reads / issued(result)).min(1.0));
        let device = min..=max.max(min);
        vec![read(rest(&device, &NONE), NONE, device)]
    };
    Ok(Situation {
        job,
        during_run: Some(Box::new(during_run)),
        truth: Box::new(truth),
        resources,
    })
}

fn pages(file: &Path) -> f64 {
    (cached(file) / PAGE) as f64
}

/// Number of bytes that a process caused to be read from storage.
fn read_from_storage(pid: u32) -> f64 {
    let text = fs::read_to_string(format!("/proc/{pid}/io")).unwrap();
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("read_bytes: "));
    line.unwrap().parse().unwrap()
}

/// Another program that uses a disk for a few seconds at most; stopped on drop.
pub(crate) struct Neighbor {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Neighbor {
    /// Repeats `dd` with these arguments.
    fn dd(args: Vec<String>) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            let start = Instant::now();
            while !stopped.load(Relaxed) && start.elapsed() < Duration::from_secs(6) {
                let mut dd = Command::new("dd");
                let _ = dd.args(&args).stderr(Stdio::null()).status();
            }
        });
        Self {
            stop,
            thread: Some(thread),
        }
    }

    /// Reads the file with direct I/O, which does not change the page cache.
    pub(crate) fn reading(file: &Path) -> Box<dyn Any> {
        let input = format!("if={}", file.display());
        let args = [
            &input,
            "of=/dev/null",
            "bs=64k",
            "count=256",
            "iflag=direct",
        ];
        keep(Self::dd(args.map(str::to_string).to_vec()))
    }

    pub(crate) fn writing(file: &Path) -> Box<dyn Any> {
        let output = format!("of={}", file.display());
        let args = [
            "if=/dev/zero",
            &output,
            "bs=64k",
            "count=256",
            "oflag=direct",
            "conv=notrunc",
        ];
        keep(Self::dd(args.map(str::to_string).to_vec()))
    }
}

impl Drop for Neighbor {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
        let _ = self.thread.take().unwrap().join();
    }
}

/// A memory cgroup (v1), removed on drop.
pub(crate) struct MemoryLimit(PathBuf);

impl MemoryLimit {
    pub(crate) fn of(bytes: u64) -> Result<Self, String> {
        let name = format!("leadline-truth-{}", std::process::id());
        let group = Path::new("/sys/fs/cgroup/memory").join(name);
        fs::create_dir_all(&group).map_err(|error| error.to_string())?;
        let limit = Self(group);
        fs::write(limit.0.join("memory.limit_in_bytes"), bytes.to_string())
            .map_err(|error| error.to_string())?;
        Ok(limit)
    }

    /// Moves the runner into the cgroup as soon as it has started.
    pub(crate) fn situation(self, job: Value, truth: Expected, disk: Volume) -> Situation {
        let procs = self.0.join("cgroup.procs");
        let enter = move |pid: u32| fs::write(procs, pid.to_string()).unwrap();
        Situation {
            job,
            during_run: Some(Box::new(enter)),
            truth,
            resources: vec![keep(disk), keep(self)],
        }
    }
}

impl Drop for MemoryLimit {
    fn drop(&mut self) {
        for _ in 0..40 {
            if fs::remove_dir(&self.0).is_ok() {
                return;
            }
            sleep(Duration::from_millis(25));
        }
    }
}
