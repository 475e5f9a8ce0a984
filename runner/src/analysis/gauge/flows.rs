//! I/Os and bytes at each layer boundary, without foreign I/O.

use crate::analysis::{
    gauge::counters::DirectionCounters,
    layer_shares::{LayerShares, SharesOrReason},
    verdict::threshold::NEGLIGIBLE,
};
use leadline_protocol::{
    gauge::{ForeignSource, LayerFlow},
    verdict::Verdict,
};
use std::ops::Add;

const NOT_LOOKED_UP: &str = "I/Os are not looked up";
const UNKNOWN_VERDICT: &str = "the verdict is unknown";

/// The flows in one direction, or the sum over multiple directions.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flows {
    pub(super) issued: LayerFlow,
    pub(super) past_cache: Option<LayerFlow>,
    pub(super) reached: Option<LayerFlow>,
    pub(super) served: Served,
    pub(super) bypassed: bool,
    /// I/O on the target's device that was not issued by the run.
    pub(super) foreign: LayerFlow,
    /// Source of the foreign writes, if a verdict separated them from the run's writes.
    pub(super) foreign_writes: Option<ForeignSource>,
    pub(super) uncertainty: f64,
    /// Issued bytes that the filesystem served as zeros.
    pub(super) unwritten_bytes: u64,
    /// Bytes of the issued writes.
    pub(super) written_bytes: u64,
    /// Written bytes that were dirty or in writeback at the end.
    pub(super) pending_bytes: u64,
}

/// Issued I/Os by the layer that served them, or why it is unknown.
#[derive(Clone, Copy, Debug)]
pub(super) enum Served {
    Ios(ServedIos),
    Unknown(&'static str),
}

impl Default for Served {
    fn default() -> Self {
        Self::Unknown(NOT_LOOKED_UP)
    }
}

impl Served {
    fn new(issued: LayerFlow, verdict: Option<&Verdict>, sampled: Option<SharesOrReason>) -> Self {
        if let Some(verdict) = verdict {
            let served = ServedIos::from_verdict(issued.ios, verdict);
            return served.map_or(Self::Unknown(UNKNOWN_VERDICT), Self::Ios);
        }
        match sampled {
            None => Self::default(),
            Some(Err(reason)) => Self::Unknown(reason),
            Some(Ok(shares)) => {
                let LayerShares {
                    page_cache,
                    filesystem,
                    device,
                    unknown: _,
                } = shares;
                Self::Ios(ServedIos::from_shares(
                    issued.ios, page_cache, filesystem, device,
                ))
            }
        }
    }

    fn merge(self, other: Self) -> Self {
        match (self, other) {
            (Self::Ios(one), Self::Ios(other)) => Self::Ios(one + other),
            (Self::Unknown(reason), _) | (_, Self::Unknown(reason)) => Self::Unknown(reason),
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ServedIos {
    pub(super) page_cache: f64,
    /// Served by holes and unwritten extents, or by memory below a block device.
    pub(super) filesystem: f64,
    pub(super) device: f64,
}

impl ServedIos {
    fn from_shares(ios: u64, page_cache: f64, filesystem: f64, device: f64) -> Self {
        let ios = ios as f64;
        Self {
            page_cache: ios * page_cache,
            filesystem: ios * filesystem,
            device: ios * device,
        }
    }

    /// The I/O shares in a verdict; `None` if the layers of most I/Os are unknown, and in runs
    /// recorded before I/Os were sampled.
    fn from_verdict(ios: u64, verdict: &Verdict) -> Option<Self> {
        let of = |layer: &str| verdict.shares.get(layer).copied().unwrap_or(0.0);
        let known = [
            of("page_cache"),
            of("lower_cache") + of("unwritten"),
            of("device"),
        ];
        let [page_cache, filesystem, device] = known;
        let is_known = known.iter().sum::<f64>() >= 0.5;
        is_known.then(|| Self::from_shares(ios, page_cache, filesystem, device))
    }

    /// Trims have neither lookups nor a verdict. Trims that the device did not discard were served
    /// by the filesystem, which only frees blocks.
    fn from_trims(issued: LayerFlow, discarded: LayerFlow) -> Self {
        let share = discarded.bytes.min(issued.bytes) as f64 / issued.bytes.max(1) as f64;
        Self::from_shares(issued.ios, 0.0, 1.0 - share, share)
    }
}

impl Add for ServedIos {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            page_cache: self.page_cache + other.page_cache,
            filesystem: self.filesystem + other.filesystem,
            device: self.device + other.device,
        }
    }
}

impl Flows {
    /// `own_bytes`: the run's device bytes; `None` if all device bytes are attributed to the run.
    pub(super) fn new(
        counters: &DirectionCounters,
        own_bytes: Option<u64>,
        direct: bool,
        verdict: Option<&Verdict>,
    ) -> Self {
        let issued = counters.issued;
        let device = counters.device.unwrap_or_default();
        let own_share = own_share(device.bytes, own_bytes);
        let share = |layer| {
            let shares = verdict.map(|verdict| &verdict.shares);
            shares
                .and_then(|shares| shares.get(layer))
                .copied()
                .unwrap_or(0.0)
        };
        let cached = share("page_cache");
        let bypassed = direct && cached <= NEGLIGIBLE.value;
        let past_cache = if bypassed {
            Some(issued)
        } else if direct {
            Some(scale(issued, 1.0 - cached))
        } else {
            let served_by_filesystem = scale(issued, share("unwritten"));
            counters.device.map(|device| {
                let counted = LayerFlow::new(device.ios + device.merges, device.bytes);
                scale(counted, own_share) + served_by_filesystem
            })
        };
        Self {
            issued,
            past_cache,
            reached: reached(counters, own_share, direct),
            served: Served::new(issued, verdict, counters.shares),
            bypassed,
            foreign: scale(LayerFlow::new(device.ios, device.bytes), 1.0 - own_share),
            uncertainty: verdict.map_or(0.0, |verdict| verdict.uncertainty),
            unwritten_bytes: scale(issued, share("unwritten")).bytes,
            ..Self::default()
        }
    }

