//! Priorities of individual I/Os (fio's engines/cmdprio.c).

use crate::plan::{host_view::HostView, issues::Issues, job_request::JobRequest};
use leadline_protocol::{
    job::{
        Job,
        direction::PerDirection,
        engine::EngineName,
        priority_split::PrioritySplit,
        range::{PRIO, PRIO_HINT, PRIOCLASS},
        value::Percent,
    },
    plan::command_priorities::{CommandPriorities, CommandPriority, PriorityShare},
};

/// IOPRIO_CLASS_RT in linux/ioprio.h. As in fio, the default of `cmdprio_class`.
const REALTIME: u8 = 1;

/// `None` if all I/Os have the worker's priority.
pub(crate) fn options(job: &Job) -> Option<CommandPriorities> {
    let rw = job.rw().kind;
    let priority = |class: u64, level: u64, hint: u64| CommandPriority {
        class: if class == 0 { REALTIME } else { class as u8 },
        level: level as u8,
        hint: hint as u16,
    };
    let (class, level, hint) = (job.cmdprio_class(), job.cmdprio(), job.cmdprio_hint());
    let percent = job.cmdprio_percentage();
    let split = job.cmdprio_bssplit.as_ref();
    // As in fio, directions without I/O are ignored.
    let priorities = CommandPriorities {
        read: if rw.reads() {
            let given = priority(class.read, level.read, hint.read);
            shares(percent.read.0, split.map(|split| &split.read), given)
        } else {
            Vec::new()
        },
        write: if rw.writes() {
            let given = priority(class.write, level.write, hint.write);
            shares(percent.write.0, split.map(|split| &split.write), given)
        } else {
            Vec::new()
        },
    };
    let is_empty = priorities.read.is_empty() && priorities.write.is_empty();
    (!is_empty).then_some(priorities)
}

fn shares(
    percent: u8,
    split: Option<&PrioritySplit>,
    given: CommandPriority,
) -> Vec<PriorityShare> {
    let of_all = PriorityShare {
        bytes: None,
        percent,
        priority: given,
    };
    let of_sizes = split.iter().flat_map(|split| &split.0).map(|entry| {
        let priority = entry.priority.map(|[class, level, hint]| CommandPriority {
            class: class as u8,
            level: level as u8,
            hint,
        });
        PriorityShare {
            bytes: Some(entry.bytes),
            percent: entry.percent,
            priority: priority.unwrap_or(given),
        }
    });
    let all = std::iter::once(of_all).chain(of_sizes);
    all.filter(|share| share.percent > 0).collect()
}

pub(crate) fn check(request: &JobRequest, host: &dyn HostView, issues: &mut Issues) {
    let job = request.job;
    for (option, values, range) in [
        ("cmdprio_class", job.cmdprio_class(), PRIOCLASS),
        ("cmdprio", job.cmdprio(), PRIO),
        ("cmdprio_hint", job.cmdprio_hint(), PRIO_HINT),
    ] {
        for value in [values.read, values.write] {
            issues.check_range(option, value, range);
        }
    }
    let Some(priorities) = options(job) else {
        return;
    };
    let has_percentage = job.cmdprio_percentage() != PerDirection::same(Percent(0));
    let option = match &job.cmdprio_bssplit {
        Some(_) if has_percentage => {
            return issues.invalid(
                "conflicting_options",
                "cmdprio_bssplit",
                "cmdprio_percentage and cmdprio_bssplit are mutually exclusive.",
                "Remove one of them.",
            );
        }
        Some(_) => "cmdprio_bssplit",
        None => "cmdprio_percentage",
    };
    if !matches!(request.engine, EngineName::IoUring | EngineName::Libaio) {
        let engine = request.engine.as_str();
        issues.invalid(
            "conflicting_options",
            option,
            format!("ioengine={engine} does not support per-I/O priorities."),
            "Use ioengine=io_uring or libaio, or prio and prioclass for all I/Os.",
        );
    }
    let mut shares = priorities.read.iter().chain(&priorities.write);
    if shares.any(|share| share.priority.class == REALTIME) && !host.may_drop_caches() {
        issues.environment(
            "root_required",
            option,
            "The realtime I/O priority class requires root.",
            "Run as root, or use cmdprio_class=2 (best effort).",
        );
    }
}
