//! One plain sentence for a class, that somebody who has never heard of a page cache can read: how much, where from,
//! and the two numbers that prove it.

use crate::analysis::verdict::evidence::{Counted, Evidence, dir};
use crate::analysis::verdict::share::Shares;
use crate::analysis::verdict::threshold::NOTHING;
use leadline_protocol::evidence::Direction;
use leadline_protocol::format::{bytes, count};
use leadline_protocol::verdict::VerdictClass;

/// The sentence, and what else must be said with it: since when memory answered, and what could not be told apart.
/// `measure_ms`: when the measured window began, in ms since the run began.
pub(crate) fn sentence(
    evidence: &Evidence,
    shares: &Shares,
    class: VerdictClass,
    measure_ms: f64,
) -> String {
    let first = match (class, &evidence.deviceless) {
        (VerdictClass::NoDevice, Some(place)) => no_device(evidence, place),
        (VerdictClass::Unknown, _) => unknown(evidence),
        _ => Words {
            evidence,
            shares,
            seen: seen(evidence, shares),
        }
        .of(class),
    };
    let turned = evidence
        .transition_ms
        .filter(|_| class != VerdictClass::Unknown);
    let turned = turned.map(|at_ms| {
        format!(
            " Memory answered from {:.1} s on.",
            (at_ms - measure_ms).max(0.0) / 1000.0
        )
    });
    first + &turned.unwrap_or_default() + &weakness(evidence, shares, class)
}

/// The counter that speaks for the device: the lower one where something stopped above it.
fn seen(evidence: &Evidence, shares: &Shares) -> Counted {
    let device = evidence.device.as_ref().ok();
    let (device, beneath) = (device, evidence.beneath.as_ref());
    match (device, beneath) {
        (Some(_), Some(beneath))
            if landed(evidence, shares) < shares.ours.min(evidence.asked()) =>
        {
            beneath.clone()
        }
        (Some(device), _) => device.clone(),
        (None, _) => Counted {
            name: "storage".into(),
            ios: 0,
            bytes: evidence.own.as_ref().copied().unwrap_or(0),
            merges: 0,
        },
    }
}

/// Bytes of this direction that reached the device.
fn landed(evidence: &Evidence, shares: &Shares) -> u64 {
    (shares.device * evidence.bytes as f64).round() as u64
}

struct Words<'a> {
    evidence: &'a Evidence,
    shares: &'a Shares,
    seen: Counted,
}

