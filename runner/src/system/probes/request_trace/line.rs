//! Parses lines from `trace_pipe`: `task-pid [cpu] flags seconds: event: fields`. Performs no I/O.

use crate::system::host::kernel::Dev;
use leadline_protocol::evidence::transition::Direction;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Line {
    /// block_rq_issue.
    Request {
        dev: Dev,
        direction: Direction,
        bytes: u64,
    },
    /// balance_dirty_pages.
    Pause { thread: i32, ms: u64 },
}

impl Line {
    /// Returns the event and its time (trace clock, in ns); `None` for other events and for
    /// requests without data, such as flushes.
    pub(crate) fn parse(text: &str) -> Option<(u64, Self)> {
        if let Some((head, fields)) = text.split_once(": block_rq_issue: ") {
            return Some((time_ns(head)?, request(fields)?));
        }
        let (head, fields) = text.split_once(": balance_dirty_pages: ")?;
        Some((time_ns(head)?, pause(head, fields)?))
    }
}

/// Parses `... 5555.123456`.
fn time_ns(head: &str) -> Option<u64> {
    let (seconds, micros) = head.rsplit(' ').next()?.split_once('.')?;
    let seconds: u64 = seconds.parse().ok()?;
    let micros: u64 = micros.parse().ok()?;
    seconds
        .checked_mul(1_000_000_000)?
        .checked_add(micros.checked_mul(1000)?)
}

/// Parses `major,minor rwbs bytes (command) sector + sectors ...`.
fn request(fields: &str) -> Option<Line> {
    let mut fields = fields.split_ascii_whitespace();
    let dev = fields.next()?.replace(',', ":").parse().ok()?;
    // A leading `F` means a preceding flush (blktrace.c, blk_fill_rwbs).
    let direction = match fields.next()?.trim_start_matches('F').chars().next()? {
        'R' => Direction::Read,
        'W' => Direction::Write,
        _ => return None,
    };
    let bytes = fields.next()?.parse().ok()?;
    (bytes > 0).then_some(Line::Request {
        dev,
        direction,
        bytes,
    })
}

/// Parses `task-pid [cpu] ...` and `... pause=ms ...`; `None` for a negative pause.
fn pause(head: &str, fields: &str) -> Option<Line> {
    let (task, _) = head.split_once(" [")?;
    let (_, thread) = task.trim_end().rsplit_once('-')?;
    let mut fields = fields.split_ascii_whitespace();
    let ms = fields.find_map(|field| field.strip_prefix("pause="))?;
    Some(Line::Pause {
        thread: thread.parse().ok()?,
        ms: ms.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, want: Option<(u64, Line)>) {
        assert_eq!(Line::parse(text), want, "{text}");
    }

    #[test]
    fn parses_requests_and_pauses() {
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
        check(&at("invalid"), None);
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
        let most = u64::MAX;
        check(
            &format!("a-1 [0] {most}.0: block_rq_issue: 8,0 R 8 ()"),
            None,
        );
        check(
            &format!("a-1 [0] 1.{most}: block_rq_issue: 8,0 R 8 ()"),
            None,
        );
        check("CPU:1 [LOST 55 EVENTS]", None);
        check("", None);
    }
}