    /// Sets the fields that apply only to writes.
    pub(super) fn with_write_fields(
        self,
        pending_bytes: u64,
        foreign: Option<ForeignSource>,
    ) -> Self {
        Self {
            written_bytes: self.issued.bytes,
            pending_bytes,
            foreign_writes: foreign.filter(|_| self.foreign.bytes > 0),
            ..self
        }
    }

    /// Sets the field that is counted differently for trims.
    pub(super) fn with_trim_fields(self) -> Self {
        let served = self.reached.map_or_else(Served::default, |discarded| {
            Served::Ios(ServedIos::from_trims(self.issued, discarded))
        });
        Self { served, ..self }
    }

    pub(super) fn is_used(&self) -> bool {
        self.issued.ios > 0
    }

    /// The sum of two flows. An unused direction contributes only its foreign I/O.
    pub(super) fn merge(self, other: Self) -> Self {
        let foreign = self.foreign + other.foreign;
        if !other.is_used() {
            return Self { foreign, ..self };
        }
        if !self.is_used() {
            return Self { foreign, ..other };
        }
        Self {
            issued: self.issued + other.issued,
            past_cache: sum(self.past_cache, other.past_cache),
            reached: sum(self.reached, other.reached),
            served: self.served.merge(other.served),
            bypassed: self.bypassed && other.bypassed,
            foreign,
            foreign_writes: self.foreign_writes.or(other.foreign_writes),
            uncertainty: self.uncertainty.max(other.uncertainty),
            unwritten_bytes: self.unwritten_bytes + other.unwritten_bytes,
            written_bytes: self.written_bytes + other.written_bytes,
            pending_bytes: self.pending_bytes + other.pending_bytes,
        }
    }
}

/// Share of the device's bytes that are attributed to the run (0-1).
fn own_share(counted: u64, own_bytes: Option<u64>) -> f64 {
    match own_bytes {
        Some(own) if own < counted => own as f64 / counted as f64,
        _ => 1.0,
    }
}

/// The number of I/Os is estimated in proportion to the bytes. Direct I/Os reach the device as
/// issued.
fn reached(counters: &DirectionCounters, own_share: f64, direct: bool) -> Option<LayerFlow> {
    let counted = counters.physical_devices.or(counters.device)?;
    let flow = LayerFlow::new(counted.ios, counted.bytes);
    let mut own = scale(flow, own_share);
    let issued = counters.issued;
    if direct && own_share < 1.0 && issued.bytes > 0 {
        let ratio = own.bytes as f64 / issued.bytes as f64;
        own.ios = scale(issued, ratio).ios.min(counted.ios);
    }
    Some(own)
}

fn scale(flow: LayerFlow, share: f64) -> LayerFlow {
    let part = |count: u64| (count as f64 * share).round() as u64;
    LayerFlow::new(part(flow.ios), part(flow.bytes))
}

fn sum(one: Option<LayerFlow>, other: Option<LayerFlow>) -> Option<LayerFlow> {
    Some(one? + other?)
}
