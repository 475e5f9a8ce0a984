//! Entry points of the fuzz targets in `fuzz/`, compiled only for fuzzing and tests. Each passes
//! untrusted data to parsers and checks their results.

use crate::{
    api::{
        auth::allowed_hosts::{AllowedHosts, is_same_origin},
        requests::{rerun_request, run_patch, run_request, study_request},
    },
    error::Error,
    query::{
        filter,
        flame::{Stacks, Theme, draw, draw_difference},
        groups::{self, MAX_GROUPS, MIN_GROUPS},
        series::buckets::{Grid, SeriesBuilder},
    },
    rollups::{
        builder::RollupBuilder,
        chunk::{TimedSample, decode, deflate, encode},
        columns::Column,
    },
    runs::foreign::{ImportOptions, foreign_run},
    store::{events::EventRow, filter::Cursor, update::Record},
};
use axum::{
    extract::Query,
    http::{HeaderMap, Uri},
};
use leadline_protocol::{
    compare::CompareQuery,
    evidence::Profile,
    problem::Problem,
    query::{RunQuery, SeriesQuery},
    result::RunResult,
    text::is_deceptive,
};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::net::{IpAddr, Ipv4Addr};

const SAMPLE_MS: u32 = 100;
const MAX_TERMS: usize = 32 + 3;

/// A URL query: run list filters, comparison groups, and series ranges.
pub fn query(text: &str) {
    let Ok(uri) = format!("/?{text}").parse::<Uri>() else {
        return;
    };
    check_host(&uri, text);
    if let Some(query) = parse::<RunQuery>(&uri) {
        match filter::parse(&query) {
            Ok(filter) => {
                assert!(filter.conditions.len() <= MAX_TERMS && (1..=200).contains(&filter.limit));
                if let Some(cursor) = filter.cursor {
                    assert_eq!(Cursor::decode(&cursor.encode()), Some(cursor));
                }
            }
            Err(problems) => check_problems(&problems),
        }
    }
    if let Some(query) = parse::<CompareQuery>(&uri) {
        match groups::parse(&query) {
            Ok(request) => {
                assert!((MIN_GROUPS..=MAX_GROUPS).contains(&request.groups.len()));
                assert!(request.baseline < request.groups.len());
                assert!(request.threshold.is_none_or(|percent| percent > 0.0));
            }
            Err(problems) => check_problems(&problems),
        }
    }
    let _ = parse::<SeriesQuery>(&uri);
}

fn parse<T: DeserializeOwned>(uri: &Uri) -> Option<T> {
    Query::<T>::try_from_uri(uri).ok().map(|Query(query)| query)
}

fn check_problems(problems: &[Problem]) {
    assert!(!problems.is_empty());
    for problem in problems {
        assert_ne!(problem.field.as_deref(), Some(""));
        assert!(!problem.detail.is_empty() && !problem.remedy.is_empty());
    }
}

/// A host may be allowed only if a browser would send it for one of this server's addresses.
fn check_host(uri: &Uri, text: &str) {
    let hosts = AllowedHosts::new(IpAddr::V4(Ipv4Addr::LOCALHOST), &["bench.example".into()]);
    let mut headers = HeaderMap::new();
    if let Ok(value) = text.parse() {
        headers.insert("host", value);
    }
    if let Ok(host) = hosts.check(uri, &headers) {
        let name = host.rsplit_once(':').map_or(&*host, |(name, _)| name);
        let allowed = ["localhost", "127.0.0.1", "[::1]", "bench.example"];
        assert!(
            allowed.contains(&&*host) || allowed.contains(&name),
            "{host}"
        );
        assert!(is_same_origin(format!("http://{host}").as_bytes(), &host));
    }
    let _ = is_same_origin(text.as_bytes(), "localhost:7070");
}

/// Request bodies of all endpoints that accept JSON.
pub fn body(body: &Value) {
    if let Ok(request) = run_request(body.clone()) {
        let texts = request
            .name
            .into_iter()
            .chain(request.tags.into_iter().flatten());
        texts.for_each(|text| check_plain(&text));
    }
    if let Ok(request) = rerun_request(body.clone()) {
        let texts = request
            .name
            .into_iter()
            .chain(request.tags.into_iter().flatten());
        texts.for_each(|text| check_plain(&text));
    }
    if let Ok(patch) = run_patch(body.clone()) {
        let texts = patch
            .name
            .into_iter()
            .chain(patch.tags.into_iter().flatten());
        texts.for_each(|text| check_plain(&text));
    }
    match study_request(body.clone()) {
        Ok(request) => request
            .tags
            .into_iter()
            .flatten()
            .for_each(|tag| check_plain(&tag)),
        Err(problems) => check_problems(&problems),
    }
}

