//! diskspd's flags.

use crate::dialect::{
    diskspd::flag_result::{
        FlagError, FlagResult, count, explain_or_reject, explained, plain, positive_count, require,
    },
    notes::{NoteText, Notes, quoted},
    shell::Word,
    source::Span,
};

#[derive(Clone, Copy, Debug)]
pub(crate) enum Seed {
    Fixed(i64),
    Random,
}

/// Values of the flags; sizes in bytes.
#[derive(Debug)]
pub(crate) struct Flags {
    pub block: Option<i64>,
    pub depth: Option<i64>,
    pub threads: i64,
    pub duration_s: Option<i64>,
    pub warm_up_s: Option<i64>,
    pub write_percent: i64,
    /// `Some` for random access, with the alignment if it is set.
    pub random: Option<Option<i64>>,
    pub random_percent: Option<i64>,
    pub distribution: Option<String>,
    pub stride: Option<i64>,
    /// All threads share one sequential position.
    pub is_interlocked: bool,
    pub thread_stride: Option<i64>,
    pub base: Option<i64>,
    pub base_length: Option<i64>,
    pub file_size: Option<i64>,
    pub max_size: Option<i64>,
    pub direct: Option<bool>,
    pub writes_through: bool,
    pub is_mapped: bool,
    pub seed: Option<Seed>,
    pub is_zero_data: bool,
    pub is_fresh_data: bool,
    /// Per thread: bytes per ms or, if the flag is true, I/Os per second.
    pub rate: Option<(i64, bool)>,
    pub burst: Option<i64>,
    pub think_ms: Option<i64>,
    pub cpus: Option<String>,
    has_other_data: bool,
    /// Flags in the command, with their positions.
    pub given: Vec<(char, String, Span)>,
}

impl Default for Flags {
    fn default() -> Self {
        Self {
            block: None,
            depth: None,
            threads: 1,
            duration_s: None,
            warm_up_s: None,
            write_percent: 0,
            random: None,
            random_percent: None,
            distribution: None,
            stride: None,
            is_interlocked: false,
            thread_stride: None,
            base: None,
            base_length: None,
            file_size: None,
            max_size: None,
            direct: None,
            writes_through: false,
            is_mapped: false,
            seed: None,
            is_zero_data: false,
            is_fresh_data: false,
            rate: None,
            burst: None,
            think_ms: None,
            cpus: None,
            has_other_data: false,
            given: Vec::new(),
        }
    }
}

impl Flags {
    pub(crate) fn block_bytes(&self) -> i64 {
        self.block.unwrap_or(64 << 10)
    }

    pub(crate) fn is_default_data(&self) -> bool {
        !(self.is_zero_data || self.is_fresh_data || self.has_other_data)
    }

    /// Reads a flag and reports what it means.
    pub(crate) fn read(&mut self, word: &Word, notes: &mut Notes<'_>) {
        let name = format!("-{}", &word.text[1..]);
        let option = Some(word.text.as_str());
        let mut characters = word.text[1..].chars();
        let Some(letter) = characters.next() else {
            return;
        };
        self.given.push((letter, name.clone(), word.span.clone()));
        match self.take(letter, characters.as_str()) {
            Ok(None) => {}
            Ok(Some(text)) => notes.info(&word.span, option, text),
            Err(FlagError::Value) => {
                let sentence = format!("`{}` is not a valid diskspd flag.", quoted(&name));
                notes.error(
                    &word.span,
                    option,
                    NoteText::new("bad_flag", sentence, "Correct or remove it."),
                );
            }
            Err(FlagError::Unsupported(reason)) => {
                let sentence = format!("{} {reason}", quoted(&name));
                notes.error(
                    &word.span,
                    option,
                    NoteText::new("unsupported_flag", sentence, "Remove it."),
                );
            }
        }
    }

