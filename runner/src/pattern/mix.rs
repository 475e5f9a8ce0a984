//! Which direction the next I/O has. In a mix the share of reads is exact in every 100 I/Os.

use rand::Rng;

use super::Kind;
use super::deck::Deck;
use crate::job::RwKind;

/// The directions of a job.
#[derive(Clone, Debug)]
pub(super) enum Mix {
    /// One only.
    Only(Kind),
    /// Reads and writes.
    Mixed(Deck),
}

impl Mix {
    /// As `rw` and, in a mix, `rwmixread` (percent) say.
    pub fn new(rw: RwKind, rwmixread: Option<u8>) -> Self {
        match rwmixread {
            Some(reads) => Self::Mixed(Deck::new([reads, 100 - reads])),
            None if rw.trims() => Self::Only(Kind::Trim),
            None if rw.writes() => Self::Only(Kind::Write),
            None => Self::Only(Kind::Read),
        }
    }

    /// The directions that may come.
    pub fn kinds(&self) -> &[Kind] {
        match self {
            Self::Only(kind) => std::slice::from_ref(kind),
            Self::Mixed(_) => &[Kind::Read, Kind::Write],
        }
    }

    /// The direction of the next I/O.
    #[inline]
    pub fn next(&mut self, rng: &mut impl Rng) -> Kind {
        match self {
            Self::Only(kind) => *kind,
            Self::Mixed(deck) => [Kind::Read, Kind::Write][deck.deal(rng)],
        }
    }
}
