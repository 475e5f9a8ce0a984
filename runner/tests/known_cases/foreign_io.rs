//! Another program's I/O on the same device: fio on a different file.

use crate::test_targets::Target;
use std::{
    fs,
    path::PathBuf,
    process::{Child, Command, Stdio},
    thread::sleep,
    time::Duration,
};

/// Time that fio needs to start and lay out its file.
const WARM_UP: Duration = Duration::from_millis(700);

#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// Direct reads of 64 KiB.
    Reads,
    /// Direct writes of 64 KiB.
    Writes,
}

/// Stopped when dropped.
pub(crate) struct ForeignIo {
    fio: Child,
    file: PathBuf,
}

impl ForeignIo {
    /// Returns once fio is running.
    pub(crate) fn start(kind: Kind, target: &Target) -> Self {
        let file = target.directory.join("foreign");
        let rw = match kind {
            Kind::Reads => "--rw=randread",
            Kind::Writes => "--rw=randwrite",
        };
        // Create the file first so that overwriting it causes no metadata I/O.
        fs::write(&file, vec![7; 16 << 20]).unwrap();
        fs::File::open(&file).unwrap().sync_all().unwrap();
        let fio = Command::new("fio")
            .args([
                "--name=foreign",
                "--size=16m",
                "--bs=64k",
                "--iodepth=16",
                "--ioengine=libaio",
                "--direct=1",
            ])
            .args(["--time_based", "--runtime=30", "--overwrite=1", rw])
            .arg(format!("--filename={}", file.display()))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        sleep(WARM_UP);
        Self { fio, file }
    }
}

impl Drop for ForeignIo {
    fn drop(&mut self) {
        // Do not use SIGKILL, which would leave fio's worker running.
        let _ = rustix::process::kill_process(
            rustix::process::Pid::from_child(&self.fio),
            rustix::process::Signal::TERM,
        );
        let _ = self.fio.wait();
        let _ = fs::remove_file(&self.file);
    }
}
