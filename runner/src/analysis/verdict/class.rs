//! Maps shares to a verdict class: the first matching rule applies. `docs/measurement.md` contains
//! the same table; a test compares them.
//!
//! A class depends only on the shares of the I/Os. Other effects are in `modifiers`.

use crate::analysis::verdict::{
    evidence::Evidence,
    shares::Shares,
    threshold::{MAX_ERROR, MAX_UNKNOWN, MOSTLY, NEARLY_ALL, NEGLIGIBLE},
};
use leadline_protocol::{evidence::transition::Direction, verdict::VerdictClass};

pub(crate) struct Rule {
    pub class: VerdictClass,
    /// The condition as text; placeholders such as `{negligible}` are replaced with thresholds.
    #[cfg_attr(not(test), expect(dead_code, reason = "compared with the document"))]
    pub when: &'static str,
    #[cfg_attr(not(test), expect(dead_code, reason = "compared with the document"))]
    pub means: &'static str,
    matches: fn(&Evidence, &Shares) -> bool,
}

/// In order of precedence. The last rule always matches.
pub(crate) const RULES: [Rule; 8] = [
    Rule {
        class: VerdictClass::NoDevice,
        when: "no target in this direction has a block device, and less than {max_unknown} of the reads accessed swapped-out tmpfs data",
        means: "the result reflects memory, a network or a filesystem in user space",
        matches: |evidence, shares| evidence.no_device.is_some() && !is_swapped(evidence, shares),
    },
    Rule {
        class: VerdictClass::Unknown,
        when: "unknown at least {max_unknown}, or an error bound above {max_error}",
        means: "the sample and the counters do not determine the layer",
        matches: |_, shares| {
            shares.unknown >= MAX_UNKNOWN.value || shares.uncertainty > MAX_ERROR.value
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
        class: VerdictClass::LowerCache,
        when: "device below {negligible}, lower cache at least {nearly_all}",
        means: "served from memory below a block device",
        matches: |_, shares| {
            shares.device < NEGLIGIBLE.value && shares.lower_cache >= NEARLY_ALL.value
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
        class: VerdictClass::Mixed,
        when: "device below {nearly_all}",
        means: "served by multiple layers",
        matches: |_, shares| shares.device < NEARLY_ALL.value,
    },
    Rule {
        class: VerdictClass::Device,
        when: "otherwise",
        means: "served by the device",
        matches: |_, _| true,
    },
];

/// Whether reads from a tmpfs needed swapped-out pages, which a swap device served.
fn is_swapped(evidence: &Evidence, shares: &Shares) -> bool {
    let is_tmpfs = evidence.no_device.as_deref() == Some("tmpfs");
    let was_sampled = evidence
        .estimate
        .as_ref()
        .is_some_and(|found| found.samples > 0);
    is_tmpfs
        && was_sampled
        && evidence.direction == Direction::Read
        && shares.unknown >= MAX_UNKNOWN.value
}

pub(crate) fn classify(evidence: &Evidence, shares: &Shares) -> VerdictClass {
    RULES
        .iter()
        .find(|rule| (rule.matches)(evidence, shares))
        .map_or(VerdictClass::Unknown, |rule| rule.class)
}
