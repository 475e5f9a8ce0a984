//! The types of option values and how each is read from text. A value knows nothing of other options.

use crate::units;
use serde::{Deserialize, Serialize};
use std::str::FromStr;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, SchemaType, Type};
use utoipa::{PartialSchema, ToSchema};

/// The most entries of one `bssplit`, as in fio.
const MAX_SPLITS: usize = 64;
/// The most zones of one `zoned` distribution, as in fio.
const MAX_ZONES: usize = 256;

/// A value that can be read from an option's text.
pub trait FioValue: Sized {
    /// What such values look like, for documentation and forms.
    const KIND: &'static str;
    /// Reads one value.
    ///
    /// # Errors
    /// One sentence about what is wrong and how to write it.
    fn read(text: &str) -> Result<Self, String>;
}

fn whole<T: FromStr>(text: &str) -> Result<T, String> {
    text.trim()
        .parse()
        .map_err(|_| format!("`{text}` is not a whole number in range"))
}

impl FioValue for u32 {
    const KIND: &'static str = "count";
    fn read(text: &str) -> Result<Self, String> {
        whole(text)
    }
}

impl FioValue for u64 {
    const KIND: &'static str = "count";
    fn read(text: &str) -> Result<Self, String> {
        units::bytes(text).map_err(|_| format!("`{text}` is not a whole number"))
    }
}

impl FioValue for i32 {
    const KIND: &'static str = "integer";
    fn read(text: &str) -> Result<Self, String> {
        whole(text)
    }
}

impl FioValue for String {
    const KIND: &'static str = "text";
    fn read(text: &str) -> Result<Self, String> {
        match text.trim() {
            "" => Err("is empty".into()),
            text if text.contains('\0') => Err("has a NUL character".into()),
            text => Ok(text.into()),
        }
    }
}

/// Bytes.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize, ToSchema)]
pub struct Bytes(pub u64);
impl FioValue for Bytes {
    const KIND: &'static str = "size";
    fn read(text: &str) -> Result<Self, String> {
        if text.contains(['-', ':']) {
            return Err(format!(
                "`{text}` is no range: fio takes it as one size for reads and one for writes. Write 4k,16k for that, or bsrange=4k-16k for a range"
            ));
        }
        units::bytes(text).map(Self)
    }
}

/// A length: in bytes, or in percent of the file or device.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Extent {
    /// Bytes.
    Bytes(u64),
    /// Percent of the file or device.
    Percent(u8),
}
impl Extent {
    /// The absolute size; `None` for a percentage.
    pub fn bytes(self) -> Option<u64> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            Self::Percent(_) => None,
        }
    }
}
impl FioValue for Extent {
    const KIND: &'static str = "size or percent";
    fn read(text: &str) -> Result<Self, String> {
        if text.contains('%') {
            units::percent(text).map(Self::Percent)
        } else {
            units::bytes(text).map(Self::Bytes)
        }
    }
}

/// A time whose bare number is seconds; held in microseconds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Seconds(pub u64);
impl FioValue for Seconds {
    const KIND: &'static str = "time (s)";
    fn read(text: &str) -> Result<Self, String> {
        units::microseconds(text, 1_000_000).map(Self)
    }
}

/// A time whose bare number is microseconds; held in microseconds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Micros(pub u64);
impl FioValue for Micros {
    const KIND: &'static str = "time (us)";
    fn read(text: &str) -> Result<Self, String> {
        units::microseconds(text, 1).map(Self)
    }
}

/// Yes or no.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Flag(pub bool);
impl FioValue for Flag {
    const KIND: &'static str = "flag";
    fn read(text: &str) -> Result<Self, String> {
        match text.trim() {
            "1" | "true" => Ok(Self(true)),
            "0" | "false" => Ok(Self(false)),
            _ => Err(format!("`{text}` is neither 1 (true) nor 0 (false)")),
        }
    }
}

/// A whole percentage from 0 to 100.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Percent(pub u8);
impl FioValue for Percent {
    const KIND: &'static str = "percent";
    fn read(text: &str) -> Result<Self, String> {
        units::percent(text).map(Self)
    }
}

/// One value each for reads, writes and trims: `r[,w[,t]]`, where the last one given counts for the rest.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct PerDirection<T> {
    /// Of reads.
    pub read: T,
    /// Of writes.
    pub write: T,
    /// Of trims.
    pub trim: T,
}
impl<T: Clone> PerDirection<T> {
    /// The same value in all directions.
    pub fn same(value: T) -> Self {
        Self {
            read: value.clone(),
            write: value.clone(),
            trim: value,
        }
    }

