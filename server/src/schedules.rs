//! Schedules: runs and studies that start at due times.

pub(crate) mod cron;
pub(crate) mod due;
pub(crate) mod expression;
pub(crate) mod outcome;
pub(crate) mod quiet;
pub(crate) mod rejection;
pub(crate) mod start;
pub(crate) mod validate;

use crate::{
    clock::now_ms,
    error::Error,
    runs::{Runs, run_detached},
    schedules::{
        cron::{ZonedCron, zoned_cron},
        due::{State, quiet_reason},
    },
    store::{
        rows::Table,
        schedules::{Definition, StoredSchedule},
    },
};
use leadline_protocol::schedule::{DueTime, Schedule, ScheduleList, SchedulePlan, ScheduleRequest};

/// Maximum number of schedules. Users could not keep track of more.
const MAX_SCHEDULES: u32 = 100;
/// Number of due times in a preview.
const PLANNED: usize = 5;
/// Number of upcoming due times returned with a schedule.
const NEXT: usize = 3;
/// Number of past due times returned with a schedule.
const STARTS: u32 = 20;
const MISSED_MS: u64 = 30 * 24 * 60 * 60 * 1000;
/// Maximum number of due times to check when looking for one outside quiet hours: one per minute
/// for two days.
const MAX_SEARCHED: usize = 2 * 24 * 60;

impl Runs {
    pub(crate) async fn schedules(&self) -> Result<ScheduleList, Error> {
        let mut schedules = Vec::new();
        for stored in self.store.schedules().await? {
            let number = stored.number;
            match self.describe_schedule(stored).await {
                Ok(schedule) => schedules.push(schedule),
                Err(error) => tracing::error!(schedule = number, "damaged: {error}"),
            }
        }
        let mut damaged = self.store.numbers(Table::Schedules).await?;
        damaged.retain(|number| schedules.iter().all(|schedule| schedule.number != *number));
        Ok(ScheduleList { schedules, damaged })
    }

    pub(crate) async fn schedule(&self, number: u64) -> Result<Schedule, Error> {
        let stored = self.store.schedule(number).await?;
        let stored = stored.ok_or_else(|| not_found(number))?;
        self.describe_schedule(stored).await
    }

    /// Checks a schedule without storing it.
    pub(crate) async fn plan_schedule(
        &self,
        request: ScheduleRequest,
    ) -> Result<SchedulePlan, Error> {
        let definition = self.check_schedule(request).await?;
        let cron = zoned_cron(&definition).map_err(Error::Internal)?;
        let next = due_times(&definition, &cron, now_ms()).take(PLANNED);
        Ok(SchedulePlan {
            next: next.collect(),
        })
    }

    pub(crate) async fn create_schedule(
        &self,
        request: ScheduleRequest,
    ) -> Result<Schedule, Error> {
        let new = self.check_schedule(request).await?;
        let store = self.store.clone();
        let inserted = async move {
            let inserted = store.insert_schedule(&new, MAX_SCHEDULES, now_ms());
            Ok(inserted.await?)
        };
        match run_detached(inserted).await? {
            Some(number) => self.schedule(number).await,
            None => Err(Error::Conflict {
                code: "too_many_schedules",
                detail: format!(
                    "The limit of {MAX_SCHEDULES} schedules has been reached. Delete one first."
                ),
            }),
        }
    }

    pub(crate) async fn replace_schedule(
        &self,
        number: u64,
        request: ScheduleRequest,
    ) -> Result<Schedule, Error> {
        self.schedule(number).await?;
        let new = self.check_schedule(request).await?;
        let store = self.store.clone();
        let updated = async move { Ok(store.update_schedule(number, &new, now_ms()).await?) };
        if !run_detached(updated).await? {
            return Err(not_found(number));
        }
        self.schedule(number).await
    }

    pub(crate) async fn delete_schedule(&self, number: u64) -> Result<(), Error> {
        let store = self.store.clone();
        let deleted = async move { Ok(store.delete_schedule(number).await?) };
        match run_detached(deleted).await? {
            true => Ok(()),
            false => Err(not_found(number)),
        }
    }

    async fn describe_schedule(&self, stored: StoredSchedule) -> Result<Schedule, Error> {
        let StoredSchedule {
            number,
            definition,
            created_at_ms,
            handled_until_ms,
        } = stored;
        let now_ms = now_ms();
        let cron = zoned_cron(&definition).map_err(Error::Internal)?;
        let from_ms = handled_until_ms.max(now_ms);
        let mut next = None;
        let mut coming = Vec::new();
        if definition.enabled {
            next = next_start(&definition, &cron, from_ms);
            coming.extend(due_times(&definition, &cron, from_ms).take(NEXT));
        }
        let month_ago = now_ms.saturating_sub(MISSED_MS);
        Ok(Schedule {
            number,
            created_at_ms,
            next_start_ms: next,
            next: coming,
            missed: self.store.missed_starts(number, month_ago).await?,
            starts: self.store.schedule_starts(number, STARTS).await?,
            name: definition.name,
            cron: definition.cron,
            time_zone: definition.time_zone,
            document: definition.document,
            tags: definition.tags,
            quiet_hours: definition.quiet_hours,
            enabled: definition.enabled,
        })
    }
}

/// Returns the first due time outside quiet hours.
fn next_start(definition: &Definition, cron: &ZonedCron, after_ms: u64) -> Option<u64> {
    let mut due = due_times(definition, cron, after_ms).take(MAX_SEARCHED);
    due.find(|due| !due.is_quiet).map(|due| due.at_ms)
}

fn due_times(
    definition: &Definition,
    cron: &ZonedCron,
    after_ms: u64,
) -> impl Iterator<Item = DueTime> {
    let due = std::iter::successors(cron.next_after(after_ms), |due| cron.next_after(*due));
    due.map(|due| due_time(definition, cron, due))
}

fn due_time(definition: &Definition, cron: &ZonedCron, at_ms: u64) -> DueTime {
    let state = State {
        cron,
        quiet_hours: &definition.quiet_hours,
        handled_until_ms: 0,
        active: None,
    };
    let local = cron.local(at_ms);
    DueTime {
        at_ms,
        local: local.map_or(String::new(), |local| {
            local.strftime("%a %Y-%m-%d %H:%M %:z").to_string()
        }),
        is_quiet: quiet_reason(&state, at_ms).is_some(),
    }
}

fn not_found(number: u64) -> Error {
    Error::NotFound {
        what: format!("schedule #{number}"),
    }
}
