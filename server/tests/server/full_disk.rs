//! Full disk: the run fails, and the server continues when there is space again.

use crate::program::{Program, job};
use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
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

#[tokio::test]
async fn full_disk_fails_the_run_but_not_the_server() {
    let directory = Arc::new(tempfile::tempdir().unwrap());
    let Some(small) = SmallFilesystem::mount(&directory.path().join("data")) else {
        eprintln!("SKIP: mounting a filesystem requires root");
        return;
    };
    let server = Program::start_in(directory.clone(), &[]).await;
    let number = server.queue(job("a", "60s")).await;
    server.wait_for_status(number, &["measuring"]).await;
    // Fills all free space.
    let filler = small.0.join("filler");
    let mut file = std::fs::File::create(&filler).unwrap();
    let full = std::io::copy(&mut std::io::repeat(0), &mut file).unwrap_err();
    assert_eq!(full.kind(), std::io::ErrorKind::StorageFull);
    let mut stream = server
        .request(reqwest::Method::GET, &format!("/runs/{number}/stream"))
        .send()
        .await
        .unwrap();
    // Streams are closed when events cannot be stored.
    while let Ok(Some(_)) = stream.chunk().await {}
    drop(file);
    std::fs::remove_file(&filler).unwrap();
    let failed = server.wait_until_ended(number).await;
    assert_eq!(failed["status"], "failed");
    assert!(
        failed["reason"]
            .as_str()
            .unwrap()
            .contains("could not store events"),
        "{}",
        failed["reason"]
    );
    let again = server.queue(job("b", "50ms")).await;
    assert_eq!(server.wait_until_ended(again).await["status"], "done");
    assert_eq!(server.starts(), ["a", "b"]);
}