    /// The three with something done to each.
    pub fn map<U>(&self, mut f: impl FnMut(&T) -> U) -> PerDirection<U> {
        PerDirection {
            read: f(&self.read),
            write: f(&self.write),
            trim: f(&self.trim),
        }
    }
}
impl<T: FioValue + Clone> FioValue for PerDirection<T> {
    const KIND: &'static str = T::KIND;
    fn read(text: &str) -> Result<Self, String> {
        let parts: Vec<&str> = text.split(',').map(str::trim).collect();
        if parts.iter().any(|part| part.is_empty()) || parts.len() > 3 {
            return Err(format!(
                "`{text}` is not `all` or `read,write` or `read,write,trim`"
            ));
        }
        let values = parts
            .iter()
            .map(|part| T::read(part))
            .collect::<Result<Vec<T>, String>>()?;
        let at = |index: usize| values[index.min(values.len() - 1)].clone();
        Ok(Self {
            read: at(0),
            write: at(1),
            trim: at(2),
        })
    }
}

/// Smallest and largest size in bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Range {
    /// The smallest.
    pub min: u64,
    /// The largest.
    pub max: u64,
}
impl FioValue for Range {
    const KIND: &'static str = "size range";
    fn read(text: &str) -> Result<Self, String> {
        let (min, max) = text
            .split_once('-')
            .ok_or_else(|| format!("`{text}` is not a range such as 4k-64k"))?;
        let (min, max) = (units::bytes(min)?, units::bytes(max)?);
        if min == 0 || max < min {
            Err(format!(
                "`{text}` is not a range from a smaller to a larger size"
            ))
        } else {
            Ok(Self { min, max })
        }
    }
}

/// One size and its share.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct SplitEntry {
    /// Bytes of such an I/O.
    pub bytes: u64,
    /// Share of the I/Os in percent.
    pub percent: u8,
}

/// Sizes with their shares, which add up to 100.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Split(pub Vec<SplitEntry>);
impl FioValue for Split {
    const KIND: &'static str = "sizes with shares";
    fn read(text: &str) -> Result<Self, String> {
        let parts: Vec<(u64, Option<u8>)> =
            text.split(':').map(split_entry).collect::<Result<_, _>>()?;
        if parts.len() > MAX_SPLITS {
            return Err(format!(
                "has {} sizes; fio and we take {MAX_SPLITS}",
                parts.len()
            ));
        }
        let said: u32 = parts.iter().filter_map(|part| part.1).map(u32::from).sum();
        let blanks = parts.iter().filter(|part| part.1.is_none()).count() as u32;
        if said > 100 || (blanks == 0 && said != 100) {
            return Err(format!(
                "the shares of `{text}` add up to {said} %, not to 100 %"
            ));
        }
        // Blank shares divide what is left; the first of them take the remainder, so that the sum is 100.
        let left = 100 - said;
        let (each, mut extra) = (
            left.checked_div(blanks).unwrap_or(0),
            left.checked_rem(blanks).unwrap_or(0),
        );
        let entries = parts.into_iter().map(|(bytes, percent)| {
            let blank_share = || {
                let bonus = u32::from(extra > 0);
                extra -= bonus;
                (each + bonus) as u8
            };
            SplitEntry {
                bytes,
                percent: percent.unwrap_or_else(blank_share),
            }
        });
        Ok(Self(entries.collect()))
    }
}

fn split_entry(text: &str) -> Result<(u64, Option<u8>), String> {
    let (size, share) = text.split_once('/').unwrap_or((text, ""));
    let bytes = units::bytes(size)?;
    if bytes == 0 {
        return Err("has a size of 0 bytes".into());
    }
    Ok((
        bytes,
        if share.is_empty() {
            None
        } else {
            Some(units::percent(share)?)
        },
    ))
}

