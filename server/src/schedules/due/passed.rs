//! Counts due times that have passed. The time this takes is bounded, because all days without a
//! clock change have the same due times. Pure.

use super::state::{NOT_RUNNING, State, quiet_reason};
use crate::store::schedule_starts::Start;
use leadline_protocol::schedule::StartResult;

/// A group of due times with the same result.
#[derive(Clone, Debug, Default)]
struct Group {
    count: u64,
    /// The latest of these due times. In the counts for a whole day, it is relative to the start of
    /// the day.
    last_ms: u64,
    /// Why these due times are skipped; `None` if they are not in quiet hours.
    quiet: Option<String>,
}

/// Due times outside quiet hours, and due times inside quiet hours.
type Groups = [Group; 2];

/// Returns the results of all due times from `first` (inclusive) to `end` (exclusive). None of them
/// is started late.
pub(super) fn results(state: &State, first: u64, end: u64) -> Vec<Start> {
    let groups = count(state, first, end).into_iter();
    let mut starts: Vec<Start> = groups
        .filter(|group| group.count > 0)
        .map(
            |Group {
                 count,
                 last_ms,
                 quiet,
             }| {
                let (result, reason) = match quiet {
                    Some(reason) => (StartResult::Skipped, reason),
                    None => (StartResult::Missed, NOT_RUNNING.into()),
                };
                let start = Start::new(last_ms, result, Some(reason));
                Start { count, ..start }
            },
        )
        .collect();
    starts.sort_by_key(|start| start.due_at_ms);
    starts
}

fn count(state: &State, first: u64, end: u64) -> Groups {
    let mut groups = Groups::default();
    let mut whole_day: Option<Groups> = None;
    let mut next = Some(first);
    while let Some(due) = next.filter(|due| *due < end)
        && let Some(day) = state.cron.day(due)
    {
        // Counting may start in the middle of the first day.
        let is_whole = due != first && day.is_regular && day.end_ms <= end;
        if is_whole {
            let of_day =
                whole_day.get_or_insert_with(|| count_each(state, due, day.end_ms, day.start_ms));
            merge(&mut groups, of_day, day.start_ms);
        } else {
            merge(
                &mut groups,
                &count_each(state, due, day.end_ms.min(end), 0),
                0,
            );
        }
        next = state.cron.next_after(day.end_ms - 1);
    }
    groups
}

/// Counts due times one by one. `last_ms` in the result is relative to `origin_ms`.
fn count_each(state: &State, first: u64, end: u64, origin_ms: u64) -> Groups {
    let mut groups = Groups::default();
    let due = std::iter::successors(Some(first), |due| state.cron.next_after(*due));
    for due in due.take_while(|due| *due < end) {
        let quiet = quiet_reason(state, due);
        let group = &mut groups[usize::from(quiet.is_some())];
        *group = Group {
            count: group.count + 1,
            last_ms: due - origin_ms,
            quiet,
        };
    }
    groups
}

fn merge(groups: &mut Groups, later: &Groups, origin_ms: u64) {
    for (group, later) in groups.iter_mut().zip(later) {
        if later.count > 0 {
            *group = Group {
                count: group.count + later.count,
                last_ms: origin_ms + later.last_ms,
                quiet: later.quiet.clone(),
            };
        }
    }
}