    fn take(&mut self, letter: char, value: &str) -> FlagResult {
        match letter {
            'b' => self.block = Some(require(self.size(value).filter(|size| *size > 0))?),
            'o' | 'O' => self.depth = Some(positive_count(value)?),
            't' | 'F' => self.threads = positive_count(value)?,
            'd' => self.duration_s = Some(positive_count(value)?),
            'W' => self.warm_up_s = Some(count(value)?),
            'w' => {
                self.write_percent = require(count(value).ok().filter(|percent| *percent <= 100))?
            }
            'C' => {
                return explained(
                    "cooldown",
                    "The cool-down is skipped: its I/O is not measured.",
                );
            }
            'B' => return self.base(value),
            'c' => {
                self.file_size = Some(require(self.size(value))?);
                return explained(
                    "creates_file",
                    "-c creates the file: size is its length, and it is created before the run.",
                );
            }
            'f' if matches!(value, "r" | "s" | "t" | "rs" | "sr") => {
                return explained(
                    "windows_hint",
                    "This Windows open hint has no effect on Linux; fadvise_hint follows the pattern.",
                );
            }
            'f' => self.max_size = Some(require(self.size(value))?),
            'h' => return self.cache("h"),
            'S' => return self.cache(value),
            'r' | 's' => return self.access(letter, value),
            'T' => {
                self.thread_stride = Some(require(self.size(value))?);
                return explained(
                    "thread_stride",
                    "-T is offset_increment: each thread starts that much farther into the target.",
                );
            }
            'g' => return self.rate(value),
            'i' => self.burst = Some(positive_count(value)?),
            'j' => {
                self.think_ms = Some(positive_count(value)?);
                return explained(
                    "burst",
                    "-i and -j are thinktime_blocks and thinktime: a pause after each burst.",
                );
            }
            'z' => {
                self.seed = Some(match value {
                    "" => Seed::Random,
                    value => Seed::Fixed(count(value)?),
                });
            }
            'Z' => return self.data(value),
            'a' => return self.affinity(value),
            _ => return explain_or_reject(letter, value),
        }
        plain()
    }

    /// The suffix `b` multiplies by the block size.
    fn size(&self, text: &str) -> Option<i64> {
        let end = text
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(text.len());
        let number: i64 = text[..end].parse().ok()?;
        let factor = match text[end..].to_ascii_lowercase().as_str() {
            "" => 1,
            "k" => 1 << 10,
            "m" => 1 << 20,
            "g" => 1 << 30,
            "t" => 1 << 40,
            "b" => self.block_bytes(),
            _ => return None,
        };
        number.checked_mul(factor)
    }

    fn base(&mut self, value: &str) -> FlagResult {
        let (base, length) = match value.split_once(':') {
            Some((base, length)) => (base, Some(require(self.size(length))?)),
            None => (value, None),
        };
        self.base = Some(require(self.size(base))?);
        self.base_length = length;
        plain()
    }

    fn cache(&mut self, value: &str) -> FlagResult {
        let has = |letter| value.contains(letter);
        if has('r') {
            return Err(FlagError::Unsupported(
                "disables the cache only for remote files, which Linux cannot do.",
            ));
        }
        let is_known = value.chars().all(|letter| "bhmuw".contains(letter));
        let is_cached = has('b');
        let is_uncached = has('u') || has('h') || value.is_empty();
        let is_repeated = self.direct.is_some();
        if !is_known || (is_cached && is_uncached) || is_repeated {
            return Err(FlagError::Value);
        }
        self.writes_through |= has('w') || has('h');
        self.is_mapped = has('m');
        self.direct = Some(is_uncached);
        match (is_uncached, self.writes_through, self.is_mapped) {
            (_, _, true) => explained(
                "mapped",
                "-Sm accesses the file through a mapping (ioengine=mmap).",
            ),
            (true, true, _) => explained(
                "write_through",
                "-Sh is direct=1 and sync=dsync: no file cache, and each write waits for the device.",
            ),
            (false, true, _) => explained(
                "write_through",
                "-Sw is sync=dsync: each write waits for the device.",
            ),
            (true, false, _) => explained("unbuffered", "-Su is direct=1: no file cache."),
            (false, false, _) => explained(
                "buffered_default",
                "-Sb is direct=0: I/O goes through the file cache.",
            ),
        }
    }