/// The kind of a pattern.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum RwKind {
    /// Sequential reads.
    Read,
    /// Sequential writes.
    Write,
    /// Sequential trims.
    Trim,
    /// Random reads.
    Randread,
    /// Random writes.
    Randwrite,
    /// Random trims.
    Randtrim,
    /// Sequential reads and writes.
    Rw,
    /// Random reads and writes.
    Randrw,
}
impl RwKind {
    /// Whether offsets are drawn rather than counted up.
    pub fn is_random(self) -> bool {
        matches!(
            self,
            Self::Randread | Self::Randwrite | Self::Randtrim | Self::Randrw
        )
    }
    /// Whether it reads.
    pub fn reads(self) -> bool {
        matches!(self, Self::Read | Self::Randread | Self::Rw | Self::Randrw)
    }
    /// Whether it writes data.
    pub fn writes(self) -> bool {
        matches!(
            self,
            Self::Write | Self::Randwrite | Self::Rw | Self::Randrw
        )
    }
    /// Whether it discards blocks.
    pub fn trims(self) -> bool {
        matches!(self, Self::Trim | Self::Randtrim)
    }
    /// Whether what was on the target is lost.
    pub fn destroys(self) -> bool {
        self.writes() || self.trims()
    }
}

/// `rw` with its `:N`: for random patterns N I/Os follow on from each new offset; for sequential ones N bytes are
/// skipped after each I/O (negative: backwards).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Rw {
    /// The kind.
    pub kind: RwKind,
    /// The figure behind the colon: I/Os (random) or bytes (sequential).
    pub modifier: Option<i64>,
}
impl FioValue for Rw {
    const KIND: &'static str = "pattern";
    fn read(text: &str) -> Result<Self, String> {
        let (name, modifier) = text
            .trim()
            .split_once(':')
            .map_or((text.trim(), None), |(name, modifier)| {
                (name, Some(modifier))
            });
        let kind = match name {
            "read" => RwKind::Read,
            "write" => RwKind::Write,
            "trim" => RwKind::Trim,
            "randread" => RwKind::Randread,
            "randwrite" => RwKind::Randwrite,
            "randtrim" => RwKind::Randtrim,
            "rw" | "readwrite" => RwKind::Rw,
            "randrw" => RwKind::Randrw,
            "trimwrite" | "randtrimwrite" => {
                return Err(format!(
                    "`{name}` is not built yet: use trim and write as two jobs"
                ));
            }
            _ => {
                return Err(format!(
                    "`{name}` is not a pattern: use read, write, randread, randwrite, rw, randrw, trim or randtrim"
                ));
            }
        };
        let modifier = modifier.map(|text| read_modifier(kind, text)).transpose()?;
        Ok(Self { kind, modifier })
    }
}

fn read_modifier(kind: RwKind, text: &str) -> Result<i64, String> {
    let (sign, digits) = text
        .strip_prefix('-')
        .map_or((1, text), |digits| (-1, digits));
    let value =
        i64::try_from(units::bytes(digits)?).map_err(|_| format!("`{text}` is too large"))? * sign;
    if kind.is_random() && value < 1 {
        Err(format!(
            "`:{text}` of a random pattern counts I/Os and must be at least 1"
        ))
    } else {
        Ok(value)
    }
}

/// One zone of a `zoned` distribution.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct Zone {
    /// Share of the I/Os in percent.
    pub access_percent: u8,
    /// Share of the region in percent.
    pub size_percent: u8,
}

/// Which blocks are liked.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase", tag = "kind")]
pub enum Distribution {
    /// All alike.
    Random,
    /// Zipf with this exponent, not 1.
    Zipf {
        /// The exponent θ.
        theta: f64,
    },
    /// Pareto with this power, between 0 and 1.
    Pareto {
        /// The power h.
        power: f64,
    },
    /// A bell around the middle.
    Normal {
        /// Standard deviation in percent of the region.
        deviation_percent: f64,
    },
    /// Zones with their own shares.
    Zoned {
        /// The zones in order.
        zones: Vec<Zone>,
    },
}
impl FioValue for Distribution {
    const KIND: &'static str = "distribution";
    fn read(text: &str) -> Result<Self, String> {
        let (name, rest) = text
            .trim()
            .split_once(':')
            .map_or((text.trim(), None), |(name, rest)| (name, Some(rest)));
        let number = |what: &str, default: f64, ok: &dyn Fn(f64) -> bool| match rest
            .map_or(Ok(default), str::parse::<f64>)
        {
            Ok(value) if value.is_finite() && ok(value) => Ok(value),
            _ => Err(format!("`{}` is not {what}", rest.unwrap_or_default())),
        };
        match name {
            "random" if rest.is_none() => Ok(Self::Random),
            // fio's defaults of the three figures: options.c, 3.42.
            "zipf" => Ok(Self::Zipf {
                theta: number("a zipf exponent above 0 that is not 1", 1.1, &|v| {
                    v > 0.0 && v != 1.0
                })?,
            }),
            "pareto" => Ok(Self::Pareto {
                power: number("a pareto power between 0 and 1", 0.2, &|v| {
                    v > 0.0 && v < 1.0
                })?,
            }),
            "normal" => Ok(Self::Normal {
                deviation_percent: number("a deviation above 0 and up to 100 %", 10.0, &|v| {
                    v > 0.0 && v <= 100.0
                })?,
            }),
            "zoned" => Ok(Self::Zoned {
                zones: zones(rest.unwrap_or_default())?,
            }),
            _ => Err(format!(
                "`{text}` is not a distribution that is built: use random, zipf:1.2, pareto:0.2, normal:10 or zoned:60/10:40/90"
            )),
        }
    }
}

