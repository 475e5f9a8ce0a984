//! Classifies a block that was read back.

use crate::load::verify::{
    block::{SECTOR, Sector, is_damaged_stamp},
    finding::Finding,
    format::Format,
    header::Header,
    pattern_check,
    written_blocks::Expected,
};
use leadline_protocol::{format::count, job::verify_method::VerifyMethod, report::verify::Damage};

/// `offset`: where the block was read.
///
/// # Errors
/// Returns an error if the block does not contain the expected data.
pub(crate) fn check(
    format: &Format,
    block: &[u8],
    offset: u64,
    expected: Expected,
) -> Result<(), Finding> {
    let block = &*format.with_header_first(block);
    if format.method == VerifyMethod::Pattern {
        return pattern_check::check(format, block, offset, None);
    }
    let header = Header::read(block);
    let intact = header.filter(|header| header.method == format.method && header.matches(block));
    match intact {
        Some(header) => {
            check_intact(&header, offset, expected)?;
            // With a pattern, the header contains no checksum of the data, so the pattern itself is
            // compared.
            match format.method {
                VerifyMethod::HeaderPattern => {
                    pattern_check::check(format, block, offset, Some(&header))
                }
                _ => Ok(()),
            }
        }
        None => check_damaged(format, block, offset, expected, header),
    }
}

/// Checks a block that is intact, but may be misplaced or stale.
fn check_intact(header: &Header, offset: u64, expected: Expected) -> Result<(), Finding> {
    if header.offset != offset {
        let detail = format!("This data was written to offset {}.", header.offset);
        let mut finding = Finding::new(Damage::Misplaced, detail);
        finding.found_offset = Some(header.offset);
        return Err(finding);
    }
    if expected.accepts(header.seed) {
        return Ok(());
    }
    Err(Finding::new(
        Damage::Stale,
        stale_detail(header.seed, expected),
    ))
}

fn stale_detail(number: u64, expected: Expected) -> String {
    let position = match expected {
        Expected::LastWrite(writes, _) => writes.position(number),
        _ => None,
    };
    match position {
        Some(position) => format!(
            "This data is from an earlier write in this run (number {} of the blocks that the worker wrote).",
            count(position)
        ),
        None => "This data was not written by this run.".into(),
    }
}

fn check_damaged(
    format: &Format,
    block: &[u8],
    offset: u64,
    expected: Expected,
    header: Option<Header>,
) -> Result<(), Finding> {
    if block.iter().all(|byte| *byte == 0) {
        return Err(Finding::new(Damage::Zeroed, "All bytes are zero."));
    }
    if let Some(header) = header.filter(|header| header.method != format.method) {
        let detail = format!(
            "The block was written with verify={}, not {}.",
            header.method.as_str(),
            format.method.as_str()
        );
        return Err(Finding::new(Damage::Flipped, detail));
    }
    if let Some(header) = header.filter(|header| header.length as usize != block.len()) {
        let detail = format!(
            "The header belongs to a block of {} bytes (verify_interval={}).",
            header.length, header.length
        );
        return Err(Finding::new(Damage::Flipped, detail));
    }
    if format.pattern.is_some() {
        return Err(pattern_check::damage(
            format,
            block,
            offset,
            header.as_ref(),
        ));
    }
    let sectors = Sectors::read(block, offset);
    let is_foreign = header.is_none() && !sectors.has_writes();
    if is_foreign && expected == Expected::AnyWrite {
        let detail = "The block has neither a header nor a stamp.";
        return Err(Finding::new(Damage::Unwritten, detail));
    }
    let is_overlapped = matches!(expected, Expected::Overlapped(_));
    if is_overlapped && sectors.are_all_from(|number| expected.accepts(number)) {
        // The device may have interleaved the sectors of two concurrent writes.
        return Ok(());
    }
    let Some(number) = sectors.reference_number(header, expected) else {
        let detail = "The block contains unrelated data.";
        return Err(Finding::new(Damage::Flipped, detail));
    };
    Err(sectors.compare(number, header.is_some()))
}

/// The sectors of a damaged block.
struct Sectors<'a> {
    block: &'a [u8],
    offset: u64,
    list: Vec<Sector>,
}

impl<'a> Sectors<'a> {
    fn read(block: &'a [u8], offset: u64) -> Self {
        let sectors = block.chunks_exact(SECTOR).enumerate();
        Self {
            block,
            offset,
            list: sectors
                .map(|(index, sector)| Sector::read(sector, offset + (index * SECTOR) as u64))
                .collect(),
        }
    }

    fn has_writes(&self) -> bool {
        let mut sectors = self.list.iter();
        sectors.any(|sector| matches!(sector, Sector::Written { .. }))
    }

    /// A sector's offset in the target.
    fn offset_of(&self, index: usize) -> u64 {
        self.offset + (index * SECTOR) as u64
    }

    fn is_from(&self, index: usize, is_accepted: impl Fn(u64) -> bool) -> bool {
        match self.list[index] {
            Sector::Written { number, offset } => {
                offset == self.offset_of(index) && is_accepted(number)
            }
            _ => false,
        }
    }

    fn are_all_from(&self, is_accepted: impl Fn(u64) -> bool + Copy) -> bool {
        (0..self.list.len()).all(|index| self.is_from(index, is_accepted))
    }

    /// Number of the write whose data the block should contain: the expected write if a sector
    /// contains it, otherwise the number in a stamp or in the header.
    fn reference_number(&self, header: Option<Header>, expected: Expected) -> Option<u64> {
        let numbers = || {
            let sectors = self.list.iter().enumerate();
            sectors.filter_map(|(index, sector)| match sector {
                Sector::Written { number, offset } => {
                    Some((*number, *offset == self.offset_of(index)))
                }
                _ => None,
            })
        };
        let mut here = numbers().filter(|(_, is_here)| *is_here);
        let found = here.find(|(number, _)| expected.accepts(*number));
        found
            .or_else(|| numbers().next())
            .map(|(number, _)| number)
            .or(header.map(|header| header.seed))
    }

    /// Compares all sectors with those of one write.
    fn compare(&self, number: u64, has_header: bool) -> Finding {
        let is_good = |index| self.is_from(index, |found| found == number);
        let bad: Vec<usize> = (0..self.list.len())
            .filter(|index| !is_good(*index))
            .collect();
        let sector = |index: usize| &self.block[index * SECTOR..][..SECTOR];
        let is_replaced = |index: &usize| match self.list[*index] {
            Sector::Zero | Sector::Written { .. } => true,
            Sector::Other => !is_damaged_stamp(sector(*index), self.offset_of(*index), number),
        };
        let is_stamped = self.has_writes();
        let replaced = bad.iter().filter(|index| match self.list[**index] {
            // Blocks written by fio contain no stamps.
            Sector::Other if !is_stamped => false,
            _ => is_replaced(index),
        });
        let replaced: Vec<usize> = replaced.copied().collect();
        let total = self.list.len();
        if let Some(first) = replaced.first() {
            let detail = format!(
                "{} of {total} sectors do not contain the data of the same write.",
                replaced.len()
            );
            let mut finding = Finding::new(Damage::Torn, detail);
            finding.bad_offset = Some(self.offset_of(*first));
            return finding;
        }
        let detail = if has_header {
            "The data does not match its checksum."
        } else {
            "The header is damaged."
        };
        let mut finding = Finding::new(Damage::Flipped, detail);
        let first = if has_header { None } else { Some(0) };
        let first = bad.first().copied().filter(|_| is_stamped).or(first);
        finding.bad_offset = first.map(|index| self.offset_of(index));
        finding
    }
}
