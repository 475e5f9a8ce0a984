//! Migrates a version 4 database. The fixture contains all kinds of runs, including failed and
//! cancelled ones, and studies, one of which has a leftover file.

use crate::{fingerprints::wait_for_fingerprints, program::Program};
use flate2::read::GzDecoder;
use leadline_protocol::event::Event;
use serde_json::{Map, Value, json};
use sqlx::{Connection, Row, SqliteConnection, sqlite::SqliteConnectOptions};
use std::{io::Read, os::unix::fs::PermissionsExt, path::Path, sync::Arc};

pub(crate) const FIXTURE: &[u8] = include_bytes!("../fixtures/database-v4.sqlite.gz");

/// JSON columns of `run_details` and their fields in the API.
const COLUMNS: [(&str, &str); 7] = [
    ("asked", "/requested/jobs"),
    ("resolved", "/resolved"),
    ("host_facts", "/host_facts"),
    ("report", "/report"),
    ("verdict", "/verdict"),
    ("findings", "/findings"),
    ("failure", "/failure"),
];

/// Renamed keys, each of which has only one meaning.
const KEYS: &[(&str, &str)] = &[
    ("answered_share", "served_share"),
    ("asked_bytes", "requested_bytes"),
    ("asked_depth", "requested_depth"),
    ("beneath_bytes", "lower_device_bytes"),
    ("beneath_ios", "lower_device_ios"),
    ("choices", "decisions"),
    ("clone", "worker"),
    ("clones", "workers"),
    ("empty_bytes", "unwritten_bytes"),
    ("found", "initial"),
    ("found_by_hand", "missed_by_author"),
    ("io_uring_refused", "io_uring_unavailable"),
    ("leaves", "physical_devices"),
    ("left_out", "omitted_stacks"),
    ("lost", "lost_events"),
    ("machine_iowait", "host_iowait"),
    ("machine_percent", "host_percent"),
    ("machine_steal", "host_steal"),
    ("machine_system", "host_system"),
    ("machine_user", "host_user"),
    ("percent_of_one", "process_percent"),
    ("refusals", "problems"),
    ("turned_ms", "transition_ms"),
    ("turns", "transitions"),
];

/// Renamed finding codes.
const CODES: &[(&str, &str)] = &[
    ("cache_answered", "served_from_cache"),
    ("clones_follow", "workers_share_blocks"),
    ("device_counters_absent", "device_counters_missing"),
    ("direct_not_honoured", "direct_io_fallback"),
    ("filesystem_answered", "served_by_filesystem"),
    ("late_starts", "coordinated_omission"),
    ("more_beneath", "lower_device_amplification"),
    ("other_io", "foreign_io"),
    ("rates_keep_the_mix", "rates_limited_by_mix"),
    ("readahead_answered", "readahead"),
];

/// Returns the new name, or the name itself if it was not renamed.
fn lookup<'a>(names: &[(&str, &'a str)], name: &'a str) -> &'a str {
    let new = names.iter().find(|(old, _)| *old == name);
    new.map_or(name, |(_, new)| new)
}

/// Applies the new names to a value from version 4.
fn rename(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(rename).collect(),
        Value::Object(fields) => {
            let is_problem = fields.contains_key("kind") && fields.contains_key("remedy");
            let rename_field = |(name, value): (String, Value)| {
                let value = match value.as_str() {
                    Some(code) if name == "code" => lookup(CODES, code).into(),
                    _ => rename(value),
                };
                let name = match name.as_str() {
                    "sentence" if is_problem => "detail",
                    name => lookup(KEYS, name),
                };
                (name.to_owned(), value)
            };
            Value::Object(fields.into_iter().map(rename_field).collect::<Map<_, _>>())
        }
        scalar => scalar,
    }
}

