//! Tests lookups on loop devices backed by files.

use crate::system::layers::tests::*;

/// A loop device that is detached on drop.
struct Loop(PathBuf);

impl Loop {
    /// Returns `None` and reports a skip if that is not permitted.
    fn attach(image: &Path, options: &[&str]) -> Option<Self> {
        let mut command = Command::new("losetup");
        command.args(["--find", "--show"]).args(options).arg(image);
        let output = command
            .output()
            .ok()
            .filter(|output| output.status.success());
        let Some(output) = output else {
            eprintln!("SKIP: cannot attach a loop device");
            return None;
        };
        let path = String::from_utf8(output.stdout).unwrap();
        Some(Self(path.trim().into()))
    }

    fn stored(&self) -> StoredFile {
        let file = OpenOptions::new().read(true).open(&self.0).unwrap();
        stored(&file, &self.0)
    }

    /// Writes with O_DIRECT.
    fn write(&self, range: Range<u64>) {
        let mut options = OpenOptions::new();
        let file = options.write(true).custom_flags(libc::O_DIRECT);
        let file = file.open(&self.0).unwrap();
        let bytes = (range.end - range.start) as usize;
        let data = vec![9; bytes + PAGE as usize];
        let start = data.as_ptr().align_offset(PAGE as usize);
        let aligned = &data[start..start + bytes];
        file.write_all_at(aligned, range.start).unwrap();
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup")
            .arg("--detach")
            .arg(&self.0)
            .status();
    }
}

#[test]
fn loop_device_lookups_continue_in_the_backing_file() {
    let image = TestFile::cold();
    if !is_on_disk(&image.stored()) {
        return;
    }
    let Some(device) = Loop::attach(image.named.path(), &["--direct-io=off"]) else {
        return;
    };
    image.drop_pages();
    let layers = device.stored();
    assert_read(&layers, ALL, true, &[(Device, 64)]);
    image.cache(pages(0..16));
    assert_read(&layers, ALL, true, &[(LowerCache, 16), (Device, 48)]);
    assert_read(&layers, pages(8..9), true, &[(LowerCache, 1)]);
    assert_read(&layers, pages(20..21), false, &[(Device, 1)]);
}

#[test]
fn holes_in_a_backing_file_are_found() {
    let image = TestFile::sparse();
    if !is_on_disk(&image.stored()) {
        return;
    }
    let Some(device) = Loop::attach(image.named.path(), &["--direct-io=off"]) else {
        return;
    };
    image.drop_pages();
    assert_read(&device.stored(), pages(32..64), true, &[(Unwritten, 32)]);
}

#[test]
fn writes_stay_in_memory_below_a_loop_device() {
    let image = TestFile::cold();
    if !is_on_disk(&image.stored()) {
        return;
    }
    let Some(device) = Loop::attach(image.named.path(), &["--direct-io=off"]) else {
        return;
    };
    let layers = device.stored();
    device.write(pages(0..8));
    let written = || pages_per_layer(layers.written(pages(0..8), true));
    assert_eq!(written(), [(LowerCache, 8)]);
    image.sync();
    assert_eq!(written(), [(Device, 8)]);
}

#[test]
fn loop_device_offsets_are_applied() {
    let image = TestFile::cold();
    if !is_on_disk(&image.stored()) {
        return;
    }
    let options = ["--direct-io=off", "--offset", "65536"];
    let Some(device) = Loop::attach(image.named.path(), &options) else {
        return;
    };
    image.drop_pages();
    image.cache(pages(16..20));
    let layers = device.stored();
    assert_read(&layers, pages(0..4), true, &[(LowerCache, 4)]);
    assert_read(&layers, pages(5..9), true, &[(Device, 4)]);
}

#[test]
fn a_loop_device_with_direct_io_bypasses_cached_pages() {
    let image = TestFile::written();
    if !is_on_disk(&image.stored()) {
        return;
    }
    let Some(device) = Loop::attach(image.named.path(), &["--direct-io=on"]) else {
        return;
    };
    let layers = device.stored();
    image.cache(ALL);
    assert_read(&layers, ALL, true, &[(Device, 64)]);
}