/// A fio result. Importing the stored document again must yield the same run.
pub fn foreign_result(text: &[u8]) {
    let import = |text: &[u8], group| {
        let options = ImportOptions {
            group,
            ..ImportOptions::default()
        };
        foreign_run(text, options)
    };
    for group in [None, Some(2)] {
        match import(text, group) {
            Ok(run) => {
                check_plain(&run.name);
                assert!(run.status.is_final());
                let again = import(run.document.as_bytes(), group).expect("a stored document");
                assert_eq!((again.sha256, again.name), (run.sha256, run.name));
                let stored =
                    serde_json::to_string(&run.result).expect("the result serializes to JSON");
                let parsed: RunResult = serde_json::from_str(&stored).expect("a stored result");
                let same = serde_json::to_string(&parsed).expect("the result serializes to JSON");
                assert_eq!(same, stored);
            }
            Err(Error::Rejected(problems)) => check_problems(&problems),
            Err(error) => panic!("{error}"),
        }
    }
}

fn check_plain(text: &str) {
    assert!(
        text.chars().count() <= 200 && !text.chars().any(is_deceptive),
        "{text:?}"
    );
}

/// A stored event, or a line of a spool file. Both must round-trip.
pub fn stored_line(line: &str) {
    if let Ok(mut entry) = EventRow::try_from(line.to_owned()) {
        assert_eq!(String::from(entry.clone()), line);
        entry.remove_sample();
        assert!(!entry.is_sample());
        assert!(EventRow::try_from(String::from(entry)).is_ok());
    }
    if let Ok(record) = serde_json::from_str::<Record>(line) {
        let stored = serde_json::to_string(&record).expect("the record serializes to JSON");
        let parsed: Record = serde_json::from_str(&stored).expect("the record deserializes");
        assert_eq!(
            serde_json::to_string(&parsed).expect("the record serializes to JSON"),
            stored
        );
    }
}

/// Compressed samples: first as stored data, which may be damaged, then as a run's samples.
pub fn samples(document: Value, data: &[u8]) {
    let _ = decode(data);
    if let Ok(data) = deflate(&document) {
        let _ = decode(&data);
    }
    if let Value::Array(rows) = &document {
        let packed = serde_json::to_string(&Column::pack(rows.clone()))
            .expect("the column serializes to JSON");
        let column: Column = serde_json::from_str(&packed).expect("the column deserializes");
        assert_eq!(
            column.unpack(rows.len()).expect("the rows are unchanged"),
            *rows
        );
    }
    let Ok(samples) = serde_json::from_value::<Vec<TimedSample>>(document) else {
        return;
    };
    let stored = encode(samples.clone()).expect("samples serialize to JSON");
    let restored = decode(&stored).expect("stored samples deserialize");
    let times = |samples: &[TimedSample]| samples.iter().map(|(t_ms, _)| *t_ms).collect::<Vec<_>>();
    assert_eq!(times(&restored), times(&samples));
    assert_eq!(encode(restored).expect("samples serialize to JSON"), stored);
    check_series(&samples);
}

fn check_series(samples: &[TimedSample]) {
    let mut builder = RollupBuilder::new(SAMPLE_MS, 0.0);
    let mut series = SeriesBuilder::new(1, Grid::new(0.0, 1e6, 100, SAMPLE_MS, 10.0), true);
    let mut rollups = Vec::new();
    for (t_ms, sample) in samples {
        rollups.extend(builder.push(*t_ms, sample));
        series.push(t_ms - sample.window_ms / 2.0, sample);
    }
    rollups.extend(builder.finish());
    for rollup in &rollups {
        series.push_rollup(
            rollup.index as f64 * f64::from(SAMPLE_MS),
            &rollup.aggregate,
        );
    }
    let series = series.finish();
    assert!(
        series
            .columns
            .iter()
            .all(|column| column.mean.len() == series.t_ms.len())
    );
}

/// Folded stacks of two profiles, drawn as flame graphs.
pub fn flame(first: &Profile, second: &Profile) {
    let stacks = [first, second].map(Stacks::from_profile);
    for stacks in stacks.iter().flatten() {
        check_svg(&draw("#1 <a>", stacks, Theme::Light));
    }
    if let [Some(first), Some(second)] = &stacks {
        check_svg(&draw_difference("#1 & #2", first, second, Theme::Dark));
    }
}

fn check_svg(svg: &anyhow::Result<String>) {
    let svg = svg.as_ref().expect("valid stacks can be drawn");
    assert!(svg.starts_with("<?xml") && svg.trim_end().ends_with("</svg>"));
    let root = svg
        .split_once("<svg")
        .and_then(|(_, rest)| rest.split_once('>'));
    assert!(root.is_some_and(|(root, _)| !root.contains("onload")));
    assert!(!svg.contains("<script"));
    assert!(!svg.chars().any(|c| !c.is_whitespace() && is_deceptive(c)));
}