/// Settings that did not exist in version 4, with values that describe its behavior.
const FORMER_BEHAVIOR: [(&str, &str); 10] = [
    ("create_only", "false"),
    ("exit_group", "0"),
    ("exit_what", r#""group""#),
    ("exitall", "false"),
    ("lockmem", "0"),
    ("thinktime_iotime_us", "0"),
    ("thinktime_spin_us", "0"),
    ("cpus_allowed_policy", r#""shared""#),
    ("file_service", r#"{"order":"roundrobin","ios":1}"#),
    ("rw_sequencer", r#""sequential""#),
];

/// Compares values. Fields added since version 4 must be null or empty lists, or describe the
/// behavior of version 4.
fn check(path: &str, expect: &Value, actual: &Value) {
    match (expect, actual) {
        (Value::Object(expect), Value::Object(actual)) => {
            for (name, value) in expect {
                let actual = actual.get(name).unwrap_or(&Value::Null);
                check(&format!("{path}.{name}"), value, actual);
            }
            for (name, value) in actual {
                let is_empty = value.is_null() || *value == json!([]);
                let is_known = expect.contains_key(name);
                let former = FORMER_BEHAVIOR.contains(&(name.as_str(), &value.to_string()));
                assert!(
                    is_known || is_empty || former,
                    "{path}.{name} is new: {value}"
                );
            }
        }
        (Value::Array(expect), Value::Array(actual)) => {
            assert_eq!(expect.len(), actual.len(), "{path}");
            for (index, (expect, actual)) in expect.iter().zip(actual).enumerate() {
                check(&format!("{path}[{index}]"), expect, actual);
            }
        }
        _ => assert_eq!(expect, actual, "{path}"),
    }
}

struct OldRun {
    number: u64,
    status: String,
    /// JSON pointers into API responses, with the expected values.
    fields: Vec<(&'static str, Value)>,
    events: Vec<Value>,
}

async fn read_fixture(file: &Path) -> Vec<OldRun> {
    let options = SqliteConnectOptions::new().filename(file).immutable(true);
    let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
    let statuses: Vec<(u64, String)> =
        sqlx::query_as("SELECT number, status FROM runs ORDER BY number")
            .fetch_all(&mut connection)
            .await
            .unwrap();
    let mut runs = Vec::new();
    for (number, status) in statuses {
        let details = sqlx::query("SELECT * FROM run_details WHERE run = ?")
            .bind(number.cast_signed())
            .fetch_one(&mut connection)
            .await
            .unwrap();
        let fields = COLUMNS.map(|(column, field)| {
            let text: Option<String> = details.get(column);
            let value = text.map_or(Value::Null, |text| serde_json::from_str(&text).unwrap());
            (field, rename(value))
        });
        let lines: Vec<String> =
            sqlx::query_scalar("SELECT line FROM events WHERE run = ? ORDER BY seq")
                .bind(number.cast_signed())
                .fetch_all(&mut connection)
                .await
                .unwrap();
        let events = lines
            .iter()
            .map(|line| rename(serde_json::from_str(line).unwrap()));
        runs.push(OldRun {
            number,
            status,
            fields: fields.into(),
            events: events.collect(),
        });
    }
    connection.close().await.unwrap();
    runs
}

async fn check_run(server: &Program, old: &OldRun) {
    let number = old.number;
    let run = server.get(&format!("/runs/{number}")).await;
    assert_eq!(run["status"], old.status.as_str(), "#{number}");
    for (field, expect) in &old.fields {
        let actual = run.pointer(field).unwrap();
        if *field == "/findings" && expect.is_null() {
            assert_eq!(actual, &json!([]));
        } else {
            check(&format!("#{number}{field}"), expect, actual);
        }
    }
    let events = server.events(number).await;
    let expect = Value::from(old.events.clone());
    check(
        &format!("#{number} events"),
        &expect,
        &events.clone().into(),
    );
    let parsed: Vec<Event> = serde_json::from_value(events.into()).unwrap();
    let serialized = serde_json::to_value(parsed).unwrap();
    check(&format!("#{number} parsed events"), &expect, &serialized);

    let samples = run["samples"].as_u64().unwrap() as usize;
    let series = server.get(&format!("/runs/{number}/series")).await;
    assert!(series["columns"].as_array().unwrap().len() > 10, "{series}");
    let csv = server
        .get(&format!("/runs/{number}/export?format=csv"))
        .await;
    assert_eq!(csv.as_str().unwrap().lines().count(), samples + 1);
}

#[tokio::test]
async fn version_4_database_is_migrated() {
    let directory = Arc::new(tempfile::tempdir().unwrap());
    let data = directory.path().join("data");
    std::fs::create_dir(&data).unwrap();
    let mut database = Vec::new();
    GzDecoder::new(FIXTURE).read_to_end(&mut database).unwrap();
    let file = data.join("leadline.db");
    std::fs::write(&file, &database).unwrap();
    let runs = read_fixture(&file).await;
    assert_eq!(runs.len(), 25);

    let server = Program::start_in(directory, &[]).await;
    for run in &runs {
        check_run(&server, run).await;
    }
    let compared = server.get("/compare?runs=1,2,3,4").await;
    assert_eq!(compared["runs"].as_array().unwrap().len(), 4);
    check_fingerprints(&server).await;
    check_renamed_fields(&server).await;

    let before = server.get("/runs/1").await;
    let server = server.kill_and_restart().await;
    assert_eq!(server.get("/runs/1").await, before);
    let options = SqliteConnectOptions::new().filename(&file).read_only(true);
    let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
    let version: i64 = sqlx::query_scalar("PRAGMA user_version")
        .fetch_one(&mut connection)
        .await
        .unwrap();
    assert_eq!(version, 30);
    connection.close().await.unwrap();
    assert_backed_up(&server).await;
}

/// Stored runs with a result have fingerprints, which can be used to find runs of the same test.
async fn check_fingerprints(server: &Program) {
    wait_for_fingerprints(&server.data()).await;
    let list = server.get("/runs?limit=200").await;
    let done = list["runs"].as_array().unwrap().iter();
    for run in done.filter(|run| run["status"] == "done") {
        let fingerprint = run["job_fingerprint"].as_str().expect("a fingerprint");
        let same = server.get(&format!("/runs?q=job:{fingerprint}")).await;
        let numbers = same["runs"].as_array().unwrap().iter();
        let mut numbers = numbers.map(|run| &run["number"]);
        assert!(numbers.any(|number| *number == run["number"]), "{same}");
    }
}

/// Checks that the database was backed up before the migration, and that only the owner can read
/// the backup.
async fn assert_backed_up(server: &Program) {
    let copy = server.data().join("leadline-v4.db");
    let mode = std::fs::metadata(&copy).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let options = SqliteConnectOptions::new().filename(copy).read_only(true);
    let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
    let found: (i64, String) = sqlx::query_as(
        "SELECT user_version, integrity_check FROM pragma_user_version, pragma_integrity_check",
    )
    .fetch_one(&mut connection)
    .await
    .unwrap();
    assert_eq!(found, (4, "ok".to_owned()));
}

/// Spot checks that do not use the tables above.
async fn check_renamed_fields(server: &Program) {
    let warmed = server.get("/runs/1").await;
    let report = &warmed["report"];
    assert_eq!(report["transitions"][0]["to"], "memory");
    assert!(warmed["verdict"]["read"]["transition_ms"].is_f64());
    assert_eq!(report["device"]["physical_devices"][0]["name"], "vda");
    assert_eq!(report["jobs"][0]["workers"], 1);
    assert!(report["jobs"][0]["decisions"].is_array());
    assert!(report["cpu"]["host_percent"].is_f64());
    let failed = server.get("/runs/24").await;
    let problem = &failed["failure"]["problems"][0];
    assert_eq!(problem["code"], "hard_linked");
    assert!(problem["detail"].as_str().unwrap().contains("hard links"));
    let study = server.get("/studies/1").await;
    assert!(study["missed_by_author"].is_string());
    assert_eq!(study["scaled"]["requested_bytes"], 4 << 20);
    assert_eq!(study["steps"][2]["run"]["number"], 15);
    let study = server.get("/studies/2").await;
    let leftover = &study["leftover_files"][0];
    assert!(leftover["reason"]["detail"].is_string(), "{leftover}");
}
