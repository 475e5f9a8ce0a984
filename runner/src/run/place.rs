//! One target as the witness sees it: its region over all jobs and clones, and what was seen of it at each moment.

use crate::run::backing::Backing;
use crate::system::host::inventory::Inventory;
use crate::system::probes::direct_io;
use crate::system::probes::direct_io::DirectIoTarget;
use crate::system::probes::extents;
use crate::system::probes::extents::written_share;
use crate::system::probes::region::Region;
use crate::system::probes::residency::{ResidencyMap, ResidencyMethod};
use crate::system::target::OpenTarget;
use leadline_protocol::counters::Residency;
use leadline_protocol::evidence::{
    CacheMap, DirectFacts, Extents, ExtentsReport, ResidencyReport, TargetReport, TargetState,
};
use leadline_protocol::plan::resolved::{ResolvedJob, Target, TargetKind};
use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

/// What is said of numbers that nobody came to look for.
const NOT_REACHED: &str = "the run ended before";

/// One target.
pub struct Place {
    /// Open for looking.
    file: Option<OwnedFd>,
    target: Target,
    jobs: Vec<String>,
    region: Region,
    means: Result<ResidencyMethod, String>,
    found: Option<Residency>,
    start: Option<ResidencyMap>,
    end: Option<ResidencyMap>,
    before: Option<Extents>,
    mount: Option<(String, String)>,
    direct: DirectFacts,
    backing: Option<Backing>,
    absent: BTreeMap<String, String>,
}

impl Place {
    /// The files and devices of all jobs, each once.
    pub fn of_jobs(jobs: &[ResolvedJob]) -> Vec<Self> {
        let mut uses: BTreeMap<&str, Vec<(&ResolvedJob, &Target)>> = BTreeMap::new();
        for job in jobs {
            for target in job
                .targets
                .iter()
                .filter(|target| target.kind != TargetKind::Null)
            {
                uses.entry(&target.path).or_default().push((job, target));
            }
        }
        uses.values().map(|uses| Self::new(uses)).collect()
    }

    fn new(uses: &[(&ResolvedJob, &Target)]) -> Self {
        let mut jobs: Vec<String> = uses.iter().map(|(job, _)| job.name.clone()).collect();
        jobs.dedup();
        Self {
            file: None,
            target: uses[0].1.clone(),
            jobs,
            region: Region::of(
                uses.iter()
                    .map(|(_, target)| target.offset..target.offset + target.size),
            ),
            means: Err(NOT_REACHED.into()),
            found: None,
            start: None,
            end: None,
            before: None,
            mount: None,
            direct: DirectFacts::default(),
            backing: None,
            absent: BTreeMap::new(),
        }
    }

    /// Its path.
    pub fn path(&self) -> &str {
        &self.target.path
    }

    /// Why its page cache will not be seen, as far as that is known.
    pub fn unseen(&self) -> Option<String> {
        let reason = self.means.as_ref().err().filter(|_| self.file.is_some())?;
        Some(format!("{}: {reason}", self.target.path))
    }

    /// Looks at it as it lies there before the run.
    pub fn find(&mut self) {
        if !self.target.existed {
            return self.miss("found", "it was not there yet");
        }
        match File::open(&self.target.path) {
            Ok(file) => {
                self.hold(file.into());
                self.found = self.residency_now("found");
            }
            Err(error) => self.miss("found", &error.to_string()),
        }
    }

    fn hold(&mut self, file: OwnedFd) {
        self.means = ResidencyMethod::detect(file.as_fd());
        self.file = Some(file);
    }

    fn miss(&mut self, what: &str, reason: &str) {
        self.absent.insert(what.into(), reason.into());
    }

    fn residency_now(&mut self, what: &str) -> Option<Residency> {
        let seen = self.means.clone().and_then(|means| {
            let file = self.file.as_ref().ok_or(NOT_REACHED)?.as_fd();
            means
                .residency(file, &self.region)
                .map_err(|error| std::io::Error::from(error).to_string())
        });
        seen.map_err(|reason| self.miss(what, &reason)).ok()
    }

