//! Maps shares to a verdict class: the first matching rule applies. `docs/measurement.md` contains
//! the same table; a test compares them.
//!
//! Classes depend on bytes, because the kernel merges and splits I/Os. The number of I/Os only
//! distinguishes readahead and merging from unchanged I/O.

use crate::analysis::verdict::{
    evidence::Evidence,
    shares::Shares,
    threshold::{EXCESS, MERGE_RATIO, MIN_IOS, MOSTLY, NEARLY_ALL, NEGLIGIBLE, NOISE_FLOOR},
};
use leadline_protocol::{evidence::transition::Direction, verdict::VerdictClass};

pub(crate) struct Rule {
    pub class: VerdictClass,
    /// The condition as text; `{negligible}` is replaced with the value of that threshold.
    #[cfg_attr(not(test), expect(dead_code, reason = "compared with the document"))]
    pub when: &'static str,
    #[cfg_attr(not(test), expect(dead_code, reason = "compared with the document"))]
    pub means: &'static str,
    matches: fn(&Evidence, &Shares) -> bool,
}

/// In order of precedence. The last rule always matches.
pub(crate) const RULES: [Rule; 13] = [
    Rule {
        class: VerdictClass::NoDevice,
        when: "no target of this direction has a block device",
        means: "the result describes memory or a filesystem",
        matches: |evidence, _| evidence.no_device.is_some(),
    },
    Rule {
        class: VerdictClass::Unknown,
        when: "no device and no process counters, or fewer than {min_ios} and less than {noise_floor}",
        means: "not enough data",
        matches: |evidence, _| {
            evidence.has_no_counters()
                || evidence.ios < MIN_IOS.as_u64() && evidence.bytes < NOISE_FLOOR.as_u64()
        },
    },
    Rule {
        class: VerdictClass::Unknown,
        when: "device bytes exceed the issued bytes by more than {excess} and {noise_floor}, and the process counters are missing",
        means: "the I/O cannot be attributed",
        matches: |evidence, _| {
            evidence.own_bytes.is_err()
                && is_excess(evidence.device_bytes(), evidence.issued_to_devices())
        },
    },
    Rule {
        class: VerdictClass::Foreign,
        when: "device at least {nearly_all}, and foreign I/O above {noise_floor} and above {excess} of the run's device bytes",
        means: "served by the device while other programs used it",
        matches: |_, shares| {
            shares.device >= NEARLY_ALL.value
                && is_excess(shares.own_bytes + shares.foreign_bytes, shares.own_bytes)
        },
    },
    Rule {
        class: VerdictClass::Amplified,
        when: "device at least {nearly_all}, and device bytes exceed the issued bytes by more than {excess} and {noise_floor}",
        means: "metadata, journal, copy on write, read-modify-write, or unused readahead",
        matches: |evidence, shares| {
            shares.device >= NEARLY_ALL.value
                && is_excess(
                    evidence.issued_to_devices() + shares.excess_bytes,
                    evidence.issued_to_devices(),
                )
        },
    },
    Rule {
        class: VerdictClass::Unwritten,
        when: "device below {negligible}, at least {nearly_all} from extents without data",
        means: "the filesystem returned zeros; nothing was read",
        matches: |_, shares| {
            shares.device < NEGLIGIBLE.value && shares.unwritten >= NEARLY_ALL.value
        },
    },
    Rule {
        class: VerdictClass::PageCache,
        when: "reads, device below {negligible}, page cache at least {nearly_all}",
        means: "served from memory",
        matches: |evidence, shares| {
            evidence.direction == Direction::Read
                && shares.device < NEGLIGIBLE.value
                && shares.page_cache >= NEARLY_ALL.value
        },
    },
    Rule {
        class: VerdictClass::DeferredWrite,
        when: "writes, page cache above {mostly}",
        means: "accepted into memory, not yet on the device",
        matches: |evidence, shares| {
            evidence.direction == Direction::Write && shares.page_cache > MOSTLY.value
        },
    },
    Rule {
        class: VerdictClass::NoDevice,
        when: "device below {negligible}, filesystem at least {nearly_all}",
        means: "served by the filesystem: inline or compressed data",
        matches: |_, shares| {
            shares.device < NEGLIGIBLE.value && shares.filesystem >= NEARLY_ALL.value
        },
    },
    Rule {
        class: VerdictClass::Mixed,
        when: "device below {nearly_all}",
        means: "served by several layers",
        matches: |_, shares| shares.device < NEARLY_ALL.value,
    },
    Rule {
        class: VerdictClass::Readahead,
        when: "buffered reads, at most {merge_ratio} as many device I/Os as issued",
        means: "readahead combined small reads into few large ones",
        matches: |evidence, _| {
            evidence.direction == Direction::Read && !evidence.direct && is_merged(evidence)
        },
    },
    Rule {
        class: VerdictClass::Merged,
        when: "at most {merge_ratio} as many device I/Os as issued",
        means: "adjacent I/Os were merged",
        matches: |evidence, _| is_merged(evidence),
    },
    Rule {
        class: VerdictClass::Device,
        when: "otherwise",
        means: "served by the device",
        matches: |_, _| true,
    },
];

pub(crate) fn classify(evidence: &Evidence, shares: &Shares) -> VerdictClass {
    RULES
        .iter()
        .find(|rule| (rule.matches)(evidence, shares))
        .map_or(VerdictClass::Unknown, |rule| rule.class)
}

/// Whether `bytes` exceed `expected` significantly: by the noise floor and by the excess ratio.
pub(crate) fn is_excess(bytes: u64, expected: u64) -> bool {
    let excess = bytes.saturating_sub(expected);
    excess > NOISE_FLOOR.as_u64() && excess as f64 > EXCESS.value * expected as f64
}

fn is_merged(evidence: &Evidence) -> bool {
    evidence
        .ios_ratio()
        .is_some_and(|ratio| ratio <= MERGE_RATIO.value)
}
