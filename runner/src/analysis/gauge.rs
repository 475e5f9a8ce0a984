//! The depth gauge: I/Os and bytes that were issued, that got past the page cache, and that reached
//! the physical devices. Live samples and reports use the same function. Only a report has
//! verdicts, which identify zeros returned by the filesystem and the origin of device writes.

mod counters;
mod flows;
mod notes;
#[cfg(test)]
mod tests;

use crate::analysis::{
    gauge::{
        counters::GaugeCounters,
        flows::{Flows, Served, ServedIos},
        notes::notes,
    },
    layer_shares::SharesByDirection,
    verdict::threshold::NOISE_FLOOR,
};
use leadline_protocol::{
    gauge::{ForeignIo, ForeignSource, Gauge, GaugeReport, LayerFlow},
    plan::job::{Mode, ResolvedJob},
    report::Report,
    sample::Sample,
    verdict::{Layer, ModifierKind, Verdict, VerdictClass, Verdicts},
};
use std::collections::BTreeMap;

/// The gauges of a finished run.
pub(crate) fn report_gauge(
    report: &Report,
    jobs: &[ResolvedJob],
    verdicts: &Verdicts,
) -> GaugeReport {
    let write = verdicts.write.as_ref();
    let pending = write.and_then(|verdict| verdict.evidence.get("dirty_end_bytes").copied());
    let counters = GaugeCounters::from_report(report, pending.unwrap_or(0));
    gauges(&counters, IoModes::of(jobs), verdicts)
}

/// The gauge of a sample, across all directions. For a live gauge, pass the sum of all samples in
/// the phase and the shares from its lookups.
pub(crate) fn sample_gauge(
    sample: &Sample,
    sampled: SharesByDirection,
    jobs: &[ResolvedJob],
) -> Gauge {
    let counters = GaugeCounters::from_sample(sample, sampled);
    gauges(&counters, IoModes::of(jobs), &Verdicts::default()).total
}

/// Whether all jobs use direct I/O in each direction, and whether all jobs use `ioengine=null`.
#[derive(Clone, Copy, Debug, Default)]
struct IoModes {
    direct_reads: bool,
    direct_writes: bool,
    direct_trims: bool,
    null: bool,
}

impl IoModes {
    fn of(jobs: &[ResolvedJob]) -> Self {
        Self {
            direct_reads: jobs.iter().all(|job| job.direct || !job.reads()),
            direct_writes: jobs
                .iter()
                .all(|job| job.direct || !job.pattern.rw.writes()),
            direct_trims: jobs.iter().all(|job| job.direct || !job.pattern.rw.trims()),
            null: jobs.iter().all(|job| job.mode == Mode::Null),
        }
    }
}

fn gauges(counters: &GaugeCounters, modes: IoModes, verdicts: &Verdicts) -> GaugeReport {
    let attributed = attributed_writes(counters, verdicts);
    let own_reads = counters.storage.map(|storage| storage.read_bytes);
    let own_writes = match attributed {
        Some(verdict) => verdict.evidence.get("own_bytes").copied(),
        None if counters.write.issued.ios == 0 => {
            counters.storage.map(|storage| storage.write_bytes)
        }
        None => None,
    };
    let read_verdict = verdicts.read.as_ref();
    let read = Flows::new(&counters.read, own_reads, modes.direct_reads, read_verdict);
    let write_verdict = verdicts.write.as_ref();
    let write = Flows::new(
        &counters.write,
        own_writes,
        modes.direct_writes,
        write_verdict,
    )
    .with_write_fields(counters.pending_bytes, attributed.map(foreign_source));
    let trim = Flows::new(&counters.trim, None, modes.direct_trims, None).with_trim_fields();
    let gauge = |flows: &Flows| {
        if modes.null {
            null_gauge(flows)
        } else {
            gauge(flows)
        }
    };
    let used = |flows: &Flows| flows.is_used().then(|| gauge(flows));
    GaugeReport {
        read: used(&read),
        write: used(&write),
        trim: used(&trim),
        total: gauge(&read.merge(write).merge(trim)),
    }
}

/// The write verdict, if its class or a foreign I/O modifier distinguishes the run's bytes from
/// those of the filesystem and other programs. Otherwise, all device writes are attributed to the
/// run.
fn attributed_writes<'a>(counters: &GaugeCounters, verdicts: &'a Verdicts) -> Option<&'a Verdict> {
    let verdict = verdicts.write.as_ref()?;
    let is_attributed = has_foreign_io(verdict)
        || matches!(
            verdict.class,
            VerdictClass::DeferredWrite | VerdictClass::Mixed
        );
    (is_attributed && counters.storage.is_some()).then_some(verdict)
}

fn has_foreign_io(verdict: &Verdict) -> bool {
    let mut modifiers = verdict.modifiers.iter();
    modifiers.any(|modifier| modifier.kind == ModifierKind::Foreign)
}

fn foreign_source(verdict: &Verdict) -> ForeignSource {
    if has_foreign_io(verdict) {
        ForeignSource::OtherPrograms
    } else {
        ForeignSource::OtherProgramsOrFilesystem
    }
}

fn gauge(flows: &Flows) -> Gauge {
    let foreign = foreign(flows);
    let (served_by, served_by_unknown) = match served_by(flows) {
        Ok(layer) => (Some(layer), None),
        Err(reason) => (None, Some(reason.to_owned())),
    };
    Gauge {
        issued: flows.issued,
        past_cache: flows.past_cache,
        reached: flows.reached,
        bypassed: flows.bypassed && flows.is_used(),
        foreign,
        served_by,
        served_by_unknown,
        uncertainty: flows.uncertainty,
        notes: notes(flows, foreign.as_ref()),
    }
}

/// The gauge for `ioengine=null`, which issues no I/O to any layer.
fn null_gauge(flows: &Flows) -> Gauge {
    let note = "no I/O (ioengine=null)".to_owned();
    Gauge {
        issued: flows.issued,
        past_cache: Some(LayerFlow::default()),
        reached: Some(LayerFlow::default()),
        bypassed: false,
        foreign: None,
        served_by: Some(Layer::Application),
        served_by_unknown: None,
        uncertainty: 0.0,
        notes: BTreeMap::from([(Layer::Application, note)]),
    }
}

/// Foreign I/O above the noise floor, or any foreign writes that a verdict separated from the run's
/// writes.
fn foreign(flows: &Flows) -> Option<ForeignIo> {
    let LayerFlow { ios, bytes } = flows.foreign;
    let source = flows.foreign_writes.unwrap_or(ForeignSource::OtherPrograms);
    let is_shown = bytes > NOISE_FLOOR.as_u64() || flows.foreign_writes.is_some();
    is_shown.then_some(ForeignIo { ios, bytes, source })
}

/// The layer that served the most I/Os (the lower layer if two are equal), or why it is unknown.
fn served_by(flows: &Flows) -> Result<Layer, &'static str> {
    if flows.issued.ios == 0 {
        return Ok(Layer::Application);
    }
    let ServedIos {
        page_cache,
        filesystem,
        device,
    } = match flows.served {
        Served::Ios(served) => served,
        Served::Unknown(reason) => return Err(reason),
    };
    Ok(if device >= filesystem.max(page_cache) {
        Layer::Device
    } else if filesystem >= page_cache {
        Layer::Filesystem
    } else {
        Layer::PageCache
    })
}
