//! Observes a target: the combined regions of all its jobs, its page cache residency and its
//! extents.

use crate::{
    run::backing_file::ObservedBackingFile,
    system::{
        host::inventory::Inventory,
        layers::{StoredFile, builder::LayersBuilder},
        probes::{
            direct_io::{self, DirectIoTarget},
            extents::{self, written_share},
            region::Region,
            residency::ResidencyMethod,
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
    text::printable,
};
use std::{
    collections::BTreeMap,
    fs::File,
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::Path,
    sync::Arc,
};

const NOT_REACHED: &str = "the run ended before this reading";

pub(crate) struct ObservedTarget {
    file: Option<OwnedFd>,
    region: Region,
    method: Result<ResidencyMethod, String>,
    backing: Option<ObservedBackingFile>,
    layers: Option<Arc<StoredFile>>,
    /// The observations so far.
    report: TargetReport,
}

impl ObservedTarget {
    /// The distinct files and devices used by all jobs, with their residency before the run.
    pub(crate) fn from_jobs(jobs: &[ResolvedJob]) -> Vec<Self> {
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
        let region = Region::of(parts);
        let target = uses[0].1.clone();
        let mut observed = Self {
            file: None,
            method: Err(NOT_REACHED.into()),
            backing: None,
            layers: None,
            report: TargetReport {
                path: target.path,
                kind: target.kind,
                jobs,
                filesystem: target.filesystem,
                mount_point: None,
                mount_options: None,
                device: target.device,
                region_offset: region.offset(),
                region_bytes: region.bytes(),
                state: TargetState {
                    existed: target.existed,
                    written_share: None,
                    cached_share: None,
                },
                residency: ResidencyReport::default(),
                extents: ExtentsReport::default(),
                map: CacheMap::default(),
                direct: DirectFacts::default(),
                backing: None,
                absent: BTreeMap::new(),
            },
            region,
        };
        observed.read_initial();
        observed
    }

    fn read_initial(&mut self) {
        if !self.report.state.existed {
            return self.set_absent("initial", "the file did not exist yet");
        }
        match File::open(&self.report.path) {
            Ok(file) => {
                self.set_file(file.into());
                let initial = self.read(|method, file, region| method.residency(file, region));
                self.report.residency.initial = self.ok_or_record_absent("initial", initial);
            }
            Err(error) => self.set_absent("initial", &error.to_string()),
        }
    }

    pub(crate) fn path(&self) -> &str {
        &self.report.path
    }

    /// Why the open file's page cache residency cannot be read; `None` if it can be read, or if no
    /// file is open.
    pub(crate) fn unreadable_reason(&self) -> Option<String> {
        self.file()?;
        let reason = self.method.as_ref().err()?;
        Some(format!("{}: {reason}", self.path()))
    }

    fn set_file(&mut self, file: OwnedFd) {
        self.method = ResidencyMethod::detect(file.as_fd());
        self.file = Some(file);
    }

    /// Uses the file descriptor in `layers` from now on. On an overlay, it refers to the underlying
    /// file.
    fn set_layers(&mut self, layers: StoredFile) {
        self.file = None;
        self.method = layers.residency_method();
        self.layers = Some(Arc::new(layers));
    }

    fn file(&self) -> Option<BorrowedFd<'_>> {
        let of_layers = self.layers.as_ref().map(|layers| layers.file());
        of_layers.or_else(|| self.file.as_ref().map(AsFd::as_fd))
    }

    fn set_absent(&mut self, what: &str, reason: &str) {
        self.report.absent.insert(what.into(), reason.into());
    }

    /// Returns the value. If it is missing, adds the reason to the report.
    fn ok_or_record_absent<T>(&mut self, what: &str, value: Result<T, String>) -> Option<T> {
        value.map_err(|reason| self.set_absent(what, &reason)).ok()
    }

    fn read<T, E: Into<io::Error>>(
        &self,
        read: impl FnOnce(ResidencyMethod, BorrowedFd, &Region) -> Result<T, E>,
    ) -> Result<T, String> {
        let method = self.method.clone()?;
        let file = self.file().ok_or(NOT_REACHED)?;
        read(method, file, &self.region).map_err(|error| error.into().to_string())
    }

    /// Reads the target's extents, its mount and whether direct I/O bypasses the page cache. Must
    /// be called before the page cache is prepared.
    pub(crate) fn examine(
        &mut self,
        opened: &OpenTarget,
        host: &Inventory,
        layers: &mut LayersBuilder,
    ) {
        let path = Path::new(&self.report.path);
        match layers.target(&opened.fd, path) {
            Ok(layers) => self.set_layers(layers),
            Err(error) => self.method = Err(format!("cannot reopen the target: {error}")),
        }
        let extents = self.extents_before();
        let extents = self.ok_or_record_absent("extents", extents);
        let report = &mut self.report;
        report.extents.before = extents;
        report.state.written_share =
            extents.map(|extents| written_share(&extents, report.region_bytes));
        if report.kind != TargetKind::Device {
            let mount = host.mount_at(Path::new(&report.path));
            report.mount_point = mount.map(|mount| printable(&mount.point));
            report.mount_options = mount.map(|mount| printable(&mount.options));
        }
        let device = report.device.as_deref();
        let target = DirectIoTarget {
            kind: report.kind,
            filesystem: report.filesystem.as_deref(),
            device,
            compressed: extents.map(|extents| extents.encoded > 0),
        };
        report.direct = direct_io::facts(opened.fd.as_fd(), target, host);
        if let (Some(device), Some(false)) = (device, report.direct.loop_direct_io) {
            let is_in_memory = self.layers.as_ref().is_some_and(|file| file.is_in_memory());
            self.backing = ObservedBackingFile::of(device, host, is_in_memory);
        }
    }

    /// The layers below the target; `None` if unknown.
    pub(crate) fn layers(&self) -> Option<Arc<StoredFile>> {
        self.layers.clone()
    }

    fn extents_before(&self) -> Result<Extents, String> {
        if self.report.kind == TargetKind::Device {
            return Err("a device does not report which blocks were written".into());
        }
        let file = self.file().ok_or(NOT_REACHED)?;
        extents::before(file, &self.region)
    }

    /// Residency of the region, and the cached percentage of each cell.
    fn read_map(&mut self, what: &str) -> (Option<Residency>, Option<Vec<u8>>) {
        let map = self.read(|method, file, region| method.map(file, region));
        let map = self.ok_or_record_absent(what, map).map(|map| {
            self.report.map.cell_bytes = map.cell_bytes;
            (map.residency, map.percent)
        });
        map.unzip()
    }

    /// Reads the residency at the start of the measured window.
    pub(crate) fn start(&mut self) {
        let (residency, percent) = self.read_map("start");
        let report = &mut self.report;
        let region_bytes = report.region_bytes.max(1) as f64;
        report.state.cached_share = residency.map(|start| start.cached as f64 / region_bytes);
        report.residency.start = residency;
        report.map.start = percent;
        if let Some(backing) = &mut self.backing {
            backing.start();
        }
    }

    /// Reads the residency at the end of the measured window.
    pub(crate) fn end(&mut self) {
        (self.report.residency.end, self.report.map.end) = self.read_map("end");
        if let Some(backing) = &mut self.backing {
            backing.end();
        }
    }

    /// Reads the current residency; `None` if that fails.
    pub(crate) fn residency(&self) -> Option<Residency> {
        self.read(|method, file, region| method.residency(file, region))
            .ok()
    }

    pub(crate) fn residency_at_start(&self) -> Option<Residency> {
        self.report.residency.start
    }

    pub(crate) fn residency_at_end(&self) -> Option<Residency> {
        self.report.residency.end
    }

    /// Reads the extents again.
    pub(crate) fn finish(mut self) -> TargetReport {
        if let (Some(_), Some(file)) = (self.report.extents.before, self.file()) {
            self.report.extents.after = extents::after(file, &self.region).ok();
        }
        if self.method == Ok(ResidencyMethod::Mincore) {
            self.set_absent("dirty", "mincore(2) reports only which pages are cached");
        }
        self.report.backing = self.backing.map(|backing| backing.observed);
        self.report
    }
}
