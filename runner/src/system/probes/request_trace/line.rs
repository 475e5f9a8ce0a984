//! Lines of `trace_pipe`, as far as they count: `task-pid [cpu] flags seconds: event: fields`. Pure.

use crate::system::host::kernel::Dev;
use leadline_protocol::evidence::Direction;

/// What one line tells.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Line {
    /// A request was handed to a device.
    Request {
        /// Its number.
        dev: Dev,
        /// Read or write.
        direction: Direction,
        /// Bytes of it.
        bytes: u64,
    },
    /// A thread was made to wait by the dirty limit.
    Pause {
        /// Which.
        thread: i32,
        /// How long, in ms.
        ms: u64,
    },
}

impl Line {
    /// Reads one line; its moment in ns of the trace's clock beside it. `None` for all others: flushes and discards have
    /// no size.
    pub fn parse(text: &str) -> Option<(u64, Self)> {
        if let Some((head, fields)) = text.split_once(": block_rq_issue: ") {
            return Some((moment_ns(head)?, request(fields)?));
        }
        let (head, fields) = text.split_once(": balance_dirty_pages: ")?;
        let thread = head
            .split(" [")
            .next()?
            .trim_end()
            .rsplit('-')
            .next()?
            .parse()
            .ok()?;
        let pause: i64 = fields
            .split_ascii_whitespace()
            .find_map(|field| field.strip_prefix("pause="))?
            .parse()
            .ok()?;
        Some((
            moment_ns(head)?,
            Self::Pause {
                thread,
                ms: u64::try_from(pause).ok()?,
            },
        ))
    }
}

/// `... 5555.123456` in ns.
fn moment_ns(head: &str) -> Option<u64> {
    let (seconds, fraction) = head.rsplit(' ').next()?.split_once('.')?;
    let micros: u64 = fraction.parse().ok()?;
    Some(seconds.parse::<u64>().ok()? * 1_000_000_000 + micros * 1000)
}

/// `major,minor rwbs bytes (command) sector + sectors ...`.
fn request(fields: &str) -> Option<Line> {
    let mut fields = fields.split_ascii_whitespace();
    let (major, minor) = fields.next()?.split_once(',')?;
    let dev = Dev(rustix::fs::makedev(
        major.parse().ok()?,
        minor.parse().ok()?,
    ));
    // `F` in front: a flush before it (blktrace.c, blk_fill_rwbs).
    let direction = match fields.next()?.trim_start_matches('F').chars().next()? {
        'R' => Direction::Read,
        'W' => Direction::Write,
        _ => return None,
    };
    let bytes = fields.next()?.parse().ok().filter(|bytes| *bytes > 0)?;
    Some(Line::Request {
        dev,
        direction,
        bytes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, want: Option<(u64, Line)>) {
        assert_eq!(Line::parse(text), want, "{text}");
    }

    #[test]
    fn captured_lines() {
        let dev = Dev(rustix::fs::makedev(254, 0));
        let request = |direction, bytes| {
            Some((
                5_123_456_000,
                Line::Request {
                    dev,
                    direction,
                    bytes,
                },
            ))
        };
        let head = "     kworker/1:2H-9277    [001] ..... ";
        let at = |rest: &str| format!("{head}    5.123456: block_rq_issue: {rest}");
        check(
            &at("254,0 R 4096 () 2136064 + 8 none,0,0 [fio]"),
            request(Direction::Read, 4096),
        );
        check(
            &at("254,0 WS 1048576 () 2136064 + 2048 be,0,4 [a b]"),
            request(Direction::Write, 1_048_576),
        );
        check(
            &at("254,0 RA 131072 () 88 + 256 [fio]"),
            request(Direction::Read, 131_072),
        );
        check(
            &at("254,0 FWFS 4096 () 88 + 8 none,0,0 [jbd2]"),
            request(Direction::Write, 4096),
        );
        check(
            &at("254,0 FF 0 () 18446744073709551615 + 0 none,0,0 [kworker]"),
            None,
        );
        check(&at("254,0 D 4096 () 88 + 8 none,0,0 [fio]"), None);
        check(&at("rubbish"), None);
        let pause = "bdi 254:0: limit=1 setpoint=2 dirty=3 wb_setpoint=4 wb_dirty=5 dirty_ratelimit=6 task_ratelimit=7 dirtied=8 dirtied_pause=9 paused=0 pause=12 period=3 think=-1 cgroup_ino=1";
        let line = format!(
            "          my-job.0-1234    [000] .....    77.000001: balance_dirty_pages: {pause}"
        );
        check(
            &line,
            Some((
                77_000_001_000,
                Line::Pause {
                    thread: 1234,
                    ms: 12,
                },
            )),
        );
        check(&line.replace("pause=12", "pause=-3"), None);
        check("CPU:1 [LOST 55 EVENTS]", None);
        check("", None);
    }
}
