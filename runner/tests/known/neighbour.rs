//! Somebody else on the same device: fio on another file, as long as a case lasts.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::places::Target;

/// Time for fio to lay out its file and be well on its way.
const WARM_UP: Duration = Duration::from_millis(700);

/// What the neighbour does.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Direct reads of 64 KiB.
    Reads,
    /// Direct writes of 64 KiB.
    Writes,
}

/// A neighbour at work; ended when dropped.
pub struct Neighbour {
    fio: Child,
    file: PathBuf,
}

impl Neighbour {
    /// Starts it, and waits until it works.
    pub fn start(kind: Kind, target: &Target) -> Self {
        let file = target.directory.join("neighbour");
        let rw = match kind {
            Kind::Reads => "--rw=randread",
            Kind::Writes => "--rw=randwrite",
        };
        // Written whole first, so that it only overwrites: its metadata is not the case.
        fs::write(&file, vec![7; 16 << 20]).unwrap();
        fs::File::open(&file).unwrap().sync_all().unwrap();
        let fio = Command::new("fio")
            .args([
                "--name=neighbour",
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

impl Drop for Neighbour {
    fn drop(&mut self) {
        // fio ends its worker when told to; killed, it would leave it behind.
        let _ = rustix::process::kill_process(
            rustix::process::Pid::from_child(&self.fio),
            rustix::process::Signal::TERM,
        );
        let _ = self.fio.wait();
        let _ = fs::remove_file(&self.file);
    }
}
