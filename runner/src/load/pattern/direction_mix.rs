//! Chooses the direction of the next I/O. In a mixed workload, the share of reads is exact within
//! every 100 I/Os. If both directions have a rate, the rates determine the shares, as in fio.

use crate::load::pattern::{io::Kind, shuffle_bag::ShuffleBag};
use leadline_protocol::plan::job::ResolvedJob;
use rand::{Rng, SeedableRng, rngs::Xoshiro256PlusPlus};

#[derive(Clone, Debug)]
pub(crate) enum DirectionMix {
    Single(Kind),
    /// Reads and writes. The direction has a separate random number generator, so offsets generated
    /// in bulk are the same as offsets generated individually.
    Mixed(ShuffleBag, Xoshiro256PlusPlus),
    /// Alternates between trims and writes of the trimmed block. Contains the next direction.
    TrimWrite(Kind),
    /// Reads and writes, each with a rate.
    Rated([RatedDirection; 2]),
}

/// Progress of a rate-limited direction.
#[derive(Clone, Debug)]
pub(crate) struct RatedDirection {
    /// Time that this rate allots to the I/Os issued so far, in seconds.
    issued_s: f64,
    seconds_per_io: f64,
    seconds_per_byte: f64,
}

impl DirectionMix {
    pub(crate) fn new(job: &ResolvedJob, rng: &mut impl Rng) -> Self {
        let rw = job.pattern.rw;
        if let Some(rates) = job.mix_rates() {
            return Self::Rated(rates.map(|rate| RatedDirection::new(rate.ios, rate.bytes)));
        }
        match job.pattern.rwmixread {
            Some(reads) => Self::Mixed(
                ShuffleBag::new([reads, 100 - reads]),
                Xoshiro256PlusPlus::from_rng(rng),
            ),
            None if rw.is_trimwrite() => Self::TrimWrite(Kind::Trim),
            None if rw.trims() => Self::Single(Kind::Trim),
            None if rw.writes() => Self::Single(Kind::Write),
            None => Self::Single(Kind::Read),
        }
    }

    /// All possible directions.
    pub(crate) fn kinds(&self) -> &[Kind] {
        match self {
            Self::Single(kind) => std::slice::from_ref(kind),
            Self::TrimWrite(_) => &[Kind::Trim, Kind::Write],
            Self::Mixed(..) | Self::Rated(_) => &[Kind::Read, Kind::Write],
        }
    }

    /// Returns true if the direction depends on previous I/Os.
    pub(crate) fn is_sequenced(&self) -> bool {
        matches!(self, Self::Rated(_) | Self::TrimWrite(_))
    }

    /// Returns true if every write repeats the last trim.
    pub(crate) fn is_trimwrite(&self) -> bool {
        matches!(self, Self::TrimWrite(_))
    }

    #[inline(always)]
    pub(crate) fn next(&mut self) -> Kind {
        match self {
            Self::Single(kind) => *kind,
            _ => self.next_of_two(),
        }
    }

    fn next_of_two(&mut self) -> Kind {
        match self {
            Self::Single(kind) => *kind,
            Self::Mixed(bag, rng) => [Kind::Read, Kind::Write][bag.draw(rng)],
            Self::TrimWrite(next) => {
                let kind = *next;
                *next = if kind == Kind::Trim {
                    Kind::Write
                } else {
                    Kind::Trim
                };
                kind
            }
            Self::Rated([read, write]) if write.issued_s < read.issued_s => Kind::Write,
            Self::Rated(_) => Kind::Read,
        }
    }

    /// Counts an I/O of `bytes`.
    #[inline]
    pub(crate) fn count(&mut self, kind: Kind, bytes: u64) {
        if let Self::Rated(directions) = self {
            let direction = &mut directions[usize::from(kind == Kind::Write)];
            direction.issued_s +=
                direction.seconds_per_io + direction.seconds_per_byte * bytes as f64;
        }
    }
}

impl RatedDirection {
    /// `ios`, `bytes`: rates per second.
    fn new(ios: Option<u64>, bytes: Option<u64>) -> Self {
        let period = |rate: Option<u64>| rate.map_or(0.0, |rate| 1.0 / rate as f64);
        Self {
            issued_s: 0.0,
            seconds_per_io: period(ios),
            seconds_per_byte: period(bytes),
        }
    }
}
