//! One target with the regions of all its jobs, and its page cache and extents at each reading.

use crate::{
    run::backing_file::ObservedBackingFile,
    system::{
        host::inventory::Inventory,
        probes::{
            direct_io::{self, DirectIoTarget},
            extents::{self, written_share},
            region::Region,
            residency::{ResidencyMap, ResidencyMethod},
        },
        target::OpenTarget,
    },
};
use leadline_protocol::{
    counters::Residency,
    evidence::target::{
        CacheMap, DirectFacts, Extents, ExtentsReport, ResidencyReport, TargetReport, TargetState,
    },
    plan::{
        job::ResolvedJob,
        target::{Target, TargetKind},
    },
};
use std::{
    collections::BTreeMap,
    fs::File,
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::Path,
};

const NOT_REACHED: &str = "the run ended before this reading";

pub(crate) struct ObservedTarget {
    file: Option<OwnedFd>,
    target: Target,
    /// Names of the jobs that use it.
    jobs: Vec<String>,
    region: Region,
    method: Result<ResidencyMethod, String>,
    initial: Option<Residency>,
    start: Option<ResidencyMap>,
    end: Option<ResidencyMap>,
    extents: Option<Extents>,
    mount_point: Option<String>,
    mount_options: Option<String>,
    direct: DirectFacts,
    backing: Option<ObservedBackingFile>,
    absent: BTreeMap<String, String>,
}

impl ObservedTarget {
    /// The files and devices of all jobs, each once, with their residency before the run.
    pub(crate) fn of_jobs(jobs: &[ResolvedJob]) -> Vec<Self> {
        let mut uses: BTreeMap<&str, Vec<(&ResolvedJob, &Target)>> = BTreeMap::new();
        for job in jobs {
            for target in &job.targets {
                if target.kind != TargetKind::Null {
                    uses.entry(&target.path).or_default().push((job, target));
                }
            }
        }
        uses.values().map(|uses| Self::new(uses)).collect()
    }

    fn new(uses: &[(&ResolvedJob, &Target)]) -> Self {
        let mut jobs: Vec<String> = uses.iter().map(|(job, _)| job.name.clone()).collect();
        jobs.dedup();
        let parts = uses
            .iter()
            .map(|(_, target)| target.offset..target.offset + target.size);
        let mut observed = Self {
            file: None,
            target: uses[0].1.clone(),
            jobs,
            region: Region::of(parts),
            method: Err(NOT_REACHED.into()),
            initial: None,
            start: None,
            end: None,
            extents: None,
            mount_point: None,
            mount_options: None,
            direct: DirectFacts::default(),
            backing: None,
            absent: BTreeMap::new(),
        };
        observed.read_initial();
        observed
    }

    fn read_initial(&mut self) {
        if !self.target.existed {
            return self.set_absent("initial", "the file did not exist yet");
        }
        match File::open(&self.target.path) {
            Ok(file) => {
                self.set_file(file.into());
                let initial = self.read(|method, file, region| method.residency(file, region));
                self.initial = self.known("initial", initial);
            }
            Err(error) => self.set_absent("initial", &error.to_string()),
        }
    }

    pub(crate) fn path(&self) -> &str {
        &self.target.path
    }

    /// Why the page cache of the open file cannot be read.
    pub(crate) fn unreadable_reason(&self) -> Option<String> {
        self.file.as_ref()?;
        let reason = self.method.as_ref().err()?;
        Some(format!("{}: {reason}", self.target.path))
    }

    fn set_file(&mut self, file: OwnedFd) {
        self.method = ResidencyMethod::detect(file.as_fd());
        self.file = Some(file);
    }

    fn set_absent(&mut self, what: &str, reason: &str) {
        self.absent.insert(what.into(), reason.into());
    }

    fn known<T>(&mut self, what: &str, value: Result<T, String>) -> Option<T> {
        value.map_err(|reason| self.set_absent(what, &reason)).ok()
    }

    fn read<T, E: Into<io::Error>>(
        &self,
        read: impl FnOnce(ResidencyMethod, BorrowedFd, &Region) -> Result<T, E>,
    ) -> Result<T, String> {
        let method = self.method.clone()?;
        let file = self.file.as_ref().ok_or(NOT_REACHED)?;
        read(method, file.as_fd(), &self.region).map_err(|error| error.into().to_string())
    }

