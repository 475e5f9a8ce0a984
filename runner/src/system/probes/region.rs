//! The part of a target that jobs work on: the regions of all clones and jobs together, each byte once. Pure.

use std::ops::Range;

/// Parts of a target in order, none touching another.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Region(Vec<Range<u64>>);

impl Region {
    /// These parts together; overlaps count once.
    pub fn of(parts: impl IntoIterator<Item = Range<u64>>) -> Self {
        let mut parts: Vec<Range<u64>> = parts
            .into_iter()
            .filter(|part| part.start < part.end)
            .collect();
        parts.sort_by_key(|part| part.start);
        let mut merged: Vec<Range<u64>> = Vec::new();
        for part in parts {
            match merged.last_mut().filter(|last| part.start <= last.end) {
                Some(last) => last.end = last.end.max(part.end),
                None => merged.push(part),
            }
        }
        Self(merged)
    }

    /// The parts in order.
    pub fn parts(&self) -> &[Range<u64>] {
        &self.0
    }

    /// Bytes of all parts.
    pub fn bytes(&self) -> u64 {
        self.0.iter().map(|part| part.end - part.start).sum()
    }

    /// Where the first part begins.
    pub fn offset(&self) -> u64 {
        self.0.first().map_or(0, |part| part.start)
    }

    /// Where the last part ends.
    pub fn end(&self) -> u64 {
        self.0.last().map_or(0, |part| part.end)
    }

    /// Bytes of a range that lie in it.
    pub fn overlap(&self, range: &Range<u64>) -> u64 {
        self.0
            .iter()
            .map(|part| {
                range
                    .end
                    .min(part.end)
                    .saturating_sub(range.start.max(part.start))
            })
            .sum()
    }

    /// The whole pages that it touches.
    pub fn in_pages(&self, page_bytes: u64) -> Self {
        let down = |at: u64| at - at % page_bytes;
        Self::of(self.0.iter().map(|part| {
            down(part.start)
                ..part
                    .end
                    .checked_next_multiple_of(page_bytes)
                    .unwrap_or(part.end)
        }))
    }

    /// Cut into at most `most` cells of equal length, whole `unit`s, the parts put end to end. Returns the length of a cell
    /// and the parts of each.
    pub fn cells(&self, most: u64, unit: u64) -> (u64, Vec<Self>) {
        let cell_bytes = self.bytes().div_ceil(most).next_multiple_of(unit).max(unit);
        let (mut cells, mut cell, mut room) = (Vec::new(), Vec::new(), cell_bytes);
        for part in &self.0 {
            let mut at = part.start;
            while at < part.end {
                let next = part.end.min(at + room);
                cell.push(at..next);
                room -= next - at;
                at = next;
                if room == 0 {
                    cells.push(Self(std::mem::take(&mut cell)));
                    room = cell_bytes;
                }
            }
        }
        cells.extend((!cell.is_empty()).then_some(Self(cell)));
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
    fn each_byte_once() {
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
    fn pages_that_are_touched() {
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
    fn cells_are_equal_and_all_of_it() {
        for (parts, most, want_bytes, want_cells) in [
            (&[(0, 1 << 20)][..], 128, 8192, 128),
            (&[(0, 12288)], 128, 4096, 3),
            (&[(0, 8192), (100_000, 104_096)], 2, 8192, 2),
        ] {
            let region = check(parts, parts);
            let (cell_bytes, cells) = region.cells(most, 4096);
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