    fn access(&mut self, letter: char, value: &str) -> FlagResult {
        match (letter, value) {
            ('r', "") => self.random = Some(self.random.flatten()),
            ('r', value) if value.starts_with('s') => {
                self.random_percent = Some(require(
                    count(&value[1..])
                        .ok()
                        .filter(|percent| (1..=100).contains(percent)),
                )?);
                self.random = Some(self.random.flatten());
                return explained(
                    "mixed_random",
                    "-rs is percentage_random: the other I/Os are sequential.",
                );
            }
            ('r', value) if value.starts_with("dpct") => {
                self.distribution = Some(format!("zoned:{}", &value[4..]));
                return explained("distribution", "-rdpct is random_distribution=zoned.");
            }
            ('r', value) if value.starts_with("dabs") => {
                let mut zones = Vec::new();
                for zone in value[4..].split(':') {
                    let (share, size) = require(zone.split_once('/'))?;
                    zones.push(format!("{share}/{}", require(self.size(size))?));
                }
                self.distribution = Some(format!("zoned_abs:{}", zones.join(":")));
                return explained("distribution", "-rdabs is random_distribution=zoned_abs.");
            }
            ('r', value) => {
                self.random = Some(Some(require(self.size(value).filter(|size| *size > 0))?));
                return explained(
                    "alignment",
                    "-r with a size is blockalign: offsets are multiples of it.",
                );
            }
            (_, _) if self.random.is_some() => return Err(FlagError::Value),
            (_, "") => {}
            // Checked later, together with the number of threads.
            (_, "i") => self.is_interlocked = true,
            (_, value) => {
                let value = match value.strip_prefix('i') {
                    Some(value) => {
                        self.is_interlocked = true;
                        value
                    }
                    None => value,
                };
                self.stride = Some(require(self.size(value))?);
                return explained(
                    "stride",
                    "-s with a size is the distance between two blocks (rw=read:N skips N bytes).",
                );
            }
        }
        plain()
    }

    fn rate(&mut self, value: &str) -> FlagResult {
        self.rate = Some(match value.strip_suffix('i') {
            Some(iops) => (positive_count(iops)?, true),
            None => (positive_count(value)?, false),
        });
        explained(
            "rate_per_thread",
            "-g limits each thread: rate is bytes per ms × 1000; with the suffix `i`, rate_iops is set instead.",
        )
    }

    fn data(&mut self, value: &str) -> FlagResult {
        match value {
            "" => {
                self.is_zero_data = true;
                return explained(
                    "zero_data",
                    "-Z is zero_buffers: devices that compress or deduplicate store zeros faster.",
                );
            }
            "r" => self.is_fresh_data = true,
            value if value.contains(',') => {
                return Err(FlagError::Unsupported(
                    "reads the data from a file, which is not supported.",
                ));
            }
            value => {
                require(self.size(value))?;
                self.has_other_data = true;
                return explained(
                    "random_source",
                    "Leadline also writes random data, but does not take it from one buffer of this size.",
                );
            }
        }
        plain()
    }

    fn affinity(&mut self, value: &str) -> FlagResult {
        let is_list = !value.is_empty() && value.chars().all(|c| c.is_ascii_digit() || c == ',');
        if is_list {
            self.cpus = Some(value.into());
            return explained(
                "affinity",
                "-a is cpus_allowed with cpus_allowed_policy=split: one CPU per thread, round-robin.",
            );
        }
        match value {
            "" | "g" => explained("affinity", "Threads are not bound to CPUs."),
            _ => Err(FlagError::Unsupported("uses Windows processor groups.")),
        }
    }
}