fn zones(text: &str) -> Result<Vec<Zone>, String> {
    let zone = |text: &str| {
        let (access, size) = text
            .split_once('/')
            .ok_or_else(|| format!("`{text}` is not `access/size` in percent"))?;
        Ok::<_, String>(Zone {
            access_percent: units::percent(access)?,
            size_percent: units::percent(size)?,
        })
    };
    let zones = text.split(':').map(zone).collect::<Result<Vec<_>, _>>()?;
    let sum = |f: fn(&Zone) -> u8| zones.iter().map(|zone| u32::from(f(zone))).sum::<u32>();
    if zones.len() > MAX_ZONES {
        Err(format!(
            "has {} zones; fio and we take {MAX_ZONES}",
            zones.len()
        ))
    } else if sum(|zone| zone.access_percent) != 100 || sum(|zone| zone.size_percent) != 100 {
        Err(format!(
            "the access shares and the size shares of `{text}` must each add up to 100 %"
        ))
    } else {
        Ok(zones)
    }
}

/// Paths, as fio separates them: by `:`, with `\:` for a colon.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Files(pub Vec<String>);
impl FioValue for Files {
    const KIND: &'static str = "paths";
    fn read(text: &str) -> Result<Self, String> {
        let marked = text.replace("\\:", "\u{0}");
        let files: Vec<String> = marked
            .split(':')
            .map(|path| path.trim().replace('\u{0}', ":"))
            .collect();
        if text.contains('\0') || files.iter().any(String::is_empty) {
            Err(format!("`{text}` has an empty path"))
        } else {
            Ok(Self(files))
        }
    }
}

/// A set of processors, such as `0-3,8`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CpuList(pub Vec<u32>);
impl FioValue for CpuList {
    const KIND: &'static str = "processors";
    fn read(text: &str) -> Result<Self, String> {
        let bad = || format!("`{text}` is not a list of processors such as 0-3,8");
        let mut cpus = Vec::new();
        for part in text.split(',') {
            let (first, last) = part
                .trim()
                .split_once('-')
                .unwrap_or((part.trim(), part.trim()));
            let (first, last): (u32, u32) = (
                first.parse().map_err(|_| bad())?,
                last.parse().map_err(|_| bad())?,
            );
            // 4096 is the kernel's largest CONFIG_NR_CPUS on the machines that exist.
            if last < first || last >= 4096 {
                return Err(bad());
            }
            cpus.extend(first..=last);
        }
        cpus.sort_unstable();
        cpus.dedup();
        Ok(Self(cpus))
    }
}

macro_rules! words {
    ($(#[$meta:meta])* $name:ident, $kind:literal { $( #[doc = $help:literal] $(#[$mark:meta])* $variant:ident = $word:literal $(| $other:literal)* ),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
        pub enum $name { $( #[doc = $help] $(#[$mark])* #[serde(rename = $word)] $variant ),+ }
        // Written out: the derived schema would name the variants, not the words, which come through a macro.
        impl ToSchema for $name {
            fn name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
        }
        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                let words = ObjectBuilder::new().schema_type(SchemaType::Type(Type::String)).enum_values(Some([$($word),+]));
                words.description(Some($kind)).into()
            }
        }
        impl FioValue for $name {
            const KIND: &'static str = $kind;
            fn read(text: &str) -> Result<Self, String> {
                match text.trim() {
                    $( $word $(| $other)* => Ok(Self::$variant), )+
                    _ => Err(format!("`{text}` is not one of: {}", [$($word),+].join(", "))),
                }
            }
        }
        impl $name {
            /// The word that fio and the reports use.
            pub fn word(self) -> &'static str {
                match self { $( Self::$variant => $word ),+ }
            }
        }
    };
}

