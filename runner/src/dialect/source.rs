//! The imported text, and positions in it.

use leadline_protocol::import::TextSpan;
use std::ops::Range;

/// A range of bytes in the text.
pub(crate) type Span = Range<usize>;

pub(crate) struct Source<'a> {
    pub text: &'a str,
    /// Byte offset of each line.
    lines: Vec<usize>,
    /// Range of the text that `lines` iterates over.
    part: Span,
}

impl<'a> Source<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let starts = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let lines = std::iter::once(0).chain(starts.map(|(at, _)| at + 1));
        Self {
            text,
            lines: lines.collect(),
            part: 0..text.len() + 1,
        }
    }

    /// Restricts the source to a range of whole lines, without changing their positions.
    pub(crate) fn part(&self, part: Span) -> Self {
        Self {
            text: self.text,
            lines: self.lines.clone(),
            part,
        }
    }

    /// Line, column and length of a range that begins in the text. Only the part on its first line
    /// is included. If the range is part of a quoted word, its end is an estimate, which may be
    /// inside a multi-byte character.
    pub(crate) fn position(&self, span: &Span) -> TextSpan {
        let boundary = |at: usize| self.text.floor_char_boundary(at);
        let span = boundary(span.start)..boundary(span.end);
        let line = self.lines.partition_point(|start| *start <= span.start) - 1;
        let line_end = self
            .lines
            .get(line + 1)
            .map_or(self.text.len(), |next| next - 1);
        let end = span.end.clamp(span.start, line_end.max(span.start));
        let count = |range: Span| self.text[range].chars().count() as u32;
        TextSpan {
            line: line as u32 + 1,
            column: count(self.lines[line]..span.start) + 1,
            length: count(span.start..end),
        }
    }

    /// Lines with their byte offsets, without line endings.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &'a str)> + '_ {
        let text = self.text;
        let lines = self.lines.iter().enumerate();
        let lines = lines.filter(|(_, start)| self.part.contains(start));
        lines.map(move |(index, start)| {
            let end = self
                .lines
                .get(index + 1)
                .map_or(text.len(), |next| next - 1);
            (*start, &text[*start..end])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Source;
    use leadline_protocol::import::TextSpan;

    #[test]
    fn columns_count_characters() {
        let source = Source::new("ä=1\nfilename=/tmp/ö\n");
        let at = |line, column, length| TextSpan {
            line,
            column,
            length,
        };
        assert_eq!(source.position(&(0..2)), at(1, 1, 1));
        assert_eq!(source.position(&(5..13)), at(2, 1, 8));
        assert_eq!(source.position(&(14..999)), at(2, 10, 6));
        assert_eq!(source.position(&(1..3)), at(1, 1, 2));
        let lines: Vec<_> = source.lines().collect();
        assert_eq!(lines, [(0, "ä=1"), (5, "filename=/tmp/ö"), (22, "")]);
        let part = source.part(5..22);
        assert_eq!(part.lines().collect::<Vec<_>>(), [(5, "filename=/tmp/ö")]);
        assert_eq!(part.position(&(5..13)), at(2, 1, 8));
    }
}
