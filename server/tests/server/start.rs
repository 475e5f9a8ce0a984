//! Starting and stopping: ports, locks, strange databases, open doors, signals.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use crate::program::{PATIENCE, Program, command, job};

/// Starts a server that should refuse to; what it says.
async fn refused(directory: &std::path::Path, arguments: &[&str]) -> String {
    let output = tokio::time::timeout(PATIENCE, command(directory).args(arguments).output())
        .await
        .expect("it gives up")
        .unwrap();
    assert_eq!(
        (output.status.code(), output.stdout.is_empty()),
        (Some(1), true)
    );
    String::from_utf8(output.stderr).unwrap()
}

#[tokio::test]
async fn without_a_token_only_on_loopback() {
    let directory = tempfile::tempdir().unwrap();
    let said = refused(directory.path(), &["--no-auth", "--listen", "0.0.0.0:0"]).await;
    assert!(said.contains("--no-auth is refused on 0.0.0.0"), "{said}");
    let server = Program::start_in(Arc::new(directory), &["--no-auth"]).await;
    let response = server
        .client
        .get(server.url("/api/v1/runs"))
        .send()
        .await
        .unwrap();
    assert_eq!(
        (server.token.as_str(), response.status().as_u16()),
        ("", 200)
    );
}

#[tokio::test]
async fn one_server_a_data_directory() {
    let server = Program::start().await;
    let said = refused(server.directory.path(), &[]).await;
    assert!(
        said.contains("already works on") && said.contains(&server.address),
        "{said}"
    );
    assert_eq!(server.get("/healthz").await["status"], "ok");
}

#[tokio::test]
async fn callers_that_do_nothing_keep_no_run_from_starting() {
    let server = Program::start_with_files(64, 4096).await;
    let mut idle = Vec::new();
    for _ in 0..100 {
        idle.push(
            tokio::net::TcpStream::connect(&server.address)
                .await
                .unwrap(),
        );
    }
    let run = server.queue(job("a", "100ms")).await;
    assert_eq!(server.until_ended(run).await["status"], "done");
}

#[tokio::test]
async fn a_port_in_use_gives_the_next() {
    let taken = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = taken.local_addr().unwrap().port();
    let directory = Arc::new(tempfile::tempdir().unwrap());
    let server = Program::start_in(directory, &["--listen", &format!("127.0.0.1:{port}")]).await;
    let found: u16 = server.address.rsplit(':').next().unwrap().parse().unwrap();
    assert!(found > port && found <= port + 20, "{port} became {found}");
}

#[tokio::test]
async fn the_token_is_kept_and_only_its_owner_may_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let server = Program::start().await;
    let file = server.data().join("token");
    assert_eq!(
        std::fs::metadata(&file).unwrap().permissions().mode() & 0o777,
        0o600
    );
    assert_eq!(std::fs::read_to_string(&file).unwrap().trim(), server.token);
    let others = std::fs::read_dir(server.data())
        .unwrap()
        .map(|entry| entry.unwrap().path());
    for other in others.filter(|path| path.is_file() && *path != file) {
        let told = String::from_utf8_lossy(&std::fs::read(&other).unwrap()).contains(&server.token);
        assert!(!told, "{} tells the token", other.display());
    }
    let token = server.token.clone();
    assert_eq!(server.kill_and_restart().await.token, token);
}

#[tokio::test]
async fn a_newer_database_and_a_strange_one_are_refused_untouched() {
    for (header, part) in [
        ((9_u32, 0x4C65_6164_u32), "has version 9"),
        ((1, 0x1234), "of another program"),
    ] {
        let mut server = Program::start().await;
        server.queue(job("a", "10ms")).await;
        server.stop().await;
        let file = server.data().join("leadline.db");
        // user_version and application_id stand in the file's header (fileformat2.html, 1.3), as big-endian numbers.
        let mut bytes = std::fs::read(&file).unwrap();
        bytes[60..64].copy_from_slice(&header.0.to_be_bytes());
        bytes[68..72].copy_from_slice(&header.1.to_be_bytes());
        std::fs::write(&file, &bytes).unwrap();
        let files = || {
            let mut names: Vec<_> = std::fs::read_dir(server.data())
                .unwrap()
                .map(|entry| entry.unwrap().file_name())
                .collect();
            names.sort();
            names
        };
        let before = files();
        let said = refused(server.directory.path(), &[]).await;
        assert!(
            said.contains(part) && said.contains("Nothing was changed"),
            "{said}"
        );
        assert_eq!(
            (std::fs::read(&file).unwrap() == bytes, files()),
            (true, before)
        );
    }
}

#[tokio::test]
async fn a_signal_stops_runs_then_sockets() {
    let directory = Arc::new(tempfile::tempdir().unwrap());
    let mut server = Program::start_in(directory.clone(), &[]).await;
    let running = server.queue(job("a", "60s")).await;
    let waiting = server.queue(job("b", "20ms")).await;
    server.until(running, &["measuring"]).await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    let stream = tokio::spawn(
        server
            .request(reqwest::Method::GET, &format!("/runs/{running}/stream"))
            .send()
            .await
            .unwrap()
            .text(),
    );
    let other = tokio::spawn(
        server
            .request(reqwest::Method::GET, &format!("/runs/{waiting}/stream"))
            .send()
            .await
            .unwrap()
            .text(),
    );
    let (code, took) = server.stop().await;
    assert_eq!(code, Some(0));
    assert!(took < Duration::from_secs(5), "stopping takes {took:?}");
    // The listener heard the end of its run before its stream was closed.
    assert!(
        stream
            .await
            .unwrap()
            .unwrap()
            .lines()
            .last()
            .unwrap()
            .contains("\"interrupted\"")
    );
    assert!(other.await.unwrap().unwrap().contains("\"queued\""));
    let server = Program::start_in(directory, &[]).await;
    let run = server.get(&format!("/runs/{running}")).await;
    assert_eq!(
        (&run["status"], &run["report"]["ended_by"], &run["reason"]),
        (
            &json!("interrupted"),
            &json!("signal"),
            &json!("The server was stopped.")
        )
    );
    assert_eq!(server.until_ended(waiting).await["status"], "done");
    assert_eq!(server.starts(), ["a", "b"]);
}

#[tokio::test]
async fn a_deaf_runner_does_not_hold_the_server_up() {
    let mut server = Program::start().await;
    let running = server.queue(job("deaf", "60s")).await;
    server.until(running, &["measuring"]).await;
    let (code, took) = server.stop().await;
    assert!(
        code == Some(0) && took < Duration::from_secs(5),
        "{code:?} after {took:?}"
    );
    let server = Program::start_in(server.directory.clone(), &[]).await;
    assert_eq!(
        server.get(&format!("/runs/{running}")).await["status"],
        "interrupted"
    );
}

#[tokio::test]
async fn it_says_where_it_is() {
    let mut server = Program::start().await;
    let data = server.line().await.unwrap();
    assert!(
        data.trim_start().starts_with("Data") && data.contains("data"),
        "{data}"
    );
    let targets = server.line().await.unwrap();
    assert!(
        targets.trim_start().starts_with("Targets") && targets.ends_with("data/targets"),
        "{targets}"
    );
}
