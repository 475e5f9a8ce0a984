//! Where in its files or device each clone works: sizes, offsets and percentages become bytes. A region that does not
//! fit is refused with the figures (fio would shrink it and say nothing).

use crate::plan::asked::Asked;
use crate::plan::bounds::MAX_JSON_INTEGER;
use crate::plan::defaults::said;
use crate::plan::ledger::Ledger;
use crate::plan::notes::Notes;
use crate::plan::paths::Place;
use crate::plan::sizes::Sizes;
use leadline_protocol::format::bytes;
use leadline_protocol::job::value::Extent;
use leadline_protocol::plan::resolved::TargetKind;

/// Length of a target of `ioengine=null` where no size is said: 1 GiB, enough blocks for any pattern.
const NULL_BYTES: u64 = 1 << 30;

/// What to do about a region that ends too late.
const SMALLER_REGION: &str = "Use a smaller size, offset or offset_increment.";

/// One clone's (or all clones') part of one target.
#[derive(Clone, Debug)]
pub(crate) struct Region {
    /// Which place.
    pub place: usize,
    /// The clone; `None` when all share it.
    pub clone: Option<u32>,
    /// Where it begins, in bytes.
    pub begin: u64,
    /// Its bytes, a multiple of the smallest I/O.
    pub len: u64,
}

/// The regions of a job.
#[derive(Debug)]
pub(crate) struct Regions {
    /// Every part of every target.
    pub parts: Vec<Region>,
    /// Where the first clone's region begins in the first target.
    pub offset: u64,
    /// Added per clone.
    pub increment: u64,
}

/// The regions; `None`, with problems, where there are none.
pub(crate) fn settle(
    asked: &Asked,
    sizes: &Sizes,
    places: &[Place],
    ledger: &Ledger,
    notes: &mut Notes,
) -> Option<Regions> {
    let mut regions = Regions {
        parts: Vec::new(),
        offset: 0,
        increment: 0,
    };
    for (index, place) in places.iter().enumerate() {
        let files = places
            .iter()
            .filter(|other| other.clone == place.clone)
            .count() as u64;
        let frame = Frame::of(asked, sizes, place, files, ledger);
        let begin = frame.begin(notes)?;
        let increment = frame.extent(
            &said!(asked.job, offset_increment),
            "offset_increment",
            notes,
        )?;
        if index == 0 {
            (regions.offset, regions.increment) = (begin, increment);
        }
        for clone in frame.clones(place, increment) {
            let begin =
                begin.saturating_add(increment.saturating_mul(u64::from(clone.unwrap_or(0))));
            let len = frame.len(begin, notes)?;
            regions.parts.push(Region {
                place: index,
                clone,
                begin,
                len,
            });
        }
    }
    (!regions.parts.is_empty()).then_some(regions)
}

/// What bounds the regions in one place.
struct Frame<'a> {
    asked: &'a Asked<'a>,
    path: &'a str,
    /// What percentages are of: the device, the length that the file has or is to have; 0 when unknown.
    whole: u64,
    /// Where every region must end; `None` where the file grows as needed.
    limit: Option<u64>,
    /// What `offset` is added to.
    base: u64,
    /// Files that a clone shares its size out over.
    files: u64,
    smallest: u64,
    largest: u64,
}

impl<'a> Frame<'a> {
    fn of(
        asked: &'a Asked<'a>,
        sizes: &Sizes,
        place: &'a Place,
        files: u64,
        ledger: &Ledger,
    ) -> Self {
        let (found, _) = ledger.state(&place.facts);
        let filesize = asked.filesize();
        let appends = said!(asked.job, file_append).0 && place.kind == TargetKind::File;
        let (whole, limit) = match place.kind {
            TargetKind::Device => (found, Some(found)),
            TargetKind::Null => (filesize.unwrap_or(NULL_BYTES), filesize),
            TargetKind::File | TargetKind::Loop => {
                (filesize.unwrap_or(found), filesize.filter(|_| !appends))
            }
        };
        let base = if appends { found } else { 0 };
        Self {
            asked,
            path: &place.facts.canonical,
            whole,
            limit,
            base,
            files,
            smallest: sizes.smallest(),
            largest: sizes.largest(),
        }
    }

    /// Clones that have a part of their own here, or all of them together.
    fn clones(&self, place: &Place, increment: u64) -> Vec<Option<u32>> {
        match place.clone {
            Some(clone) => vec![Some(clone)],
            None if increment > 0 && self.asked.numjobs > 1 => {
                (0..self.asked.numjobs).map(Some).collect()
            }
            None => vec![None],
        }
    }

