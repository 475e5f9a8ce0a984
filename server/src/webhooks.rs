//! Webhooks: messages about trends and schedules to URLs that the operator configures.

pub(crate) mod backoff;
pub(crate) mod deliver;
pub(crate) mod messages;
pub(crate) mod send;
pub(crate) mod sign;
pub(crate) mod target;
pub(crate) mod watch;

use crate::{
    clock::now_ms,
    error::Error,
    runs::{Runs, run_detached},
    store::{rows::Table, webhooks::StoredWebhook},
    webhooks::{messages::test_message, sign::parse_secret},
};
use leadline_protocol::{
    problem::Problem,
    webhook::{Webhook, WebhookEvent, WebhookList, WebhookRequest},
};

const MAX_WEBHOOKS: u32 = 20;
/// Number of recent messages returned with a webhook.
const DELIVERIES: u32 = 20;
/// All events except tests, which are sent only on request.
pub(crate) const SUBSCRIBABLE: [WebhookEvent; 3] = [
    WebhookEvent::TrendStateChanged,
    WebhookEvent::ScheduleRunFailed,
    WebhookEvent::ScheduleStartMissed,
];

impl Runs {
    pub(crate) async fn webhooks(&self) -> Result<WebhookList, Error> {
        let mut webhooks = Vec::new();
        for stored in self.store.webhooks().await? {
            webhooks.push(self.describe_webhook(stored).await?);
        }
        let mut damaged = self.store.numbers(Table::Webhooks).await?;
        damaged.retain(|number| webhooks.iter().all(|webhook| webhook.number != *number));
        Ok(WebhookList { webhooks, damaged })
    }

    pub(crate) async fn webhook(&self, number: u64) -> Result<Webhook, Error> {
        let stored = self.stored_webhook(number).await?;
        self.describe_webhook(stored).await
    }

    pub(crate) async fn create_webhook(&self, request: WebhookRequest) -> Result<Webhook, Error> {
        self.set_webhook(None, request).await
    }

    /// Fields that the request omits keep their values.
    pub(crate) async fn replace_webhook(
        &self,
        number: u64,
        request: WebhookRequest,
    ) -> Result<Webhook, Error> {
        let old = self.stored_webhook(number).await?;
        self.set_webhook(Some(old), request).await
    }

    pub(crate) async fn delete_webhook(&self, number: u64) -> Result<(), Error> {
        let store = self.store.clone();
        let deleted = async move { Ok(store.delete_webhook(number).await?) };
        match run_detached(deleted).await? {
            true => Ok(()),
            false => Err(not_found(number)),
        }
    }

    /// Queues a test message.
    pub(crate) async fn test_webhook(&self, number: u64) -> Result<Webhook, Error> {
        self.stored_webhook(number).await?;
        let store = self.store.clone();
        let message = test_message(now_ms());
        let inserted = async move { Ok(store.insert_delivery(number, &message).await?) };
        run_detached(inserted).await?;
        self.webhook(number).await
    }

    async fn set_webhook(
        &self,
        old: Option<StoredWebhook>,
        request: WebhookRequest,
    ) -> Result<Webhook, Error> {
        let webhook = merge(old, request).map_err(Error::Rejected)?;
        let store = self.store.clone();
        let stored = async move { Ok(store.set_webhook(&webhook, MAX_WEBHOOKS).await?) };
        match run_detached(stored).await? {
            Some(number) => self.webhook(number).await,
            None => Err(Error::Conflict {
                code: "too_many_webhooks",
                detail: format!(
                    "The limit of {MAX_WEBHOOKS} webhooks has been reached. Delete one first."
                ),
            }),
        }
    }

    async fn stored_webhook(&self, number: u64) -> Result<StoredWebhook, Error> {
        let stored = self.store.webhook(number).await?;
        stored.ok_or_else(|| not_found(number))
    }

    async fn describe_webhook(&self, stored: StoredWebhook) -> Result<Webhook, Error> {
        let target = target::parse(&stored.url);
        Ok(Webhook {
            number: stored.number,
            name: stored.name,
            origin: target.map_or(String::new(), |target| target.origin()),
            events: stored.events,
            enabled: stored.enabled,
            created_at_ms: stored.created_at_ms,
            deliveries: self.store.deliveries(stored.number, DELIVERIES).await?,
        })
    }
}

/// Returns the invalid and missing fields of a new webhook.
pub(crate) fn new_webhook_problems(request: WebhookRequest) -> Vec<Problem> {
    merge(None, request).err().unwrap_or_default()
}

fn merge(
    old: Option<StoredWebhook>,
    request: WebhookRequest,
) -> Result<StoredWebhook, Vec<Problem>> {
    let mut problems = Vec::new();
    let mut reject = |field: &str, detail: String, remedy: &str| {
        problems.push(Problem::invalid("bad_value", field, detail, remedy));
    };
    if request.name.trim().is_empty() {
        reject(
            "name",
            "The webhook has no name.".into(),
            "For example: Chat.",
        );
    }
    let url = request.url.or_else(|| Some(old.as_ref()?.url.clone()));
    let url = url.unwrap_or_default();
    if let Err((detail, remedy)) = target::check(&url) {
        reject("url", detail, remedy);
    }
    let key = match &request.secret {
        Some(secret) => parse_secret(secret),
        None => old.as_ref().map(|old| old.key.clone()),
    };
    if key.is_none() {
        let remedy = "Use `whsec_` followed by 24 to 64 random bytes in Base64.";
        reject("secret", "The secret is missing or invalid.".into(), remedy);
    }
    let old_events = old.as_ref().map(|old| old.events.clone());
    let events = request
        .events
        .or(old_events)
        .unwrap_or_else(|| SUBSCRIBABLE.to_vec());
    if !problems.is_empty() {
        return Err(problems);
    }
    Ok(StoredWebhook {
        number: old.as_ref().map_or(0, |old| old.number),
        name: request.name.trim().into(),
        url,
        key: key.unwrap_or_default(),
        events: SUBSCRIBABLE
            .into_iter()
            .filter(|event| events.contains(event))
            .collect(),
        enabled: request
            .enabled
            .unwrap_or_else(|| old.as_ref().is_none_or(|old| old.enabled)),
        created_at_ms: old.as_ref().map_or_else(now_ms, |old| old.created_at_ms),
    })
}

fn not_found(number: u64) -> Error {
    Error::NotFound {
        what: format!("webhook #{number}"),
    }
}
