//! `leadline backup`: a consistent copy of a database that is in use.

use crate::program::{Program, job};
use std::{path::Path, process::Command, sync::Arc};

/// Runs `leadline backup` for a server's data directory.
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
async fn backup_of_a_running_server_can_be_restored() {
    let server = Program::start().await;
    let number = server.queue(job("a", "50ms")).await;
    server.wait_until_ended(number).await;
    let running = server.queue(job("a", "60s")).await;
    server.wait_for_status(running, &["measuring"]).await;
    let restored = Arc::new(tempfile::tempdir().unwrap());
    let data = restored.path().join("data");
    std::fs::create_dir(&data).unwrap();
    let copy = data.join("leadline.db");
    let (is_copied, message) = backup(&server.data(), &copy);
    assert!(is_copied, "{message}");
    let (is_copied, message) = backup(&server.data(), &copy);
    assert!(!is_copied && message.contains("File exists"), "{message}");
    let (is_copied, message) = backup(&data.join("nothing"), &data.join("other"));
    assert!(
        !is_copied && message.contains("does not exist"),
        "{message}"
    );
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