impl Words<'_> {
    fn of(&self, class: VerdictClass) -> String {
        let iops = count(self.evidence.iops.round() as u64);
        let Counted { name, ios, .. } = &self.seen;
        let counted = self.counted();
        match (class, self.evidence.direction) {
            (VerdictClass::Device, direction) => {
                format!(
                    "{iops} IOPS {} {name}: {counted}.",
                    dir(direction, "came from", "went to")
                )
            }
            (VerdictClass::Foreign, direction) => format!(
                "{iops} IOPS {} {name}, which moved {} for others meanwhile: {counted}.",
                dir(direction, "came from", "went to"),
                bytes(self.shares.others)
            ),
            (VerdictClass::Merged, direction) => format!(
                "{iops} IOPS {} {name} in larger ones: {} {} of {} for {} issued.",
                dir(direction, "came from", "went to"),
                count(*ios),
                self.noun(),
                self.each(),
                self.issued()
            ),
            (VerdictClass::Readahead, _) => format!(
                "{iops} IOPS came through readahead: {name} had read the bytes before they were asked for, in {} reads of {} for {} issued.",
                count(*ios),
                self.each(),
                self.issued()
            ),
            (VerdictClass::PageCache, _) => {
                format!("{iops} IOPS came from memory: {}.", self.reached())
            }
            (VerdictClass::Unwritten, _) => {
                format!(
                    "{iops} IOPS came from blocks that were never written, which the filesystem answers with zeros: {}.",
                    self.reached()
                )
            }
            (VerdictClass::NoDevice, _) => format!(
                "{iops} IOPS came from the filesystem by itself: {}.",
                self.reached()
            ),
            (VerdictClass::DeferredWrite, _) => format!(
                "{iops} IOPS went into memory: {} of the {} had reached {name} when the measurement ended.",
                self.arrived(),
                bytes(self.evidence.bytes)
            ),
            (VerdictClass::Amplified, direction) => {
                let moved = self.evidence.asked() + self.shares.excess;
                format!(
                    "{name} {} {:.1} bytes for each byte asked: {} for {}.",
                    dir(direction, "read", "wrote"),
                    moved as f64 / self.evidence.asked().max(1) as f64,
                    bytes(moved),
                    bytes(self.evidence.asked())
                )
            }
            (VerdictClass::Mixed | VerdictClass::Unknown, _) => {
                format!("{}: {}.", self.parts(), self.reached())
            }
        }
    }

    fn noun(&self) -> &'static str {
        self.evidence.direction.noun()
    }

    fn issued(&self) -> String {
        count(self.evidence.ios)
    }

    /// `only 1.0 %`; `none` where it was nothing at all.
    fn arrived(&self) -> String {
        match self.shares.device {
            0.0 => "none".into(),
            share if share < LEAST_TOLD => percent(share),
            share => format!("only {}", percent(share)),
        }
    }

    fn each(&self) -> String {
        bytes(self.seen.bytes / self.seen.ios.max(1))
    }

    fn counted(&self) -> String {
        match &self.evidence.device {
            Ok(_) => format!(
                "it counted {} {} for {} issued",
                count(self.seen.ios),
                self.noun(),
                self.issued()
            ),
            Err(_) => format!(
                "this process had {} moved for {} issued",
                bytes(self.shares.ours),
                bytes(self.evidence.asked())
            ),
        }
    }

    /// `0 of 2,560 reads reached vda`; in bytes where I/Os were not counted, or where others' are among them.
    fn reached(&self) -> String {
        let Counted {
            name,
            ios,
            bytes: moved,
            ..
        } = &self.seen;
        let landed = landed(self.evidence, self.shares);
        let is_ours = moved.saturating_sub(landed) as f64 <= NOTHING.value * landed as f64;
        if landed == 0 {
            format!("0 of {} {} reached {name}", self.issued(), self.noun())
        } else if self.evidence.device.is_ok() && is_ours {
            format!(
                "{} of {} {} reached {name}",
                count((*ios).min(self.evidence.ios)),
                self.issued(),
                self.noun()
            )
        } else {
            format!(
                "{} of {} reached {name}",
                bytes(landed),
                bytes(self.evidence.bytes)
            )
        }
    }

    /// `43.8 % of the bytes came from vda, 56.2 % from memory`.
    fn parts(&self) -> String {
        let Shares {
            device,
            page_cache,
            unwritten,
            filesystem,
            no_device,
            ..
        } = *self.shares;
        let name = &self.seen.name;
        let places: [(f64, String); 5] = match self.evidence.direction {
            Direction::Read => [
                (device, format!("of the bytes came from {name}")),
                (page_cache, "from memory".into()),
                (unwritten, "were never written".into()),
                (filesystem, "from the filesystem by itself".into()),
                (no_device, "from where no device is".into()),
            ],
            Direction::Write => [
                (device, format!("of the bytes reached {name} in time")),
                (page_cache, "stayed in memory".into()),
                (unwritten, "were never written".into()),
                (filesystem, "the filesystem saved by itself".into()),
                (no_device, "went where no device is".into()),
            ],
        };
        let told = places
            .iter()
            .enumerate()
            .filter(|(place, (share, _))| *place == 0 || *share >= NOTHING.value);
        told.map(|(_, (share, place))| format!("{} {place}", percent(*share)))
            .collect::<Vec<_>>()
            .join(", ")
    }
}

/// The least share that a tenth of a percent can tell.
const LEAST_TOLD: f64 = 0.000_5;

/// `0.0 %` is nothing at all.
fn percent(share: f64) -> String {
    if share > 0.0 && share < LEAST_TOLD {
        return "under 0.1 %".into();
    }
    format!("{:.1} %", share * 100.0)
}

fn no_device(evidence: &Evidence, place: &str) -> String {
    let iops = count(evidence.iops.round() as u64);
    match place {
        "ioengine=null" => format!("{iops} IOPS is the runner alone: ioengine=null does no I/O."),
        place => format!(
            "{iops} IOPS came from {place}, which has no block device that could be counted."
        ),
    }
}

fn unknown(evidence: &Evidence) -> String {
    let noun = evidence.direction.noun();
    let reason = |reason: &str| {
        format!(
            "Where the {noun} went cannot be told: {}.",
            reason.trim_end_matches('.')
        )
    };
    match (&evidence.device, &evidence.own) {
        (Err(why), Err(_)) => reason(why),
        (Ok(device), Err(why)) if device.bytes > evidence.bytes => reason(&format!(
            "{} moved {} for {} issued, and whose they are is not known: {why}",
            device.name,
            bytes(device.bytes),
            bytes(evidence.bytes)
        )),
        _ => format!(
            "Where the {noun} went cannot be told from {} of them.",
            count(evidence.ios)
        ),
    }
}

/// What the verdict would rest on, had it been there.
fn weakness(evidence: &Evidence, shares: &Shares, class: VerdictClass) -> String {
    if matches!(class, VerdictClass::Unknown | VerdictClass::NoDevice)
        || evidence.deviceless.is_some()
    {
        return String::new();
    }
    match (&evidence.device, &evidence.own) {
        (Err(why), _) => format!(
            " The device itself was not counted: {}.",
            why.trim_end_matches('.')
        ),
        (_, Err(why)) if shares.device >= NOTHING.value => {
            format!(
                " Other programs' I/O cannot be told from ours: {}.",
                why.trim_end_matches('.')
            )
        }
        _ => String::new(),
    }
}
