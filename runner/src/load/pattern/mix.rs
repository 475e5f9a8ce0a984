//! Which direction the next I/O has. In a mix the share of reads is exact in every 100 I/Os.

use crate::load::pattern::Kind;
use crate::load::pattern::deck::Deck;
use leadline_protocol::job::value::RwKind;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, SeedableRng};

/// The directions of a job.
#[derive(Clone, Debug)]
pub(crate) enum Mix {
    /// One only.
    Only(Kind),
    /// Reads and writes. Drawn from numbers of their own, so that offsets can be drawn many at a time and stay the same.
    Mixed(Deck, Xoshiro256PlusPlus),
}

impl Mix {
    /// As `rw` and, in a mix, `rwmixread` (percent) say.
    pub fn new(rw: RwKind, rwmixread: Option<u8>, rng: &mut impl Rng) -> Self {
        match rwmixread {
            Some(reads) => Self::Mixed(
                Deck::new([reads, 100 - reads]),
                Xoshiro256PlusPlus::from_rng(rng),
            ),
            None if rw.trims() => Self::Only(Kind::Trim),
            None if rw.writes() => Self::Only(Kind::Write),
            None => Self::Only(Kind::Read),
        }
    }

    /// The directions that may come.
    pub fn kinds(&self) -> &[Kind] {
        match self {
            Self::Only(kind) => std::slice::from_ref(kind),
            Self::Mixed(..) => &[Kind::Read, Kind::Write],
        }
    }

    /// The direction of the next I/O.
    #[inline]
    pub fn next(&mut self) -> Kind {
        match self {
            Self::Only(kind) => *kind,
            Self::Mixed(deck, rng) => [Kind::Read, Kind::Write][deck.deal(rng)],
        }
    }
}