    /// Reads extents, mount and direct I/O facts of the open target, before its cache state is set.
    pub(crate) fn examine(&mut self, opened: &OpenTarget, host: &Inventory) {
        match opened.fd.try_clone() {
            Ok(file) => self.set_file(file),
            Err(error) => self.method = Err(format!("cannot be kept open: {error}")),
        }
        let extents = self.extents_before();
        self.extents = self.known("extents", extents);
        if self.target.kind != TargetKind::Device {
            let mount = host.mount_at(Path::new(&self.target.path));
            self.mount_point = mount.map(|mount| mount.point.clone());
            self.mount_options = mount.map(|mount| mount.options.clone());
        }
        let device = self.target.device.as_deref();
        let target = DirectIoTarget {
            kind: self.target.kind,
            filesystem: self.target.filesystem.as_deref(),
            device,
            compressed: self.extents.map(|extents| extents.encoded > 0),
        };
        self.direct = direct_io::facts(opened.fd.as_fd(), target, host);
        if let (Some(device), Some(false)) = (device, self.direct.loop_direct_io) {
            self.backing = ObservedBackingFile::of(device, host);
        }
    }

    fn extents_before(&self) -> Result<Extents, String> {
        if self.target.kind == TargetKind::Device {
            return Err("a device does not report which blocks were written".into());
        }
        let file = self.file.as_ref().ok_or(NOT_REACHED)?;
        extents::before(file.as_fd(), &self.region)
    }

    /// Start of the measured window.
    pub(crate) fn start(&mut self) {
        let map = self.read(|method, file, region| method.map(file, region));
        self.start = self.known("start", map);
        if let Some(backing) = &mut self.backing {
            backing.start();
        }
    }

    /// End of the measured window.
    pub(crate) fn end(&mut self) {
        let map = self.read(|method, file, region| method.map(file, region));
        self.end = self.known("end", map);
        if let Some(backing) = &mut self.backing {
            backing.end();
        }
    }

    /// Current residency.
    pub(crate) fn residency(&self) -> Option<Residency> {
        self.read(|method, file, region| method.residency(file, region))
            .ok()
    }

    pub(crate) fn residency_at_end(&self) -> Option<Residency> {
        self.end.as_ref().map(|map| map.residency)
    }

    /// Reads the extents again.
    pub(crate) fn finish(mut self) -> TargetReport {
        let region_bytes = self.region.bytes();
        let mut extents_after = None;
        if let (Some(_), Some(file)) = (self.extents, &self.file) {
            extents_after = extents::after(file.as_fd(), &self.region).ok();
        }
        if self.method == Ok(ResidencyMethod::Mincore) {
            self.set_absent("dirty", "mincore(2) reports only which pages are cached");
        }
        let start = self.start.as_ref().map(|map| map.residency);
        let cached_share = |start: Residency| start.cached as f64 / region_bytes.max(1) as f64;
        let maps = [&self.start, &self.end];
        let cell_bytes = maps.into_iter().flatten().map(|map| map.cell_bytes).next();
        TargetReport {
            state: TargetState {
                existed: self.target.existed,
                written_share: self
                    .extents
                    .map(|extents| written_share(&extents, region_bytes)),
                cached_share: start.map(cached_share),
            },
            residency: ResidencyReport {
                initial: self.initial,
                start,
                end: self.residency_at_end(),
            },
            extents: ExtentsReport {
                before: self.extents,
                after: extents_after,
            },
            map: CacheMap {
                cell_bytes: cell_bytes.unwrap_or(0),
                start: self.start.map(|map| map.percent),
                end: self.end.map(|map| map.percent),
            },
            mount_point: self.mount_point,
            mount_options: self.mount_options,
            region_offset: self.region.offset(),
            region_bytes,
            path: self.target.path,
            kind: self.target.kind,
            jobs: self.jobs,
            filesystem: self.target.filesystem,
            device: self.target.device,
            direct: self.direct,
            backing: self.backing.map(|backing| backing.observed),
            absent: self.absent,
        }
    }
}