words! {
    /// The system interface that does the I/O.
    EngineName, "engine" {
        /// Asynchronous, through shared rings.
        IoUring = "io_uring",
        /// One system call an I/O.
        Psync = "psync",
        /// No I/O at all.
        Null = "null",
        /// Entries of a ring that do nothing.
        IoUringNop = "io_uring_nop",
    }
}

impl EngineName {
    /// Whether it touches no target.
    pub fn is_null(self) -> bool {
        matches!(self, Self::Null | Self::IoUringNop)
    }

    /// Whether it works through a ring.
    pub fn has_ring(self) -> bool {
        matches!(self, Self::IoUring | Self::IoUringNop)
    }
}

words! {
    /// Pages of the I/O buffers.
    #[derive(Default)]
    BufferPages, "buffer pages" {
        /// Small pages.
        #[default]
        Mmap = "mmap" | "malloc",
        /// Huge pages, as far as the kernel has some (MADV_HUGEPAGE).
        Thp = "thp",
        /// Huge pages that the administrator reserved (MAP_HUGETLB).
        Mmaphuge = "mmaphuge",
    }
}
impl BufferPages {
    /// Bytes of a small page: buffers begin at one, which is enough for the direct I/O of every device there is.
    pub const SMALL: u64 = 4096;
    /// Bytes of a huge page: 2 MiB on x86-64 and, with small pages of 4 KiB, on ARM64.
    const HUGE: u64 = 2 << 20;

    /// Bytes from one buffer of so many bytes to the next; `None` beyond 64 bits.
    pub fn stride(bytes: u64) -> Option<u64> {
        bytes.max(1).checked_next_multiple_of(Self::SMALL)
    }

    /// Bytes of memory that so many of these buffers take together: whole pages; `None` beyond 64 bits.
    pub fn mapped(self, buffers: u64, bytes: u64) -> Option<u64> {
        let page = if self == Self::Mmap {
            Self::SMALL
        } else {
            Self::HUGE
        };
        Self::stride(bytes)?
            .checked_mul(buffers)?
            .checked_next_multiple_of(page)
    }
}

words! {
    /// What to do where io_uring is not allowed.
    Fallback, "fallback" {
        /// Fail and say why.
        None = "none",
        /// Use psync and say so.
        Psync = "psync",
    }
}
words! {
    /// What every write waits for.
    SyncMode, "sync mode" {
        /// Nothing.
        None = "none" | "0",
        /// Data and all metadata (O_SYNC).
        Sync = "sync" | "1",
        /// Data and the metadata needed to read it (O_DSYNC).
        Dsync = "dsync",
    }
}
words! {
    /// How a file gets its blocks before a job writes it.
    Fallocate, "allocation" {
        /// Every block is written with data.
        Written = "written",
        /// Not at all.
        None = "none" | "0",
        /// fallocate(2): unwritten extents.
        Native = "native",
        /// posix_fallocate(3).
        Posix = "posix" | "1",
        /// fallocate(2) with KEEP_SIZE.
        Keep = "keep",
        /// ftruncate(2): a hole.
        Truncate = "truncate",
    }
}
words! {
    /// When the I/Os of a rate are due.
    RateProcess, "process" {
        /// Evenly.
        Linear = "linear",
        /// At random moments, with exponentially distributed time between them.
        Poisson = "poisson",
    }
}
words! {
    /// What the kernel is told about the pattern.
    Fadvise, "advice" {
        /// By the pattern, as fio does.
        ByPattern = "1" | "true",
        /// Nothing.
        None = "0" | "none" | "false",
        /// POSIX_FADV_RANDOM: no readahead.
        Random = "random",
        /// POSIX_FADV_SEQUENTIAL: twice the readahead.
        Sequential = "sequential",
    }
}
words! {
    /// The state that a file is to be in before the measurement.
    #[derive(Default)]
    FileState, "file state" {
        /// As it is found, laid out by the other options.
        #[default]
        AsIs = "as-is",
        /// Not there: made by this run, and its first blocks with it.
        Fresh = "fresh",
        /// Every block of the region holds data.
        Written = "written",
        /// Every block was written, and is written again: `overwrite=1`.
        Overwrite = "overwrite",
        /// The job goes on at its end: `file_append=1`.
        Append = "append",
    }
}
words! {
    /// The state that the page cache is to be in before the measurement.
    #[derive(Default)]
    CacheState, "cache state" {
        /// As the other options leave it.
        #[default]
        AsIs = "as-is",
        /// None of the target's pages in it: written back first, then dropped.
        Cold = "cold",
        /// All of the target's pages in it: `pre_read=1`.
        Warm = "warm",
    }
}
