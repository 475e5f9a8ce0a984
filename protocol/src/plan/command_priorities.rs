//! Priorities of individual I/Os: `cmdprio_percentage`, `cmdprio_bssplit` and related options.

use serde::{Deserialize, Serialize};
use std::fmt;
use utoipa::ToSchema;

/// Shares of the I/Os with a priority of their own. All others have the priority of the worker.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct CommandPriorities {
    pub read: Vec<PriorityShare>,
    pub write: Vec<PriorityShare>,
}

/// A share of the I/Os of one direction.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct PriorityShare {
    /// Size of the I/Os in bytes; null for all sizes.
    pub bytes: Option<u64>,
    /// Percentage of the I/Os of this size.
    pub percent: u8,
    #[serde(flatten)]
    pub priority: CommandPriority,
}

/// Priority of an I/O; see linux/ioprio.h.
#[derive(
    Clone, Copy, Debug, Default, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize, ToSchema,
)]
pub struct CommandPriority {
    /// 0: none, 1: realtime, 2: best effort, 3: idle.
    pub class: u8,
    /// 0 (highest) to 7.
    pub level: u8,
    /// For example, 1 to 7 select a command duration limit of the device.
    pub hint: u16,
}

/// `priority CLASS/LEVEL`, as in fio's output.
impl fmt::Display for CommandPriority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "priority {}/{}", self.class, self.level)?;
        match self.hint {
            0 => Ok(()),
            hint => write!(f, " (hint {hint})"),
        }
    }
}

impl CommandPriority {
    /// `IOPRIO_PRIO_VALUE_HINT`.
    pub fn value(self) -> u16 {
        u16::from(self.class) << 13 | self.hint << 3 | u16::from(self.level)
    }
}