    /// Looks at it once it is laid out and open, before its caches are set.
    pub fn examine(&mut self, opened: &OpenTarget, host: &Inventory) {
        match opened.fd.try_clone() {
            Ok(file) => self.hold(file),
            Err(error) => self.means = Err(format!("it cannot be held open: {error}")),
        }
        self.look_at_extents();
        let device = self.target.kind == TargetKind::Device;
        let mount = host
            .mount_at(Path::new(&self.target.path))
            .filter(|_| !device);
        self.mount = mount.map(|mount| (mount.point.clone(), mount.options.clone()));
        let asked = DirectIoTarget {
            kind: self.target.kind,
            filesystem: self.target.filesystem.as_deref(),
            device: self.target.device.as_deref(),
            compressed: self.before.map(|extents| extents.encoded > 0),
        };
        self.direct = direct_io::facts(opened.fd.as_fd(), asked, host);
        let cached = self
            .target
            .device
            .as_deref()
            .filter(|_| self.direct.loop_direct_io == Some(false));
        self.backing = cached.and_then(|device| Backing::of(device, host));
    }

    fn look_at_extents(&mut self) {
        if self.target.kind == TargetKind::Device {
            return self.miss(
                "extents",
                "a device does not tell which of its blocks were written",
            );
        }
        let Some(file) = &self.file else {
            return self.miss("extents", NOT_REACHED);
        };
        match extents::before(file.as_fd(), &self.region) {
            Ok(found) => self.before = Some(found),
            Err(reason) => self.miss("extents", &reason),
        }
    }

    /// The measured window begins.
    pub fn start(&mut self) {
        self.start = self.map_now("start");
        self.backing.iter_mut().for_each(Backing::start);
    }

    /// The measured window ended.
    pub fn end(&mut self) {
        self.end = self.map_now("end");
        self.backing.iter_mut().for_each(Backing::end);
    }

    fn map_now(&mut self, what: &str) -> Option<ResidencyMap> {
        let seen = self.means.clone().and_then(|means| {
            let file = self.file.as_ref().ok_or(NOT_REACHED)?.as_fd();
            means
                .map(file, &self.region)
                .map_err(|error| std::io::Error::from(error).to_string())
        });
        seen.map_err(|reason| self.miss(what, &reason)).ok()
    }

    /// The page cache now.
    pub fn residency(&self) -> Option<Residency> {
        self.means
            .as_ref()
            .ok()?
            .residency(self.file.as_ref()?.as_fd(), &self.region)
            .ok()
    }

    /// The page cache when the measured window ended.
    pub fn residency_at_end(&self) -> Option<Residency> {
        self.end.as_ref().map(|map| map.residency)
    }

    /// Everything that was seen; the extents are looked at a last time.
    pub fn tell(mut self) -> TargetReport {
        let region_bytes = self.region.bytes();
        let share = |bytes: u64| {
            if region_bytes == 0 {
                0.0
            } else {
                bytes as f64 / region_bytes as f64
            }
        };
        let after = self
            .before
            .and_then(|_| extents::after(self.file.as_ref()?.as_fd(), &self.region).ok());
        if self.means == Ok(ResidencyMethod::Mincore) {
            self.miss(
                "dirty",
                "only mincore(2) could be asked, which tells what is cached and nothing else",
            );
        }
        TargetReport {
            state: TargetState {
                existed: self.target.existed,
                written_share: self.before.map(|found| written_share(&found, region_bytes)),
                cached_share: self.start.as_ref().map(|map| share(map.residency.cached)),
            },
            residency: ResidencyReport {
                initial: self.found,
                start: self.start.as_ref().map(|map| map.residency),
                end: self.residency_at_end(),
            },
            extents: ExtentsReport {
                before: self.before,
                after,
            },
            map: CacheMap {
                cell_bytes: self
                    .start
                    .as_ref()
                    .or(self.end.as_ref())
                    .map_or(0, |map| map.cell_bytes),
                start: self.start.map(|map| map.percent),
                end: self.end.map(|map| map.percent),
            },
            mount_point: self.mount.as_ref().map(|mount| mount.0.clone()),
            mount_options: self.mount.map(|mount| mount.1),
            region_offset: self.region.offset(),
            region_bytes,
            path: self.target.path,
            kind: self.target.kind,
            jobs: self.jobs,
            filesystem: self.target.filesystem,
            device: self.target.device,
            direct: self.direct,
            backing: self.backing.map(Backing::tell),
            absent: self.absent,
        }
    }
}
