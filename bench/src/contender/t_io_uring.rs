//! t/io_uring from fio's sources. It records no latencies, supports only reads, and cannot stop
//! after one I/O.

use super::{Batch, Contender, Counts};
use crate::{
    child::Invocation,
    work::{Engine, Length, Rw, Work},
};
use anyhow::{Context, Result, ensure};
use std::path::PathBuf;

#[derive(Debug)]
pub struct TIoUring {
    pub path: PathBuf,
    pub batch: Batch,
}

/// t/io_uring prints its first line after one second and omits the last line, so one extra second
/// yields one line per requested second.
const EXTRA_SECONDS: u32 = 1;

impl Contender for TIoUring {
    fn name(&self) -> String {
        "t/io_uring".into()
    }

    fn supports(&self, work: &Work, length: Length) -> bool {
        length != Length::OneIo && !work.rw.writes() && work.ioengine != Engine::Null
    }

    fn may_repeat_offsets(&self) -> bool {
        true
    }

    fn invocation(&self, work: &Work, path: &str, length: Length) -> Invocation {
        let seconds = match length {
            Length::OneIo => 1,
            Length::Seconds(seconds) => seconds + EXTRA_SECONDS,
        };
        let random = u32::from(work.rw == Rw::RandRead);
        let (direct, sync) = (
            u32::from(work.direct),
            u32::from(work.ioengine == Engine::Psync),
        );
        // With registered buffers, the kernel would look up a buffer for each NOP entry, which it
        // does not do for the runner's entries. The registered file cannot be disabled.
        let nop = work.ioengine == Engine::IoUringNop;
        let flags = [
            ('d', work.iodepth),
            ('s', self.batch.submit),
            ('c', self.batch.complete_min),
            ('b', work.bs),
            ('p', 0),
            ('B', u32::from(!nop)),
            ('F', 1),
            ('O', direct),
            ('n', work.numjobs),
            ('R', random),
            ('S', sync),
            ('N', u32::from(nop)),
            ('r', seconds),
        ];
        // t/io_uring requires a regular file, even if it does no I/O on it.
        let file = if path.is_empty() {
            "/proc/self/exe"
        } else {
            path
        };
        let args = flags
            .iter()
            .map(|(flag, value)| format!("-{flag}{value}"))
            .chain([file.to_owned()])
            .collect();
        Invocation {
            program: self.path.clone(),
            args,
            input: None,
        }
    }

    fn parse(&self, output: &str, length: Length) -> Result<Counts> {
        let rates = output.lines().filter_map(parse_iops).collect::<Vec<f64>>();
        ensure!(!rates.is_empty(), "t/io_uring printed no IOPS: {output}");
        let iops = leadline_stats::median::median(&rates);
        let Length::Seconds(seconds) = length else {
            anyhow::bail!("t/io_uring cannot stop after one I/O")
        };
        // t/io_uring does not print the number of I/Os.
        Ok(Counts {
            ios: iops * f64::from(seconds + EXTRA_SECONDS),
            iops,
            achieved_depth: None,
        })
    }
}

/// Parses `IOPS=1.23M, BW=...`; `None` for other lines such as `Maximum IOPS=`.
fn parse_iops(line: &str) -> Option<f64> {
    let number = line.strip_prefix("IOPS=")?.split(',').next()?;
    let (digits, scale) = match number.strip_suffix('M') {
        Some(millions) => (millions, 1e6),
        None => number
            .strip_suffix('K')
            .map_or((number, 1.0), |thousands| (thousands, 1e3)),
    };
    digits
        .parse::<f64>()
        .context(line.to_owned())
        .ok()
        .map(|iops| iops * scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_output_lines() {
        for (line, iops) in [
            ("IOPS=648.97K, BW=2.54GiB/s, IOS/call=1/1", Some(648_970.0)),
            (
                "IOPS=1.23M, BW=4.80GiB/s, IOS/call=32/31",
                Some(1_230_000.0),
            ),
            ("IOPS=9142, BW=35MiB/s, IOS/call=1/1", Some(9142.0)),
            ("Maximum IOPS=648.97K", None),
            ("submitter=0, tid=42, file=hot, nfiles=1, node=-1", None),
        ] {
            assert_eq!(parse_iops(line), iops, "{line}");
        }
    }
}
