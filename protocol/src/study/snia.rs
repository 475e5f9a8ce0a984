//! Tests that follow the SNIA Solid State Storage Performance Test Specification 2.0.2: purge,
//! preconditioning, and rounds until the measurement window is steady.

pub(super) mod parse;
pub mod results;
pub(super) mod steps;

use crate::{
    limits::{integer, schemas},
    named_enum::named_enum,
    units,
};
use serde::{Deserialize, Serialize};
use utoipa::{ToSchema, openapi::schema::ArrayBuilder};

pub const DEFAULT_CELL_SECONDS: u32 = 60;
pub const DEFAULT_MAX_ROUNDS: u32 = 25;
/// Maximum for `write_saturation`.
pub(crate) const MAX_CELL_SECONDS: u32 = 86_400;
/// The measurement window has five rounds.
pub const MIN_ROUNDS: u32 = 5;
/// Block size of workload-independent preconditioning.
pub const PRECONDITIONING_BLOCK: u64 = 128 << 10;
/// Preconditioning writes the active range twice.
pub const PRECONDITIONING_PASSES: u32 = 2;
/// Write saturation ends after the active range has been written four times.
pub const SATURATION_PASSES: u32 = 4;
/// Write saturation ends after six hours.
pub const DEFAULT_SATURATION_SECONDS: u32 = 6 * 3600;

named_enum! {
    names: "snake_case";
    pub enum SniaTestName {
        /// Random I/O with seven read/write mixes and eight block sizes.
        Iops,
        /// Sequential reads and writes with one block size.
        Throughput,
        /// Random I/O with one I/O in flight, three mixes and three block sizes.
        Latency,
        /// Random 4 KiB writes from the purged device until it is saturated.
        WriteSaturation,
    }
}

named_enum! {
    names: "snake_case";
    /// Device class, which determines the active range and the write cache setting.
    pub enum SniaClass {
        /// PTS-E: write cache disabled, active range 100 %.
        Enterprise,
        /// PTS-C: write cache enabled, active range 75 %.
        Client,
    }
}

named_enum! {
    names: "snake_case";
    /// How the device is purged before the test.
    #[derive(Default)]
    pub enum SniaPurge {
        /// The device is not purged.
        #[default]
        None,
        /// The test discards the active range (BLKDISCARD), instead of a purge.
        Discard,
        /// The operator purged the device outside Leadline; see `purge_note`.
        Operator,
    }
}

schemas! {
    SniaCellSeconds: integer(1..=u64::from(MAX_CELL_SECONDS));
    SniaRounds: integer(u64::from(MIN_ROUNDS)..=u64::from(DEFAULT_MAX_ROUNDS));
    SniaMixes: ArrayBuilder::new()
        .items(integer(0..=100))
        .min_items(Some(1))
        .unique_items(true);
}

/// A test, as submitted. The study has one step with one job, which defines the target, its size,
/// `numjobs` and `iodepth`.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SniaTestDefinition {
    pub test: SniaTestName,
    pub class: SniaClass,
    /// Default: `none`.
    pub purge: Option<SniaPurge>,
    /// Method and time of the purge.
    pub purge_note: Option<String>,
    /// Duration of each cell (a combination of a mix and a block size) in seconds, 1 to 3600; the
    /// maximum duration of `write_saturation`, 1 to 86400. Default: 60, or 21600.
    #[schema(value_type = Option<SniaCellSeconds>)]
    pub cell_seconds: Option<u32>,
    /// 5 to 25. Default: 25.
    #[schema(value_type = Option<SniaRounds>)]
    pub max_rounds: Option<u32>,
    /// Read percentages, in order. Default: as in the specification.
    #[schema(value_type = Option<SniaMixes>)]
    pub mixes: Option<Vec<u8>>,
    /// Block sizes, such as `4k`, in order. Default: as in the specification; 1024k for
    /// `throughput`, which tests one block size.
    pub blocks: Option<Vec<String>>,
}

/// A test with all its settings.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct SniaTest {
    pub test: SniaTestName,
    pub class: SniaClass,
    pub purge: SniaPurge,
    /// Method and time of the purge.
    pub purge_note: Option<String>,
    pub cell_seconds: u32,
    pub max_rounds: u32,
    /// Read percentages, in order. Each run of a round has one mix.
    pub mixes: Vec<u8>,
    /// Block sizes in bytes, in order. Each job of a run has one block size.
    pub blocks: Vec<u64>,
}

/// Purpose of a run in a test.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SniaRun {
    Purge,
    Precondition,
    /// One-based round, index of the mix.
    Round {
        round: u32,
        mix: usize,
    },
    Saturate,
}

impl SniaTestName {
    /// Read percentages in the order of the specification.
    pub fn default_mixes(self) -> &'static [u8] {
        match self {
            Self::Iops => &[100, 95, 65, 50, 35, 5, 0],
            Self::Throughput => &[100, 0],
            Self::Latency => &[100, 65, 0],
            Self::WriteSaturation => &[0],
        }
    }

    /// Block sizes in the order of the specification, in bytes.
    pub fn default_blocks(self) -> &'static [u64] {
        const KIB: u64 = 1 << 10;
        match self {
            Self::Iops => &[
                1024 * KIB,
                128 * KIB,
                64 * KIB,
                32 * KIB,
                16 * KIB,
                8 * KIB,
                4 * KIB,
                KIB / 2,
            ],
            Self::Throughput => &[1024 * KIB],
            Self::Latency => &[8 * KIB, 4 * KIB, KIB / 2],
            Self::WriteSaturation => &[4 * KIB],
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            Self::Iops => "IOPS test",
            Self::Throughput => "throughput test",
            Self::Latency => "latency test",
            Self::WriteSaturation => "write saturation test",
        }
    }
}

impl SniaTest {
    /// The runs, in order.
    pub fn runs(&self) -> Vec<SniaRun> {
        let mut runs = Vec::new();
        if self.purge == SniaPurge::Discard {
            runs.push(SniaRun::Purge);
        }
        if self.test == SniaTestName::WriteSaturation {
            runs.push(SniaRun::Saturate);
            return runs;
        }
        runs.push(SniaRun::Precondition);
        for round in 1..=self.max_rounds {
            let mixes = 0..self.mixes.len();
            runs.extend(mixes.map(|mix| SniaRun::Round { round, mix }));
        }
        runs
    }

    /// Block size of workload-independent preconditioning, in bytes.
    pub fn preconditioning_block(&self) -> u64 {
        match self.test {
            SniaTestName::Throughput => self.blocks[0],
            _ => PRECONDITIONING_BLOCK,
        }
    }
}

/// For example, `RW65 64k`: 65 % reads.
pub fn cell_name(mix: u8, block: u64) -> String {
    format!("RW{mix} {}", units::size(block))
}
