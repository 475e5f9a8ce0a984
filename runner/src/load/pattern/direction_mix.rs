//! Direction of the next I/O. In a mix, the share of reads is exact in every 100 I/Os.

use crate::load::pattern::{io::Kind, shuffle_bag::ShuffleBag};
use leadline_protocol::job::rw::RwKind;
use rand::{Rng, SeedableRng, rngs::Xoshiro256PlusPlus};

#[derive(Clone, Debug)]
pub(crate) enum DirectionMix {
    Single(Kind),
    /// Reads and writes. The direction has its own random number generator, so that offsets
    /// generated in bulk are the same as those generated one by one.
    Mixed(ShuffleBag, Xoshiro256PlusPlus),
}

impl DirectionMix {
    /// `rwmixread` is the percentage of reads in a mix, otherwise `None`.
    pub(crate) fn new(rw: RwKind, rwmixread: Option<u8>, rng: &mut impl Rng) -> Self {
        match rwmixread {
            Some(reads) => Self::Mixed(
                ShuffleBag::new([reads, 100 - reads]),
                Xoshiro256PlusPlus::from_rng(rng),
            ),
            None if rw.trims() => Self::Single(Kind::Trim),
            None if rw.writes() => Self::Single(Kind::Write),
            None => Self::Single(Kind::Read),
        }
    }

    /// All possible directions.
    pub(crate) fn kinds(&self) -> &[Kind] {
        match self {
            Self::Single(kind) => std::slice::from_ref(kind),
            Self::Mixed(..) => &[Kind::Read, Kind::Write],
        }
    }

    #[inline]
    pub(crate) fn next(&mut self) -> Kind {
        match self {
            Self::Single(kind) => *kind,
            Self::Mixed(bag, rng) => [Kind::Read, Kind::Write][bag.draw(rng)],
        }
    }
}
