//! Databases that cannot be written for a time, or are gone: the measurement goes on, nothing is
//! acknowledged that is not stored, and nobody begins an empty database by mistake.

use crate::program::{Program, command, job};
use reqwest::Method;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection, SqliteConnection, sqlite::SqliteConnectOptions};
use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    time::Duration,
};

/// A tmpfs, unmounted on drop.
struct SmallFilesystem(PathBuf);

impl SmallFilesystem {
    fn mount(path: &Path) -> Option<Self> {
        std::fs::create_dir(path).unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=4m", "none"])
            .arg(path)
            .output()
            .is_ok_and(|output| output.status.success());
        mounted.then(|| Self(path.to_owned()))
    }
}

impl Drop for SmallFilesystem {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

/// A server on a small filesystem; `None` without root.
async fn on_small_filesystem() -> Option<(Program, SmallFilesystem)> {
    let directory = Arc::new(tempfile::tempdir().unwrap());
    let Some(small) = SmallFilesystem::mount(&directory.path().join("data")) else {
        eprintln!("SKIP: mounting a filesystem requires root");
        return None;
    };
    Some((Program::start_in(directory, &[]).await, small))
}

/// A run whose samples are being measured.
async fn measuring(server: &Program, runtime: &str) -> u64 {
    let number = server.queue(job("a", runtime)).await;
    server.wait_for_status(number, &["measuring"]).await;
    number
}

/// A new run is refused with this code, and a hint when to try again.
async fn assert_refused(server: &Program, status: u16, code: &str) {
    let body = json!({"jobs": [job("refused", "10ms")]});
    let request = server.request(Method::POST, "/runs").json(&body);
    let response = request.send().await.unwrap();
    assert!(response.headers().contains_key("retry-after"));
    assert_eq!(response.status(), status);
    let problem: Value = response.json().await.unwrap();
    assert_eq!(problem["code"], code, "{problem}");
}

/// The run ended as planned, and every event is stored.
async fn assert_complete(server: &Program, number: u64) {
    let run = server.wait_until_ended(number).await;
    assert_eq!(run["status"], "done", "{run}");
    let stream = server.request(Method::GET, &format!("/runs/{number}/stream"));
    let text = stream.send().await.unwrap().text().await.unwrap();
    for (expected, line) in text.lines().enumerate() {
        let event: Value = serde_json::from_str(line).unwrap();
        assert_eq!(event["seq"], expected, "{line}");
    }
    let again = server.queue(job("b", "50ms")).await;
    assert_eq!(server.wait_until_ended(again).await["status"], "done");
}

#[tokio::test]
async fn run_goes_on_while_the_disk_is_full() {
    let Some((server, small)) = on_small_filesystem().await else {
        return;
    };
    let number = measuring(&server, "3s").await;
    let filler = small.0.join("filler");
    let mut file = std::fs::File::create(&filler).unwrap();
    let full = std::io::copy(&mut std::io::repeat(0), &mut file).unwrap_err();
    assert_eq!(full.kind(), std::io::ErrorKind::StorageFull);
    tokio::time::sleep(Duration::from_secs(4)).await;
    assert_refused(&server, 507, "disk_full").await;
    let ready = server.client.get(server.url("/api/v1/readyz"));
    assert_eq!(
        server.get(&format!("/runs/{number}")).await["status"],
        "measuring"
    );
    drop(file);
    std::fs::remove_file(&filler).unwrap();
    assert_complete(&server, number).await;
    assert_eq!(server.send(ready).await.0, 200);
    assert_eq!(server.starts(), ["a", "b"]);
}

#[tokio::test]
async fn run_goes_on_while_another_process_locks_the_database() {
    let server = Program::start().await;
    let number = measuring(&server, "3s").await;
    let options = SqliteConnectOptions::new().filename(server.data().join("leadline.db"));
    let mut other = SqliteConnection::connect_with(&options).await.unwrap();
    sqlx::raw_sql("BEGIN IMMEDIATE")
        .execute(&mut other)
        .await
        .unwrap();
    // Longer than the timeout of SQLite.
    tokio::time::sleep(Duration::from_secs(6)).await;
    assert_refused(&server, 503, "store_locked").await;
    sqlx::raw_sql("ROLLBACK").execute(&mut other).await.unwrap();
    assert_complete(&server, number).await;
}

#[tokio::test]
async fn deleted_database_is_noticed() {
    let server = Program::start().await;
    let number = measuring(&server, "2s").await;
    let database = server.data().join("leadline.db");
    let moved = server.data().join("moved.db");
    std::fs::rename(&database, &moved).unwrap();
    assert_refused(&server, 503, "store_unavailable").await;
    std::fs::write(&database, "").unwrap();
    assert_refused(&server, 503, "store_unavailable").await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    std::fs::rename(&moved, &database).unwrap();
    assert_complete(&server, number).await;
    let directory = server.kill().await;
    std::fs::remove_file(&database).unwrap();
    let output = command(directory.path()).output().await.unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(
        error.contains("it is missing, although this directory had a database"),
        "{error}"
    );
    assert!(!database.exists());
    std::fs::remove_file(directory.path().join("data/initialized")).unwrap();
    let server = Program::start_in(directory, &[]).await;
    assert_eq!(server.get("/runs").await["runs"], json!([]));
}

#[tokio::test]
async fn removed_lock_file_admits_no_second_server() {
    let server = Program::start().await;
    std::fs::remove_file(server.data().join("lock")).unwrap();
    let output = command(server.directory.path()).output().await.unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(
        error.contains("is in use by another server: stop it"),
        "{error}"
    );
    assert_eq!(server.get("/livez").await["status"], "ok");
}

/// A stored text: column, table and condition.
type Place = (&'static str, &'static str, &'static str);

/// Replaces a byte of a stored text, and returns its old value.
async fn replace_byte(database: &mut SqliteConnection, place: Place, at: usize, new: u8) -> u8 {
    let (column, table, condition) = place;
    let read = format!("SELECT {column} FROM {table} WHERE {condition}");
    let text: String = sqlx::query_scalar(AssertSqlSafe(read))
        .fetch_one(&mut *database)
        .await
        .unwrap();
    let mut bytes = text.into_bytes();
    let at = at % bytes.len();
    let old = std::mem::replace(&mut bytes[at], new);
    let write = format!("UPDATE {table} SET {column} = ? WHERE {condition}");
    sqlx::query(AssertSqlSafe(write))
        .bind(String::from_utf8(bytes).unwrap())
        .execute(database)
        .await
        .unwrap();
    old
}

#[tokio::test]
async fn changed_byte_of_a_result_is_noticed() {
    const CHANGES: usize = 200;
    const PLACES: [Place; 4] = [
        ("report", "run_details", "run = 1"),
        ("verdict", "run_details", "run = 1"),
        ("findings", "run_details", "run = 1"),
        ("line", "events", "run = 1 AND type = 'report'"),
    ];
    let server = Program::start().await;
    for name in ["a", "b"] {
        let run = server.queue(job(name, "10ms")).await;
        server.wait_until_ended(run).await;
    }
    let options = SqliteConnectOptions::new().filename(server.data().join("leadline.db"));
    let mut database = SqliteConnection::connect_with(&options).await.unwrap();
    for change in 0..CHANGES {
        let (place, at) = (PLACES[change % 4], change * 7919);
        let old = replace_byte(&mut database, place, at, b'7').await;
        let run = server.get("/runs/1").await;
        assert_eq!(run["damaged"], old != b'7', "{place:?} at {at}");
        assert_eq!(run["report"].is_null(), old != b'7');
        replace_byte(&mut database, place, at, old).await;
    }
    assert_eq!(server.get("/runs/1").await["damaged"], false);
    let compare = || server.send(server.request(Method::GET, "/compare?runs=1,2"));
    assert_eq!(compare().await.0, 200);
    replace_byte(&mut database, PLACES[0], 20, b'?').await;
    let (status, problem) = compare().await;
    assert_eq!(
        (status.as_u16(), problem["code"].as_str()),
        (409, Some("damaged"))
    );
    sqlx::raw_sql("UPDATE run_details SET report = NULL")
        .execute(&mut database)
        .await
        .unwrap();
    assert_eq!(
        server.get("/runs/1").await["damaged"],
        true,
        "a missing report"
    );
}

/// `leadline backup` for the data directory of a server.
fn backup(data: &Path, file: &Path) -> (bool, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_leadline"));
    command.arg("backup").arg(file).arg("--data-dir").arg(data);
    let output = command.output().unwrap();
    (
        output.status.success(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

#[tokio::test]
async fn copy_of_a_running_server_can_be_restored() {
    let server = Program::start().await;
    let number = server.queue(job("a", "50ms")).await;
    server.wait_until_ended(number).await;
    let running = measuring(&server, "60s").await;
    let restored = Arc::new(tempfile::tempdir().unwrap());
    let data = restored.path().join("data");
    std::fs::create_dir(&data).unwrap();
    let copy = data.join("leadline.db");
    let (is_copied, message) = backup(&server.data(), &copy);
    assert!(is_copied, "{message}");
    let (is_copied, message) = backup(&server.data(), &copy);
    assert!(!is_copied && message.contains("File exists"), "{message}");
    let (is_copied, message) = backup(&data.join("nothing"), &data.join("other"));
    assert!(!is_copied && message.contains("there is no"), "{message}");
    let other = Program::start_in(restored, &[]).await;
    let path = format!("/runs/{number}");
    assert_eq!(
        other.get(&path).await["report"],
        server.get(&path).await["report"]
    );
    assert_eq!(
        other.get(&format!("/runs/{running}")).await["status"],
        "interrupted"
    );
    assert_eq!(
        server.get(&format!("/runs/{running}")).await["status"],
        "measuring"
    );
}
