//! Rows of the event journal.

use leadline_protocol::event::EventBody;
use serde::Serialize;
use sqlx::SqliteConnection;
use std::sync::Arc;

/// One event as stored and published.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub seq: u64,
    /// Since the start of the run.
    pub t_ms: f64,
    kind: &'static str,
    /// The event as one line of JSON, without a newline.
    pub line: Arc<str>,
}

/// `leadline_protocol::event::Event` with a borrowed body.
#[derive(Serialize)]
struct Event<'a> {
    seq: u64,
    t_ms: f64,
    #[serde(flatten)]
    body: &'a EventBody,
}

impl Entry {
    pub(crate) fn new(seq: u64, t_ms: f64, body: &EventBody) -> serde_json::Result<Self> {
        let kind = match body {
            EventBody::Status(_) => "status",
            EventBody::Accepted(_) => "accepted",
            EventBody::Phase(_) => "phase",
            EventBody::Sample(_) => "sample",
            EventBody::Report(_) => "report",
            EventBody::Failed(_) => "failed",
        };
        let line = serde_json::to_string(&Event { seq, t_ms, body })?.into();
        Ok(Self {
            seq,
            t_ms,
            kind,
            line,
        })
    }

    /// Size in memory.
    pub(crate) fn bytes(&self) -> usize {
        self.line.len()
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
