//! One direction of a job: sizes, alignment, and whether the next I/O jumps or follows on. The same for all targets.

use crate::load::pattern::Kind;
use crate::load::pattern::deck::Deck;
use crate::load::pattern::size::Sizes;
use leadline_protocol::job::value::Distribution;
use leadline_protocol::plan::resolved::ResolvedJob;
use rand::Rng;

/// One direction of a job.
#[derive(Clone, Debug)]
pub(crate) struct Lane {
    /// Sizes of its I/Os.
    pub sizes: Sizes,
    /// Random offsets are multiples of it, in bytes.
    pub align: u64,
    /// Which slots are liked.
    pub distribution: Distribution,
    /// Bytes between the end of one sequential I/O and the next; negative: backwards.
    pub gap: i64,
    /// Which chooser of a place it uses: directions that are alike share one, so that together they take every block once.
    pub chooser: usize,
    jump: Jump,
}

/// When an I/O goes to a new random offset.
#[derive(Clone, Debug)]
enum Jump {
    Never,
    Always,
    /// Every so many I/Os (`:N`), and how many still follow on.
    EveryNth(u64, u64),
    /// As often as the cards say (`percentage_random`).
    Share(Deck),
}

impl Lane {
    /// Reads, writes and trims, by `Kind`.
    pub fn all(job: &ResolvedJob) -> [Self; 3] {
        let lane = |kind, bs, align: &u64, distribution: &Distribution, random_percent| Self {
            sizes: Sizes::new(bs),
            align: *align,
            distribution: distribution.clone(),
            gap: if job.pattern.rw.is_random() {
                0
            } else {
                job.pattern.rw_modifier.unwrap_or(0)
            },
            chooser: kind as usize,
            jump: Jump::new(job, random_percent),
        };
        let (bs, align, liked, random) = (
            &job.pattern.bs,
            &job.pattern.blockalign,
            &job.pattern.random_distribution,
            &job.pattern.percentage_random,
        );
        let mut lanes = [
            lane(Kind::Read, &bs.read, &align.read, &liked.read, random.read),
            lane(
                Kind::Write,
                &bs.write,
                &align.write,
                &liked.write,
                random.write,
            ),
            lane(Kind::Trim, &bs.trim, &align.trim, &liked.trim, random.trim),
        ];
        if lanes[0].is_like(&lanes[1]) {
            lanes[1].chooser = lanes[0].chooser;
        }
        lanes
    }

    /// The size of the next I/O in bytes when `left` bytes are to be moved; `None` when not even the smallest fits.
    #[inline]
    pub fn size(&mut self, left: u64, rng: &mut impl Rng) -> Option<u64> {
        let wanted = self.sizes.next(rng);
        self.sizes.fit(wanted, left)
    }

    /// Whether the next I/O goes to a new random offset.
    #[inline]
    pub fn jumps(&mut self, rng: &mut impl Rng) -> bool {
        match &mut self.jump {
            Jump::Never => false,
            Jump::Always => true,
            Jump::EveryNth(every, follow) => {
                let jumps = *follow == 0;
                *follow = if jumps { *every } else { *follow } - 1;
                jumps
            }
            Jump::Share(deck) => deck.deal(rng) == 0,
        }
    }

    /// Whether every I/O has the same size and goes to a new random offset.
    pub fn only_jumps(&self) -> bool {
        matches!(self.jump, Jump::Always) && self.sizes.min == self.sizes.max
    }

    /// Whether there are random offsets at all.
    pub fn is_random(&self) -> bool {
        !matches!(self.jump, Jump::Never)
    }

    /// Whether sequential I/Os go towards the beginning.
    pub fn is_backwards(&self) -> bool {
        self.gap.saturating_add_unsigned(self.sizes.min) < 0
    }

    /// Whether its I/Os are as large and go to the same places as those of another.
    pub fn is_like(&self, other: &Self) -> bool {
        (self.align, self.sizes.max, &self.distribution)
            == (other.align, other.sizes.max, &other.distribution)
    }
}

impl Jump {
    fn new(job: &ResolvedJob, random_percent: u8) -> Self {
        match (
            job.pattern.rw.is_random(),
            job.pattern.rw_modifier,
            random_percent,
        ) {
            (false, ..) => Self::Never,
            (true, Some(every), _) if every > 1 => Self::EveryNth(every as u64, 0),
            (true, _, 100) => Self::Always,
            (true, _, percent) => Self::Share(Deck::new([percent, 100 - percent])),
        }
    }
}
