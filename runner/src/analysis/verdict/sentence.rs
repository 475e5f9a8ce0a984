//! One sentence per verdict: the IOPS, the layer that served them, and the numbers that prove it.

use crate::analysis::{
    context::DirectionAnalysis,
    verdict::{
        evidence::Evidence,
        percentage::{MIN_SHOWN_SHARE, percent},
        shares::Shares,
        threshold::{NEGLIGIBLE, NOISE_FLOOR},
        unknown::unknown,
    },
};
use leadline_protocol::{
    evidence::transition::Direction,
    format::{bytes, count},
    verdict::{Modifier, ModifierKind, VerdictClass},
};

/// Modifiers that are mentioned in a sentence about the device, most important first.
const MENTIONED: [ModifierKind; 5] = [
    ModifierKind::Foreign,
    ModifierKind::Amplified,
    ModifierKind::Readahead,
    ModifierKind::Merged,
    ModifierKind::Split,
];

/// The sentence, followed by the time of a transition to memory and by missing evidence.
/// `measure_ms`: start of the measured window, in ms since the start of the run.
pub(crate) fn sentence(analysis: &DirectionAnalysis, measure_ms: f64) -> String {
    let evidence = &analysis.evidence;
    if let (VerdictClass::NoDevice, Some(place)) = (analysis.class, &evidence.no_device) {
        return no_device(evidence, place);
    }
    if analysis.class == VerdictClass::Unknown {
        return unknown(analysis);
    }
    let mut sentence = Numbers { analysis }.describe();
    if let Some(transition_ms) = evidence.transition_ms {
        let after_s = (transition_ms - measure_ms).max(0.0) / 1000.0;
        sentence += &format!(" Served from memory after {after_s:.1} s.");
    }
    if let Err(reason) = &evidence.device {
        let reason = reason.trim_end_matches('.');
        sentence += &format!(" Device I/O was not counted: {reason}.");
    }
    sentence
}

struct Numbers<'a> {
    analysis: &'a DirectionAnalysis,
}

