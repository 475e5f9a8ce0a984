//! From shares to one word: one table of rules, and the first that holds decides. `docs/measurement.md` shows this table; a
//! test holds the two together.
//!
//! Bytes decide how much went where: the kernel merges and splits I/Os as it likes, but bytes stay bytes. The number of
//! I/Os only tells readahead and merging from plain I/O.

use crate::analysis::verdict::evidence::Evidence;
use crate::analysis::verdict::share::Shares;
use crate::analysis::verdict::threshold::{ALL, FEW_LARGE, FEWEST, FLOOR, MORE, MOSTLY, NOTHING};
use leadline_protocol::evidence::Direction;
use leadline_protocol::verdict::VerdictClass;

/// One row of the table.
pub(crate) struct Rule {
    /// The word.
    pub class: VerdictClass,
    /// When it holds, in words; `{nothing}` stands for a threshold.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "the document is held against it")
    )]
    pub when: &'static str,
    /// What that means.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "the document is held against it")
    )]
    pub means: &'static str,
    holds: fn(&Evidence, &Shares) -> bool,
}

/// The rules in their order. The last one always holds.
pub(crate) const RULES: [Rule; 13] = [
    Rule {
        class: VerdictClass::NoDevice,
        when: "no target of this direction has a block device",
        means: "the number is about memory or a filesystem",
        holds: |evidence, _| evidence.deviceless.is_some(),
    },
    Rule {
        class: VerdictClass::Unknown,
        when: "neither the device's counters nor those of the process; or under {fewest} and under {floor}",
        means: "too little is known; nothing is guessed",
        holds: |evidence, _| {
            evidence.is_blind() || evidence.ios < FEWEST.whole() && evidence.bytes < FLOOR.whole()
        },
    },
    Rule {
        class: VerdictClass::Unknown,
        when: "the device moved {more} and {floor} more than was issued, and the process's own counters are missing",
        means: "it may be ours or anybody's",
        holds: |evidence, _| {
            evidence.own.is_err() && is_more(evidence.counted_bytes(), evidence.asked())
        },
    },
    Rule {
        class: VerdictClass::Foreign,
        when: "device at least {all}, and others moved {more} of it and {floor} beside",
        means: "the device answered, and was shared while it did",
        holds: |_, shares| {
            shares.device >= ALL.value && is_more(shares.ours + shares.others, shares.ours)
        },
    },
    Rule {
        class: VerdictClass::Amplified,
        when: "device at least {all}, and {more} and {floor} more than was issued",
        means: "metadata, journal, copy on write, read-modify-write, or reading ahead in vain",
        holds: |evidence, shares| {
            shares.device >= ALL.value
                && is_more(evidence.asked() + shares.excess, evidence.asked())
        },
    },
    Rule {
        class: VerdictClass::Unwritten,
        when: "device under {nothing}, extents without data at least {all}",
        means: "the filesystem made zeros; nothing was read",
        holds: |_, shares| shares.device < NOTHING.value && shares.unwritten >= ALL.value,
    },
    Rule {
        class: VerdictClass::PageCache,
        when: "reads, device under {nothing}, page cache at least {all}",
        means: "memory answered",
        holds: |evidence, shares| {
            evidence.direction == Direction::Read
                && shares.device < NOTHING.value
                && shares.page_cache >= ALL.value
        },
    },
    Rule {
        class: VerdictClass::DeferredWrite,
        when: "writes, page cache over {mostly}",
        means: "memory took them, and the device has yet to",
        holds: |evidence, shares| {
            evidence.direction == Direction::Write && shares.page_cache > MOSTLY.value
        },
    },
    Rule {
        class: VerdictClass::NoDevice,
        when: "device under {nothing}, filesystem at least {all}",
        means: "the filesystem answered by itself: inline or compressed data",
        holds: |_, shares| shares.device < NOTHING.value && shares.filesystem >= ALL.value,
    },
    Rule {
        class: VerdictClass::Mixed,
        when: "device under {all}",
        means: "parts went to different places",
        holds: |_, shares| shares.device < ALL.value,
    },
    Rule {
        class: VerdictClass::Readahead,
        when: "buffered reads, in at most {few} as many I/Os as were issued",
        means: "few large reads, made ahead of the job",
        holds: |evidence, _| {
            evidence.direction == Direction::Read && !evidence.direct && is_few(evidence)
        },
    },
    Rule {
        class: VerdictClass::Merged,
        when: "all others, in at most {few} as many I/Os as were issued",
        means: "neighbours were joined on the way to the device",
        holds: |evidence, _| is_few(evidence),
    },
    Rule {
        class: VerdictClass::Device,
        when: "all others",
        means: "the device answered",
        holds: |_, _| true,
    },
];

/// The class that the numbers show.
pub(crate) fn classify(evidence: &Evidence, shares: &Shares) -> VerdictClass {
    RULES
        .iter()
        .find(|rule| (rule.holds)(evidence, shares))
        .map_or(VerdictClass::Unknown, |rule| rule.class)
}

/// Whether this is more than that by the part and by the floor that mean something.
pub(crate) fn is_more(bytes: u64, than: u64) -> bool {
    let beyond = bytes.saturating_sub(than);
    beyond > FLOOR.whole() && beyond as f64 > MORE.value * than as f64
}

fn is_few(evidence: &Evidence) -> bool {
    evidence
        .ios_ratio()
        .is_some_and(|ratio| ratio <= FEW_LARGE.value)
}
