//! Checks blocks that contain `verify_pattern` and therefore no stamps.

use crate::load::verify::{
    block::{DAMAGED_BITS, SECTOR},
    finding::Finding,
    format::Format,
    header::Header,
};
use leadline_protocol::{job::verify_method::VerifyMethod, report::verify::Damage};

/// Compares the data of a block with the pattern. `offset`: where the block was read. `header`: the
/// valid header at the start of the block, if the format has one.
///
/// # Errors
/// Returns an error if the block does not contain the pattern.
pub(super) fn check(
    format: &Format,
    block: &[u8],
    offset: u64,
    header: Option<&Header>,
) -> Result<(), Finding> {
    let expected = expected(format, block.len(), offset);
    let data_at = data_at(format, header);
    if block[data_at..] == expected[data_at..] {
        return Ok(());
    }
    Err(damage(format, block, offset, header))
}

/// What is wrong with a block that is known to be damaged.
pub(super) fn damage(
    format: &Format,
    block: &[u8],
    offset: u64,
    header: Option<&Header>,
) -> Finding {
    if block.iter().all(|byte| *byte == 0) {
        return Finding::new(Damage::Zeroed, "All bytes are zero.");
    }
    if let Some(found) = misplaced(format, block, offset) {
        return found;
    }
    let data_at = data_at(format, header);
    let expected = expected(format, block.len(), offset);
    let differing = differing_bits(&block[data_at..], &expected[data_at..], data_at);
    let bad: Vec<(usize, u32)> = differing
        .into_iter()
        .filter(|(_, bits)| *bits > 0)
        .collect();
    let sectors = block.len().div_ceil(SECTOR);
    let Some((first, _)) = bad.first() else {
        let detail = match header {
            Some(_) => "The data does not match its checksum.",
            None => "The header is damaged.",
        };
        return Finding::new(Damage::Flipped, detail);
    };
    let bad_offset = Some(offset + (first * SECTOR) as u64);
    let replaced = bad.iter().filter(|(_, bits)| *bits > DAMAGED_BITS).count();
    let has_header = header.is_some() || format.method == VerifyMethod::Pattern;
    let mut finding = if replaced == sectors && !has_header {
        return Finding::new(
            Damage::Unwritten,
            "The block has neither a header nor the pattern.",
        );
    } else if replaced > 0 && replaced < sectors {
        let detail = format!("{replaced} of {sectors} sectors do not contain the pattern.");
        Finding::new(Damage::Torn, detail)
    } else {
        Finding::new(Damage::Flipped, "The data does not match the pattern.")
    };
    finding.bad_offset = bad_offset;
    finding
}

/// A block whose data is exactly the pattern for another offset.
fn misplaced(format: &Format, block: &[u8], offset: u64) -> Option<Finding> {
    let pattern = format.pattern.as_ref()?;
    let skipped = data_at(format, None).next_multiple_of(pattern.length());
    let found = pattern.offset_in(block.get(skipped..)?)?;
    let data_at = data_at(format, None);
    let is_elsewhere = found != offset
        && block[data_at..] == self::expected(format, block.len(), found)[data_at..];
    is_elsewhere.then(|| {
        let detail = format!("This data was written to offset {found}.");
        let mut finding = Finding::new(Damage::Misplaced, detail);
        finding.found_offset = Some(found);
        finding
    })
}

fn expected(format: &Format, length: usize, offset: u64) -> Vec<u8> {
    let mut block = vec![0; length];
    if let Some(pattern) = &format.pattern {
        pattern.fill(&mut block, offset);
    }
    block
}

/// Offset in the block where the pattern starts.
fn data_at(format: &Format, header: Option<&Header>) -> usize {
    header.map_or(format.method.header_bytes(), Header::data_at)
}

/// Number of differing bits in each sector of the block. `begin`: position of the data in the
/// block.
fn differing_bits(data: &[u8], expected: &[u8], begin: usize) -> Vec<(usize, u32)> {
    let mut sectors: Vec<(usize, u32)> = Vec::new();
    for (index, (found, expected)) in data.iter().zip(expected).enumerate() {
        let sector = (begin + index) / SECTOR;
        if sectors.last().is_none_or(|(last, _)| *last != sector) {
            sectors.push((sector, 0));
        }
        if let Some((_, bits)) = sectors.last_mut() {
            *bits += (found ^ expected).count_ones();
        }
    }
    sectors
}
