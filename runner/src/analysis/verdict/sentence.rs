//! One sentence per verdict: the rate, the layer that served it, and the two numbers that prove it.

use crate::analysis::verdict::{
    evidence::{Evidence, counters::Counted},
    shares::Shares,
    threshold::NEGLIGIBLE,
};
use leadline_protocol::{
    evidence::transition::Direction,
    format::{bytes, count},
    verdict::VerdictClass,
};

/// Smaller shares are shown as `under 0.1 %`.
const MIN_SHOWN_SHARE: f64 = 0.000_5;

/// The sentence, followed by the time of a transition to memory and by missing evidence.
/// `measure_ms`: start of the measured window in ms since the start of the run.
pub(crate) fn sentence(
    evidence: &Evidence,
    shares: &Shares,
    class: VerdictClass,
    measure_ms: f64,
) -> String {
    let mut sentence = match (class, &evidence.no_device) {
        (VerdictClass::NoDevice, Some(place)) => no_device(evidence, place),
        (VerdictClass::Unknown, _) => unknown(evidence),
        _ => {
            let reached_bytes = (shares.device * evidence.bytes as f64).round() as u64;
            let numbers = Numbers {
                evidence,
                shares,
                reached_bytes,
                counted: counted(evidence, shares, reached_bytes),
            };
            numbers.describe(class)
        }
    };
    if class == VerdictClass::Unknown {
        return sentence;
    }
    if let Some(transition_ms) = evidence.transition_ms {
        let after_s = (transition_ms - measure_ms).max(0.0) / 1000.0;
        sentence += &format!(" Served from memory after {after_s:.1} s.");
    }
    if class != VerdictClass::NoDevice && evidence.no_device.is_none() {
        sentence += &missing_evidence(evidence, shares);
    }
    sentence
}

/// The counters of the device, or those of the physical devices if a layer in between served I/O.
fn counted(evidence: &Evidence, shares: &Shares, reached_bytes: u64) -> Counted {
    let sent_bytes = shares.own_bytes.min(evidence.issued_to_devices());
    match (&evidence.device, &evidence.lower_devices) {
        (Ok(_), Some(lower)) if reached_bytes < sent_bytes => lower.clone(),
        (Ok(device), _) => device.clone(),
        (Err(_), _) => Counted {
            name: "storage".into(),
            bytes: evidence.own_bytes.as_ref().copied().unwrap_or(0),
            ..Counted::default()
        },
    }
}

struct Numbers<'a> {
    evidence: &'a Evidence,
    shares: &'a Shares,
    reached_bytes: u64,
    counted: Counted,
}

