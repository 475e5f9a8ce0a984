//! Rows of the event journal.

use leadline_protocol::{
    event::EventBody,
    phase::{Phase, PhaseChange, PhaseState},
};
use serde::{Deserialize, Serialize};
use sqlx::SqliteConnection;
use std::sync::Arc;

/// Value of the `type` column. An alias is required because serde borrows fields that are declared
/// as references.
type Kind = &'static str;

const SAMPLE: Kind = "sample";
const KINDS: [Kind; 6] = ["status", "accepted", "phase", SAMPLE, "report", "failed"];

/// One event, as stored and published. Serialized as its JSON line.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(into = "String", try_from = "String")]
pub(crate) struct EventRow {
    pub seq: u64,
    /// Milliseconds since the start of the run.
    pub t_ms: f64,
    kind: Kind,
    /// The event as one line of JSON, without the newline.
    pub line: Arc<str>,
}

/// `leadline_protocol::event::Event` with a borrowed body.
#[derive(Serialize)]
struct Event<'a> {
    seq: u64,
    t_ms: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    epoch: Option<u32>,
    #[serde(flatten)]
    body: &'a EventBody,
}

/// The fields that all events have.
#[derive(Deserialize)]
struct Head {
    seq: u64,
    t_ms: f64,
    r#type: String,
}

impl From<EventRow> for String {
    fn from(entry: EventRow) -> Self {
        entry.line.as_ref().into()
    }
}

impl TryFrom<String> for EventRow {
    type Error = serde_json::Error;

    fn try_from(line: String) -> Result<Self, Self::Error> {
        let head: Head = serde_json::from_str(&line)?;
        let kind = KINDS.into_iter().find(|kind| **kind == head.r#type);
        Ok(Self {
            seq: head.seq,
            t_ms: head.t_ms,
            kind: kind.ok_or_else(|| serde::de::Error::custom("unknown event type"))?,
            line: line.into(),
        })
    }
}

/// Returns a sample event's line without the sample data, which saves memory and leaves no gap in
/// the sequence. Returns `None` for other events.
pub(crate) fn without_sample(line: &str) -> Option<Arc<str>> {
    let head: Head = serde_json::from_str(line).ok()?;
    let progress = EventBody::Phase(PhaseChange {
        phase: Phase::Measure,
        state: PhaseState::Progress,
        done_bytes: None,
        total_bytes: None,
        planned_ms: None,
        note: None,
    });
    let entry = EventRow::new(head.seq, head.t_ms, &progress).ok()?;
    (head.r#type == SAMPLE).then_some(entry.line)
}

impl EventRow {
    pub(crate) fn is_sample(&self) -> bool {
        self.kind == SAMPLE
    }

    /// Removes the sample data from the line.
    pub(crate) fn remove_sample(&mut self) {
        if let Some(line) = without_sample(&self.line) {
            self.kind = "phase";
            self.line = line;
        }
    }

    /// Creates an event in the first epoch.
    pub(crate) fn new(seq: u64, t_ms: f64, body: &EventBody) -> serde_json::Result<Self> {
        Self::with_epoch(seq, t_ms, 0, body)
    }

    pub(crate) fn with_epoch(
        seq: u64,
        t_ms: f64,
        epoch: u32,
        body: &EventBody,
    ) -> serde_json::Result<Self> {
        let kind = match body {
            EventBody::Status(_) => "status",
            EventBody::Accepted(_) => "accepted",
            EventBody::Phase(_) => "phase",
            EventBody::Sample(_) => SAMPLE,
            EventBody::Report(_) => "report",
            EventBody::Failed(_) => "failed",
        };
        let epoch = (epoch > 0).then_some(epoch);
        let event = Event {
            seq,
            t_ms,
            epoch,
            body,
        };
        let line = serde_json::to_string(&event)?.into();
        Ok(Self {
            seq,
            t_ms,
            kind,
            line,
        })
    }

    pub(super) async fn insert(
        &self,
        connection: &mut SqliteConnection,
        run: u64,
    ) -> sqlx::Result<()> {
        sqlx::query("INSERT INTO events (run, seq, t_ms, type, line) VALUES (?, ?, ?, ?, ?)")
            .bind(run.cast_signed())
            .bind(self.seq.cast_signed())
            .bind(self.t_ms)
            .bind(self.kind)
            .bind(&*self.line)
            .execute(connection)
            .await?;
        Ok(())
    }
}