impl Numbers<'_> {
    fn describe(&self) -> String {
        let evidence = &self.analysis.evidence;
        let iops = iops(evidence);
        let reached = self.reached();
        match self.analysis.class {
            VerdictClass::PageCache => {
                format!("{iops} IOPS from memory: {reached}.{}", self.read_ahead())
            }
            VerdictClass::LowerCache => format!(
                "{iops} IOPS {} memory below {}: {reached}.",
                evidence.direction.select("from", "into"),
                self.device_name()
            ),
            VerdictClass::Unwritten => format!(
                "{iops} IOPS from blocks that were never written, which the filesystem returns as zeros: {reached}."
            ),
            VerdictClass::DeferredWrite => format!(
                "{iops} IOPS into memory: {} of the {} reached {} before the measurement ended.",
                reached_share(self.shares().device),
                bytes(evidence.bytes),
                self.storage_name()
            ),
            VerdictClass::Mixed => format!("{}: {reached}.{}", self.parts(), self.read_ahead()),
            _ => self.describe_device(),
        }
    }

    /// Returns a sentence if reads from memory used pages that readahead had fetched for other
    /// reads.
    fn read_ahead(&self) -> String {
        match &self.analysis.evidence.device {
            Ok(device) if self.analysis.transfers.read_ahead_bytes > NOISE_FLOOR.as_u64() => {
                format!(
                    " Readahead had fetched the pages: {} read {} in {} I/Os.",
                    device.name,
                    bytes(device.bytes),
                    count(device.ios)
                )
            }
            _ => String::new(),
        }
    }

    fn describe_device(&self) -> String {
        let mut mentioned = MENTIONED.iter();
        let modifier = mentioned.find_map(|kind| self.analysis.modifier(*kind));
        match modifier {
            Some(modifier) => self.describe_modifier(modifier),
            None => {
                let share = percent(self.shares().device);
                let all = if share == "100.0 %" { "All " } else { "" };
                let iops = iops(&self.analysis.evidence);
                let name = self.device_name();
                format!(
                    "{all}{iops} IOPS reached {name}: {}.",
                    self.issued_and_counted()
                )
            }
        }
    }

    fn describe_modifier(&self, modifier: &Modifier) -> String {
        let evidence = &self.analysis.evidence;
        let name = self.device_name();
        let iops = iops(evidence);
        let noun = evidence.direction.noun();
        let issued = count(evidence.ios);
        let device = evidence.device.as_ref().ok();
        let ios = device.map_or(0, |device| device.ios);
        let size = bytes(device.map_or(0, |device| device.bytes) / ios.max(1));
        let device_ios = count(ios);
        match modifier.kind {
            ModifierKind::Foreign => format!(
                "{iops} IOPS reached {name}, which also transferred {} for other programs: {}.",
                bytes(modifier.bytes.unwrap_or(0)),
                self.issued_and_counted()
            ),
            ModifierKind::Amplified => {
                let needed = self.analysis.transfers.needed_bytes;
                let moved = needed + self.analysis.transfers.excess_bytes;
                format!(
                    "{name} {} {:.1} × the issued bytes: {} for {}.",
                    evidence.direction.select("read", "wrote"),
                    modifier.factor.unwrap_or(0.0),
                    bytes(moved),
                    bytes(needed)
                )
            }
            ModifierKind::Readahead => format!(
                "{iops} IOPS through readahead: {name} served {device_ios} reads of {size} for {issued} issued."
            ),
            ModifierKind::Split => format!(
                "{iops} IOPS reached {name} in smaller I/Os: {device_ios} {noun} of {size} for {issued} issued."
            ),
            _ => format!(
                "{iops} IOPS reached {name} in larger I/Os: {device_ios} {noun} of {size} for {issued} issued."
            ),
        }
    }

    fn shares(&self) -> &Shares {
        &self.analysis.shares
    }

    fn device_name(&self) -> &str {
        let device = self.analysis.evidence.device.as_ref().ok();
        device.map_or("storage", |device| &device.name)
    }

    /// Name of the lowest device with counters, or "a disk" if no device below the memory that
    /// served the I/Os has counters.
    fn storage_name(&self) -> &str {
        match &self.analysis.evidence.lower_devices {
            Some(lower) => &lower.name,
            None if self.shares().lower_cache >= NEGLIGIBLE.value => "a disk",
            None => self.device_name(),
        }
    }

    fn issued_and_counted(&self) -> String {
        let evidence = &self.analysis.evidence;
        match &evidence.device {
            Ok(device) => format!(
                "{} {} issued, {} seen by the device",
                count(evidence.ios),
                evidence.direction.noun(),
                count(device.ios)
            ),
            Err(_) => format!(
                "{} {} issued, {} of them looked up",
                count(evidence.ios),
                evidence.direction.noun(),
                count(evidence.estimate.as_ref().map_or(0, |found| found.samples))
            ),
        }
    }

    /// `0 of 2,560 reads reached vda`, or `about 1,200 of 2,560 reads (±1.5 %) reached vda in 75
    /// I/Os`.
    fn reached(&self) -> String {
        let evidence = &self.analysis.evidence;
        let noun = evidence.direction.noun();
        let name = self.storage_name();
        let issued = count(evidence.ios);
        let reached = (self.shares().device * evidence.ios as f64).round() as u64;
        let combined = self.combined_ios(reached);
        let reached = count(reached);
        let error = self.shares().uncertainty;
        if error < MIN_SHOWN_SHARE {
            return format!("{reached} of {issued} {noun} reached {name}{combined}");
        }
        let error = format!("{:.1}", error * 100.0);
        format!("about {reached} of {issued} {noun} (±{error} %) reached {name}{combined}")
    }

    /// ` in 11 I/Os` if the device served the I/Os that reached it in far fewer I/Os of its own,
    /// and nothing else used it.
    fn combined_ios(&self, reached: u64) -> String {
        let evidence = &self.analysis.evidence;
        let has_other_io = self.analysis.modifier(ModifierKind::Foreign).is_some();
        match &evidence.device {
            Ok(device)
                if evidence.lower_devices.is_none()
                    && !has_other_io
                    && (1..=reached / 2).contains(&device.ios) =>
            {
                format!(" in {} I/Os", count(device.ios))
            }
            _ => String::new(),
        }
    }

    /// `56.2 % of the reads from memory, 43.8 % from vda`, the largest share first.
    fn parts(&self) -> String {
        let shares = self.shares();
        let name = self.storage_name();
        let noun = self.analysis.evidence.direction.noun();
        let texts = match self.analysis.evidence.direction {
            Direction::Read => [
                format!("from {name}"),
                "from memory".into(),
                format!("from memory below {}", self.device_name()),
                "never written".into(),
                "unknown".into(),
            ],
            Direction::Write => [
                format!("reached {name}"),
                "stayed in memory".into(),
                format!("stayed in memory below {}", self.device_name()),
                "never written".into(),
                "unknown".into(),
            ],
        };
        let shares = [
            shares.device,
            shares.page_cache,
            shares.lower_cache,
            shares.unwritten,
            shares.unknown,
        ];
        // The device is always listed, even if nothing reached it.
        let mut listed: Vec<(f64, String)> = shares
            .into_iter()
            .zip(texts)
            .enumerate()
            .filter(|(index, (share, _))| *index == 0 || *share >= NEGLIGIBLE.value)
            .map(|(_, part)| part)
            .collect();
        listed.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        let parts = listed.iter().enumerate().map(|(index, (share, text))| {
            let of = if index == 0 {
                format!("of the {noun} ")
            } else {
                String::new()
            };
            format!("{} {of}{text}", percent(*share))
        });
        parts.collect::<Vec<String>>().join(", ")
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

fn no_device(evidence: &Evidence, source: &str) -> String {
    let iops = iops(evidence);
    match source {
        "ioengine=null" => {
            format!("{iops} IOPS from the runner alone: ioengine=null performs no I/O.")
        }
        source => format!("{iops} IOPS from {source}, which has no block device counters."),
    }
}