    fn begin(&self, notes: &mut Notes) -> Option<u64> {
        let offset = self.extent(&said!(self.asked.job, offset), "offset", notes)?;
        Some(self.base.saturating_add(offset))
    }

    /// Bytes of an offset; a percentage is aligned up to the smallest I/O, as in fio.
    fn extent(&self, extent: &Extent, option: &str, notes: &mut Notes) -> Option<u64> {
        match *extent {
            Extent::Bytes(bytes) if bytes > MAX_JSON_INTEGER => {
                notes.invalid(
                    "out_of_range",
                    option,
                    format!("{option} is larger than 2^53 - 1."),
                    "Use a smaller figure.",
                );
                None
            }
            Extent::Bytes(bytes) => Some(bytes),
            Extent::Percent(percent) => {
                let whole = self
                    .percent(percent, option, notes)?
                    .checked_next_multiple_of(self.smallest);
                Some(whole.unwrap_or(u64::MAX))
            }
        }
    }

    fn percent(&self, percent: u8, option: &str, notes: &mut Notes) -> Option<u64> {
        if self.whole == 0 && percent > 0 {
            let sentence = format!(
                "{percent} % of {} is nothing: it is not there yet or empty.",
                self.path
            );
            notes.invalid(
                "percent_of_nothing",
                option,
                sentence,
                "Write bytes, such as 1g, or say filesize.",
            );
            return None;
        }
        Some((u128::from(self.whole) * u128::from(percent) / 100) as u64)
    }

    /// Bytes of the region that begins here.
    fn len(&self, begin: u64, notes: &mut Notes) -> Option<u64> {
        let asked = self.asked_len(begin, notes)?;
        let len = asked - asked % self.smallest;
        if self
            .limit
            .is_some_and(|limit| begin.saturating_add(len) > limit)
        {
            self.refuse_beyond(begin, len, notes);
            return None;
        }
        if begin.saturating_add(len) > MAX_JSON_INTEGER {
            let sentence = format!("The region of {} ends beyond 2^53 - 1 bytes.", self.path);
            notes.invalid("out_of_range", self.end_option(), sentence, SMALLER_REGION);
            return None;
        }
        if len < self.largest {
            let sentence = format!(
                "An I/O of {} does not fit into the region of {} that {} gives it.",
                bytes(self.largest),
                bytes(asked),
                self.path
            );
            notes.invalid(
                "block_larger_than_region",
                self.size_option(),
                sentence,
                "Use a smaller block size or a larger region.",
            );
            return None;
        }
        Some(len)
    }

    /// `size` is shared out over the files; without it the region goes to the end of what is there.
    fn asked_len(&self, begin: u64, notes: &mut Notes) -> Option<u64> {
        let rest = self.whole.saturating_sub(begin);
        match self.asked.job.size {
            Some(Extent::Bytes(size)) => Some(size / self.files),
            Some(Extent::Percent(percent)) => Some(self.percent(percent, "size", notes)?.min(rest)),
            None if self.base == 0 && rest > 0 => Some(rest),
            None if self.base == 0 && self.whole > 0 => {
                self.refuse_beyond(begin, 0, notes);
                None
            }
            None => {
                let sentence = format!(
                    "How much of {} to work on is not said, and it has no length of its own.",
                    self.path
                );
                notes.invalid("size_missing", "size", sentence, "Write a size such as 1g.");
                None
            }
        }
    }

    fn refuse_beyond(&self, begin: u64, len: u64, notes: &mut Notes) {
        let (end, whole) = (
            bytes(begin.saturating_add(len)),
            bytes(self.limit.unwrap_or(self.whole)),
        );
        let sentence = format!(
            "The region of {} ends at {end}, but there are only {whole} of it.",
            self.path
        );
        notes.invalid(
            "region_beyond_end",
            self.end_option(),
            sentence,
            SMALLER_REGION,
        );
    }

    /// The option that a region which ends too late is about.
    fn end_option(&self) -> &'static str {
        if said!(self.asked.job, offset_increment) != Extent::Bytes(0) {
            "offset_increment"
        } else {
            self.size_option()
        }
    }

    /// The option that a region of the wrong length is about.
    fn size_option(&self) -> &'static str {
        match (&self.asked.job.size, &self.asked.job.filesize) {
            (None, None) => "bs",
            (None, Some(_)) => "filesize",
            (Some(_), _) => "size",
        }
    }
}
