//! A run as a file: its events as they were told, or its samples as a table.

use crate::api::stream::joined;
use crate::error::ApiError;
use crate::events::subscription::Listener;
use crate::runs::Runs;
use crate::store::Store;
use crate::store::events::SamplePlace;
use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures_util::{Stream, StreamExt, stream};
use leadline_protocol::counters::DeviceCounts;
use leadline_protocol::query::ExportFormat;
use leadline_protocol::sample::Sample;
use std::sync::Arc;

/// A column of the table: its name and how it comes out of a sample; nothing where the count is not available.
type Column = (&'static str, fn(&Sample) -> Option<f64>);

/// Every column behind the time.
const COLUMNS: &[Column] = &[
    ("window_ms", |sample| Some(sample.window_ms)),
    ("read_ios", |sample| Some(sample.read.ios as f64)),
    ("read_bytes", |sample| Some(sample.read.bytes as f64)),
    ("write_ios", |sample| Some(sample.write.ios as f64)),
    ("write_bytes", |sample| Some(sample.write.bytes as f64)),
    ("trim_ios", |sample| Some(sample.trim.ios as f64)),
    ("trim_bytes", |sample| Some(sample.trim.bytes as f64)),
    ("sync_ios", |sample| Some(sample.sync.ios as f64)),
    ("in_flight", |sample| Some(sample.in_flight as f64)),
    ("errors", |sample| Some(sample.errors as f64)),
    ("device_read_ios", |sample| {
        device(sample, |counts| counts.read_ios)
    }),
    ("device_read_bytes", |sample| {
        device(sample, |counts| counts.read_bytes)
    }),
    ("device_read_merges", |sample| {
        device(sample, |counts| counts.read_merges)
    }),
    ("device_write_ios", |sample| {
        device(sample, |counts| counts.write_ios)
    }),
    ("device_write_bytes", |sample| {
        device(sample, |counts| counts.write_bytes)
    }),
    ("device_write_merges", |sample| {
        device(sample, |counts| counts.write_merges)
    }),
    ("device_busy_ms", |sample| {
        device(sample, |counts| counts.busy_ms)
    }),
    ("cached_bytes", |sample| {
        sample.memory.map(|memory| memory.cached as f64)
    }),
    ("buffers_bytes", |sample| {
        sample.memory.map(|memory| memory.buffers as f64)
    }),
    ("dirty_bytes", |sample| {
        sample.memory.map(|memory| memory.dirty as f64)
    }),
    ("writeback_bytes", |sample| {
        sample.memory.map(|memory| memory.writeback as f64)
    }),
    ("storage_read_bytes", |sample| {
        sample.storage.map(|storage| storage.read_bytes as f64)
    }),
    ("storage_write_bytes", |sample| {
        sample.storage.map(|storage| storage.write_bytes as f64)
    }),
    ("target_cached_bytes", |sample| {
        sample.residency.map(|residency| residency.cached as f64)
    }),
    ("target_dirty_bytes", |sample| {
        sample
            .residency
            .and_then(|residency| Some(residency.dirty? as f64))
    }),
    ("process_user_percent", |sample| {
        sample.cpu.map(|cpu| cpu.process_user)
    }),
    ("process_system_percent", |sample| {
        sample.cpu.map(|cpu| cpu.process_system)
    }),
    ("io_some_percent", |sample| {
        sample.pressure.map(|pressure| pressure.io_some)
    }),
    ("io_full_percent", |sample| {
        sample.pressure.map(|pressure| pressure.io_full)
    }),
];

fn device(sample: &Sample, count: fn(&DeviceCounts) -> u64) -> Option<f64> {
    sample.device.as_ref().map(|counts| count(counts) as f64)
}

impl Runs {
    /// A run as a file: what is kept of it by now.
    ///
    /// # Errors
    /// There is no such run, or the format is not built.
    pub async fn export(&self, number: u64, format: ExportFormat) -> Result<Response, ApiError> {
        self.summary(number).await?;
        match format {
            ExportFormat::Csv => Ok(file(
                number,
                "csv",
                "text/csv; charset=utf-8",
                table(self.0.store.clone(), number),
            )),
            ExportFormat::Ndjson => Ok(file(
                number,
                "ndjson",
                "application/x-ndjson",
                events(self.0.store.clone(), number),
            )),
            ExportFormat::FioJson | ExportFormat::FioJsonPlus | ExportFormat::FioJob => {
                Err(ApiError::NotBuilt {
                    what: "Export in fio's formats",
                    remedy: "Use format=csv or format=ndjson.",
                })
            }
        }
    }
}

fn file(
    number: u64,
    extension: &str,
    media: &'static str,
    body: impl Stream<Item = anyhow::Result<Bytes>> + Send + 'static,
) -> Response {
    let disposition = format!("attachment; filename=\"leadline-{number}.{extension}\"");
    let disposition =
        HeaderValue::try_from(disposition).unwrap_or(HeaderValue::from_static("attachment"));
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(media)),
        (header::CONTENT_DISPOSITION, disposition),
    ];
    (headers, Body::from_stream(body)).into_response()
}

fn events(store: Store, number: u64) -> impl Stream<Item = anyhow::Result<Bytes>> {
    stream::try_unfold(
        Listener::new(number, store, None, 0),
        |mut listener| async move {
            Ok(listener
                .next()
                .await?
                .map(|lines: Vec<Arc<str>>| (joined(&lines), listener)))
        },
    )
}

fn table(store: Store, number: u64) -> impl Stream<Item = anyhow::Result<Bytes>> {
    let names: Vec<&str> = std::iter::once("t_ms")
        .chain(std::iter::once("phase"))
        .chain(COLUMNS.iter().map(|column| column.0))
        .collect();
    let head = Bytes::from(format!("{}\n", names.join(",")));
    let begin = SamplePlace {
        t_ms: f64::MIN,
        seq: 0,
    };
    let rows = stream::try_unfold((store, begin), move |(store, place)| async move {
        let rows = store.samples_behind(number, place, f64::MAX).await?;
        let Some(last) = rows.last().map(|row| row.0) else {
            return Ok(None);
        };
        let text: String = rows
            .iter()
            .map(|(place, sample)| row(place.t_ms, sample))
            .collect();
        Ok(Some((Bytes::from(text), (store, last))))
    });
    stream::once(async move { Ok(head) }).chain(rows)
}

/// One line; numbers need no quotes, what is not available is empty.
fn row(t_ms: f64, sample: &Sample) -> String {
    let phase = format!("{:?}", sample.phase).to_lowercase();
    let cells = COLUMNS.iter().map(|(_, value)| {
        value(sample)
            .map(|value| value.to_string())
            .unwrap_or_default()
    });
    let line: Vec<String> = [t_ms.to_string(), phase].into_iter().chain(cells).collect();
    format!("{}\n", line.join(","))
}
