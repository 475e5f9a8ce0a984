//! Checks schedules before they are stored, and parses their documents.

use crate::{
    api::requests::{job_problems, run_request, study_request},
    clock::now_ms,
    error::Error,
    runs::Runs,
    schedules::{
        cron::{ZonedCron, parse_zone, zoned_cron},
        expression, next_start,
        quiet::parse_time,
    },
    store::schedules::Definition,
    studies::submit::StudyRequest,
};
use leadline_protocol::{
    limits::MAX_QUIET_HOURS, plan::Confirmation, problem::Problem, run::RunRequest,
    schedule::ScheduleRequest, study::parse::is_study,
};
use serde_json::Value;

const DEFAULT_ZONE: &str = "UTC";
const FIELD: &str = "document";

/// A schedule's document.
pub(crate) enum Document {
    Run(Box<RunRequest>),
    Study(Box<StudyRequest>),
}

/// Parses the document and adds the schedule's tags to it.
///
/// # Errors
/// Returns all invalid fields.
pub(crate) fn parse_document(document: &Value, tags: &[String]) -> Result<Document, Vec<Problem>> {
    let add = |own: &mut Option<Vec<String>>| {
        let own = own.get_or_insert_default();
        let new: Vec<String> = tags
            .iter()
            .filter(|tag| !own.contains(tag))
            .cloned()
            .collect();
        own.extend(new);
    };
    if is_study(document) {
        let mut request = study_request(document.clone())?;
        add(&mut request.tags);
        Ok(Document::Study(Box::new(request)))
    } else {
        let mut request = run_request(document.clone())?;
        add(&mut request.tags);
        Ok(Document::Run(Box::new(request)))
    }
}

/// Returns all invalid fields, except for problems that depend on this host. Pure.
pub(crate) fn problems(request: &ScheduleRequest) -> Vec<Problem> {
    let mut problems = definition(request.clone()).err().unwrap_or_default();
    let of_document = match parse_document(&request.document, &request.tags) {
        Err(problems) => problems,
        Ok(Document::Run(run)) => job_problems(&run.jobs),
        Ok(Document::Study(_)) => Vec::new(),
    };
    let path = format!("{FIELD}.");
    let of_document = of_document.into_iter();
    problems.extend(of_document.map(|problem| problem.with_path_prefix(&path)));
    problems
}

impl Runs {
    /// Plans the document for this host's current state.
    pub(super) async fn check_schedule(
        &self,
        request: ScheduleRequest,
    ) -> Result<Definition, Error> {
        let found = problems(&request);
        let definition = definition(request).map_err(|_| Error::Rejected(found))?;
        let document = parse_document(&definition.document, &definition.tags);
        let document = document.map_err(|problems| prefix_field_paths(problems, FIELD))?;
        let (problems, confirmations, has_confirm) = match &document {
            Document::Run(run) => {
                let plan = self.plan(run.as_ref().clone()).await?;
                (plan.problems, plan.confirmations, run.confirm.is_some())
            }
            Document::Study(study) => {
                let plan = self.plan_study(study).await?;
                let has_confirm = study
                    .confirm
                    .as_ref()
                    .is_some_and(|given| !given.is_empty());
                (plan.problems, plan.confirmations, has_confirm)
            }
        };
        if has_confirm || !confirmations.is_empty() {
            return Err(needs_confirmation_error(&confirmations));
        }
        if !problems.is_empty() {
            return Err(prefix_field_paths(problems, FIELD));
        }
        Ok(definition)
    }
}

fn needs_confirmation_error(confirmations: &[Confirmation]) -> Error {
    let targets: Vec<&str> = confirmations
        .iter()
        .map(|entry| entry.text.as_str())
        .collect();
    let detail = match targets[..] {
        [] => "The document contains a confirmation that data may be overwritten.".into(),
        _ => format!("The document overwrites data: {}.", targets.join(", ")),
    };
    Error::invalid(
        "needs_confirmation",
        FIELD,
        format!("{detail} Such runs cannot be scheduled, because a person must confirm each one."),
        "Use new files in a target root, or only read.",
    )
}

fn prefix_field_paths(problems: Vec<Problem>, path: &str) -> Error {
    let problems = problems.into_iter();
    let path = format!("{path}.");
    Error::Rejected(
        problems
            .map(|problem| problem.with_path_prefix(&path))
            .collect(),
    )
}

fn definition(request: ScheduleRequest) -> Result<Definition, Vec<Problem>> {
    let mut problems = Vec::new();
    let mut reject = |field: &str, detail: String, remedy: &str| {
        problems.push(Problem::invalid("bad_value", field, detail, remedy));
    };
    if request.name.trim().is_empty() {
        reject(
            "name",
            "The schedule has no name.".into(),
            "For example: Nightly.",
        );
    }
    let time_zone = request.time_zone.unwrap_or_else(|| DEFAULT_ZONE.into());
    let zone = parse_zone(&time_zone);
    if zone.is_none() {
        let detail = format!("Unknown time zone `{time_zone}`.");
        reject(
            "time_zone",
            detail,
            "Use an IANA time zone name, such as Europe/Berlin.",
        );
    }
    match expression::check(&request.cron) {
        Err(errors) => {
            for error in errors {
                reject("cron", error.detail, &error.remedy);
            }
        }
        Ok(cron) => {
            let cron = zone.map(|zone| ZonedCron::new(cron, zone));
            if cron.is_some_and(|cron| cron.next_after(now_ms()).is_none()) {
                let detail = "The cron expression matches no time.".into();
                reject("cron", detail, "Use a date that exists.");
            }
        }
    }
    if request.quiet_hours.len() > MAX_QUIET_HOURS {
        let detail = format!("quiet_hours has {} entries.", request.quiet_hours.len());
        reject(
            "quiet_hours",
            detail,
            &format!("Use at most {MAX_QUIET_HOURS}."),
        );
    }
    for (index, quiet) in request.quiet_hours.iter().enumerate() {
        for (name, text) in [("from", &quiet.from), ("to", &quiet.to)] {
            if parse_time(text).is_none() {
                let field = format!("quiet_hours[{index}].{name}");
                let detail = format!("`{text}` is not a time.");
                reject(&field, detail, "Use HH:MM, such as 08:00.");
            }
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let definition = Definition {
        name: request.name.trim().into(),
        cron: request.cron.trim().into(),
        time_zone,
        document: request.document,
        tags: request.tags,
        quiet_hours: request.quiet_hours,
        enabled: request.enabled.unwrap_or(true),
    };
    match can_ever_start(&definition) {
        true => Ok(definition),
        false => Err(vec![Problem::invalid(
            "bad_value",
            "quiet_hours",
            "All due times are within quiet hours, so the schedule would never start.",
            "Shorten the quiet hours, or set enabled to false.",
        )]),
    }
}

fn can_ever_start(definition: &Definition) -> bool {
    let next = |cron| next_start(definition, &cron, now_ms());
    zoned_cron(definition).is_ok_and(|cron| next(cron).is_some())
}