impl Numbers<'_> {
    fn describe(&self, class: VerdictClass) -> String {
        let evidence = self.evidence;
        let name = &self.counted.name;
        let noun = evidence.direction.noun();
        let iops = iops(evidence);
        let issued = count(evidence.ios);
        let device_ios = count(self.counted.ios);
        let device_size = bytes(self.counted.bytes / self.counted.ios.max(1));
        match class {
            VerdictClass::Device => {
                let all = if percent(self.shares.device) == "100.0 %" {
                    "All "
                } else {
                    ""
                };
                format!(
                    "{all}{iops} IOPS reached {name}: {}.",
                    self.issued_and_counted()
                )
            }
            VerdictClass::Foreign => format!(
                "{iops} IOPS reached {name}, which also moved {} for other programs: {}.",
                bytes(self.shares.foreign_bytes),
                self.issued_and_counted()
            ),
            VerdictClass::Merged => format!(
                "{iops} IOPS reached {name} in larger I/Os: {device_ios} {noun} of {device_size} for {issued} issued."
            ),
            VerdictClass::Readahead => format!(
                "{iops} IOPS through readahead: {name} served {device_ios} reads of {device_size} for {issued} issued."
            ),
            VerdictClass::PageCache => format!("{iops} IOPS from memory: {}.", self.reached()),
            VerdictClass::Unwritten => format!(
                "{iops} IOPS from blocks that were never written, which the filesystem returns as zeros: {}.",
                self.reached()
            ),
            VerdictClass::NoDevice => {
                format!(
                    "{iops} IOPS from the filesystem, without I/O: {}.",
                    self.reached()
                )
            }
            VerdictClass::DeferredWrite => format!(
                "{iops} IOPS into memory: {} of the {} reached {name} before the measurement ended.",
                reached_share(self.shares.device),
                bytes(evidence.bytes)
            ),
            VerdictClass::Amplified => {
                let issued = evidence.issued_to_devices();
                let moved = issued + self.shares.excess_bytes;
                format!(
                    "{name} {} {:.1} bytes per byte issued: {} for {}.",
                    evidence.direction.select("read", "wrote"),
                    moved as f64 / issued.max(1) as f64,
                    bytes(moved),
                    bytes(issued)
                )
            }
            VerdictClass::Mixed | VerdictClass::Unknown => {
                format!("{}: {}.", self.parts(), self.reached())
            }
        }
    }

    fn issued_and_counted(&self) -> String {
        let evidence = self.evidence;
        match &evidence.device {
            Ok(_) => format!(
                "{} {} issued, {} seen by the device",
                count(evidence.ios),
                evidence.direction.noun(),
                count(self.counted.ios)
            ),
            Err(_) => format!(
                "{} issued, {} moved by this process",
                bytes(evidence.issued_to_devices()),
                bytes(self.shares.own_bytes)
            ),
        }
    }

    /// `0 of 2,560 reads reached vda`; in bytes if I/Os were not counted or include foreign I/O.
    fn reached(&self) -> String {
        let Counted {
            name,
            ios,
            bytes: moved,
            ..
        } = &self.counted;
        let issued = self.evidence.ios;
        let noun = self.evidence.direction.noun();
        let reached_bytes = self.reached_bytes;
        let is_own =
            moved.saturating_sub(reached_bytes) as f64 <= NEGLIGIBLE.value * reached_bytes as f64;
        if reached_bytes == 0 {
            format!("0 of {} {noun} reached {name}", count(issued))
        } else if self.evidence.device.is_ok() && is_own {
            format!(
                "{} of {} {noun} reached {name}",
                count(issued.min(*ios)),
                count(issued)
            )
        } else {
            format!(
                "{} of {} reached {name}",
                bytes(reached_bytes),
                bytes(self.evidence.bytes)
            )
        }
    }

    /// `43.8 % of the bytes from vda, 56.2 % from memory`.
    fn parts(&self) -> String {
        let Shares {
            device,
            page_cache,
            unwritten,
            filesystem,
            no_device,
            ..
        } = *self.shares;
        let name = &self.counted.name;
        let texts = match self.evidence.direction {
            Direction::Read => [
                format!("of the bytes from {name}"),
                "from memory".into(),
                "never written".into(),
                "from the filesystem".into(),
                "without a device".into(),
            ],
            Direction::Write => [
                format!("of the bytes reached {name}"),
                "stayed in memory".into(),
                "never written".into(),
                "eliminated by the filesystem".into(),
                "without a device".into(),
            ],
        };
        let shares = [device, page_cache, unwritten, filesystem, no_device];
        let mut parts = Vec::new();
        for (index, (share, text)) in shares.into_iter().zip(texts).enumerate() {
            if index == 0 || share >= NEGLIGIBLE.value {
                parts.push(format!("{} {text}", percent(share)));
            }
        }
        parts.join(", ")
    }
}

fn iops(evidence: &Evidence) -> String {
    count(evidence.iops.round() as u64)
}

/// `only 1.0 %`, `under 0.1 %` or `none`.
fn reached_share(share: f64) -> String {
    if share == 0.0 {
        "none".into()
    } else if share < MIN_SHOWN_SHARE {
        percent(share)
    } else {
        format!("only {}", percent(share))
    }
}

fn percent(share: f64) -> String {
    if share > 0.0 && share < MIN_SHOWN_SHARE {
        return "under 0.1 %".into();
    }
    format!("{:.1} %", share * 100.0)
}

fn no_device(evidence: &Evidence, place: &str) -> String {
    let iops = iops(evidence);
    match place {
        "ioengine=null" => format!("{iops} IOPS of the runner alone: ioengine=null does no I/O."),
        place => format!("{iops} IOPS from {place}, which has no block device counters."),
    }
}

fn unknown(evidence: &Evidence) -> String {
    let noun = evidence.direction.noun();
    let reason = match (&evidence.device, &evidence.own_bytes) {
        (Err(reason), Err(_)) => reason.trim_end_matches('.').to_owned(),
        (Ok(device), Err(reason)) if device.bytes > evidence.bytes => format!(
            "{} moved {} for {} issued, and I/O by other programs cannot be distinguished ({})",
            device.name,
            bytes(device.bytes),
            bytes(evidence.bytes),
            reason.trim_end_matches('.')
        ),
        _ => format!("only {} {noun} completed", count(evidence.ios)),
    };
    format!("The layer that served the {noun} is unknown: {reason}.")
}

fn missing_evidence(evidence: &Evidence, shares: &Shares) -> String {
    match (&evidence.device, &evidence.own_bytes) {
        (Err(reason), _) => {
            format!(
                " Device I/O was not counted: {}.",
                reason.trim_end_matches('.')
            )
        }
        (_, Err(reason)) if shares.device >= NEGLIGIBLE.value => format!(
            " I/O by other programs cannot be distinguished: {}.",
            reason.trim_end_matches('.')
        ),
        _ => String::new(),
    }
}
