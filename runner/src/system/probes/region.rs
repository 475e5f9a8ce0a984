//! The part of a target that jobs access, as the union of the regions of all workers and jobs.
//! Performs no I/O.

use std::ops::Range;

/// Sorted ranges that neither overlap nor touch.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Region(Vec<Range<u64>>);

impl Region {
    /// Union of byte ranges.
    pub fn of(parts: impl IntoIterator<Item = Range<u64>>) -> Self {
        let mut parts: Vec<Range<u64>> = parts.into_iter().collect();
        parts.retain(|part| !part.is_empty());
        parts.sort_by_key(|part| part.start);
        let mut merged: Vec<Range<u64>> = Vec::new();
        for part in parts {
            match merged.last_mut() {
                Some(last) if part.start <= last.end => last.end = last.end.max(part.end),
                _ => merged.push(part),
            }
        }
        Self(merged)
    }

    pub fn parts(&self) -> &[Range<u64>] {
        &self.0
    }

    pub fn bytes(&self) -> u64 {
        self.0.iter().map(|part| part.end - part.start).sum()
    }

    /// Start of the first range.
    pub fn offset(&self) -> u64 {
        self.0.first().map_or(0, |part| part.start)
    }

    /// End of the last range.
    pub fn end(&self) -> u64 {
        self.0.last().map_or(0, |part| part.end)
    }

    /// Bytes of a range that are in the region.
    pub fn overlap(&self, range: &Range<u64>) -> u64 {
        let common = self.0.iter().map(|part| {
            let end = range.end.min(part.end);
            end.saturating_sub(range.start.max(part.start))
        });
        common.sum()
    }

    /// All pages that the region overlaps.
    pub fn in_pages(&self, page_bytes: u64) -> Self {
        Self::of(self.0.iter().map(|part| {
            let end = part.end.checked_next_multiple_of(page_bytes);
            part.start - part.start % page_bytes..end.unwrap_or(part.end)
        }))
    }

    /// Divides the region into at most `max` cells of equal length, which is a multiple of `unit`.
    /// Gaps between the ranges are ignored. Returns the cell length and the cells.
    pub fn cells(&self, max: u64, unit: u64) -> (u64, Vec<Self>) {
        let cell_bytes = self.bytes().div_ceil(max).next_multiple_of(unit).max(unit);
        let mut cells = Vec::new();
        let mut cell = Vec::new();
        let mut free = cell_bytes;
        for part in &self.0 {
            let mut start = part.start;
            while start < part.end {
                let end = part.end.min(start + free);
                cell.push(start..end);
                free -= end - start;
                start = end;
                if free == 0 {
                    cells.push(Self(std::mem::take(&mut cell)));
                    free = cell_bytes;
                }
            }
        }
        if !cell.is_empty() {
            cells.push(Self(cell));
        }
        (cell_bytes, cells)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(parts: &[(u64, u64)], want: &[(u64, u64)]) -> Region {
        let region = Region::of(parts.iter().map(|&(start, end)| start..end));
        assert_eq!(
            region.parts(),
            want.iter()
                .map(|&(start, end)| start..end)
                .collect::<Vec<_>>(),
            "{parts:?}"
        );
        region
    }

    #[test]
    fn union_counts_each_byte_once() {
        check(&[], &[]);
        check(&[(5, 5)], &[]);
        check(&[(0, 10), (10, 20)], &[(0, 20)]);
        check(&[(30, 40), (0, 10), (5, 12)], &[(0, 12), (30, 40)]);
        let region = check(&[(0, 100), (20, 30), (200, 300)], &[(0, 100), (200, 300)]);
        assert_eq!(
            (region.bytes(), region.offset(), region.end()),
            (200, 0, 300)
        );
        assert_eq!(
            (
                region.overlap(&(50..250)),
                region.overlap(&(100..200)),
                region.overlap(&(0..999))
            ),
            (100, 0, 200)
        );
    }

    #[test]
    fn in_pages_covers_all_touched_pages() {
        let region = check(
            &[(100, 200), (4000, 4200), (9000, 9001)],
            &[(100, 200), (4000, 4200), (9000, 9001)],
        );
        assert_eq!(region.in_pages(4096), check(&[(0, 12288)], &[(0, 12288)]));
        assert_eq!(
            check(&[(8192, 8193)], &[(8192, 8193)]).in_pages(4096),
            check(&[(8192, 12288)], &[(8192, 12288)])
        );
    }

    #[test]
    fn cells_are_equal_and_cover_the_region() {
        for (parts, max, want_bytes, want_cells) in [
            (&[(0, 1 << 20)][..], 128, 8192, 128),
            (&[(0, 12288)], 128, 4096, 3),
            (&[(0, 8192), (100_000, 104_096)], 2, 8192, 2),
        ] {
            let region = check(parts, parts);
            let (cell_bytes, cells) = region.cells(max, 4096);
            assert_eq!((cell_bytes, cells.len()), (want_bytes, want_cells));
            assert_eq!(cells.iter().map(Region::bytes).sum::<u64>(), region.bytes());
            assert!(
                cells[..cells.len() - 1]
                    .iter()
                    .all(|cell| cell.bytes() == cell_bytes)
            );
        }
        assert!(Region::default().cells(128, 4096).1.is_empty());
    }
}
