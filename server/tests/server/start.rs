//! Startup and shutdown: ports, locks, incompatible databases, tokens, signals.

use crate::program::{Program, TIMEOUT, command, job};
use std::{sync::Arc, time::Duration};

/// Starts a server that is expected to fail, and returns its stderr.
pub(crate) async fn start_error(directory: &std::path::Path, arguments: &[&str]) -> String {
    let output = tokio::time::timeout(TIMEOUT, command(directory).args(arguments).output())
        .await
        .expect("the server exits")
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    String::from_utf8(output.stderr).unwrap()
}

#[tokio::test]
async fn no_auth_requires_loopback() {
    let directory = tempfile::tempdir().unwrap();
    let error = start_error(directory.path(), &["--no-auth", "--listen", "0.0.0.0:0"]).await;
    assert!(
        error.contains("--no-auth is not allowed on 0.0.0.0"),
        "{error}"
    );
    let server = Program::start_in(Arc::new(directory), &["--no-auth"]).await;
    let response = server
        .client
        .get(server.url("/api/v1/runs"))
        .send()
        .await
        .unwrap();
    assert_eq!(server.token.as_str(), "");
    assert_eq!(response.status().as_u16(), 200);
}

#[tokio::test]
async fn data_directory_is_locked() {
    let server = Program::start().await;
    let error = start_error(server.directory.path(), &[]).await;
    assert!(
        error.contains("is in use by another server") && error.contains(&server.address),
        "{error}"
    );
    let process = format!("process {}", server.pid());
    assert!(error.contains(&process), "{error}");
    assert_eq!(server.get("/livez").await["status"], "ok");
}

#[tokio::test]
async fn data_directory_is_locked_without_its_lock_file() {
    let server = Program::start().await;
    let file = server.data().join("lock");
    std::fs::remove_file(&file).unwrap();
    for content in [None, Some("http://127.0.0.1:9")] {
        if let Some(content) = content {
            std::fs::write(&file, content).unwrap();
        }
        let error = start_error(server.directory.path(), &[]).await;
        let holder = content.map_or_else(|| format!("process {}", server.pid()), str::to_owned);
        assert!(
            error.contains("is in use by another server") && error.contains(&holder),
            "{error}"
        );
    }
    // The lock is released when the server exits.
    let server = server.kill_and_restart().await;
    assert_eq!(server.get("/runs").await["total"], 0);
}

#[tokio::test]
async fn idle_connections_do_not_prevent_runs() {
    let server = Program::start_with_file_limits(64, 4096).await;
    let mut idle = Vec::new();
    for _ in 0..100 {
        idle.push(
            tokio::net::TcpStream::connect(&server.address)
                .await
                .unwrap(),
        );
    }
    let run = server.queue(job("a", "100ms")).await;
    assert_eq!(server.wait_until_ended(run).await["status"], "done");
}

#[tokio::test]
async fn uses_next_port_if_requested_port_is_in_use() {
    let taken = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = taken.local_addr().unwrap().port();
    let directory = Arc::new(tempfile::tempdir().unwrap());
    let server = Program::start_in(directory, &["--listen", &format!("127.0.0.1:{port}")]).await;
    let found: u16 = server.address.rsplit(':').next().unwrap().parse().unwrap();
    assert!(found > port && found <= port + 20, "{port} became {found}");
}

#[tokio::test]
async fn token_is_stored_with_private_permissions() {
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
        let contains =
            String::from_utf8_lossy(&std::fs::read(&other).unwrap()).contains(&server.token);
        assert!(!contains, "{} contains the token", other.display());
    }
    let token = server.token.clone();
    assert_eq!(server.kill_and_restart().await.token, token);
}

#[tokio::test]
async fn newer_and_unrelated_databases_are_rejected_unchanged() {
    for (header, part) in [
        ((99_u32, 0x4C65_6164_u32), "it has version 99"),
        ((1, 0x1234), "it belongs to another program"),
    ] {
        let mut server = Program::start().await;
        server.queue(job("a", "10ms")).await;
        server.stop().await;
        let file = server.data().join("leadline.db");
        // user_version and application_id in the file header
        // (https://www.sqlite.org/fileformat2.html, 1.3).
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
        let error = start_error(server.directory.path(), &[]).await;
        assert!(
            error.contains(part) && error.contains("The file was not changed"),
            "{error}"
        );
        assert!(std::fs::read(&file).unwrap() == bytes);
        assert_eq!(files(), before);
    }
}

#[tokio::test]
async fn sigterm_stops_runs_then_streams() {
    let directory = Arc::new(tempfile::tempdir().unwrap());
    let mut server = Program::start_in(directory.clone(), &[]).await;
    let running = server.queue(job("a", "60s")).await;
    let waiting = server.queue(job("b", "20ms")).await;
    server.wait_for_status(running, &["measuring"]).await;
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
    // The stream includes the event that ends the run.
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
    assert_eq!(run["status"], "interrupted");
    assert_eq!(run["report"]["ended_by"], "signal");
    assert_eq!(run["reason"], "The server was stopped.");
    assert_eq!(server.wait_until_ended(waiting).await["status"], "done");
    assert_eq!(server.starts(), ["a", "b"]);
}

#[tokio::test]
async fn runner_that_ignores_sigterm_does_not_delay_shutdown() {
    let mut server = Program::start().await;
    let running = server.queue(job("ignore-sigterm", "60s")).await;
    server.wait_for_status(running, &["measuring"]).await;
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
async fn banner_lists_directories() {
    let mut server = Program::start().await;
    let sign_in = server.line().await.unwrap();
    assert!(sign_in.contains("leadline login"), "{sign_in}");
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
