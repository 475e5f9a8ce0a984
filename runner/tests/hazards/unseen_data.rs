//! Data that is not in any sample of the target: between the samples of a large target, only in the
//! job's region, or in the only block of a large sparse file.

use crate::scene::{MIB, Scene, Scratch, Unavailable, attach, noise, sparse, write_at};
use std::{
    fs::File,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
};

type Built = Result<Scene, Unavailable>;

/// More allocated space than the guard reads completely.
const LARGE: u64 = 80 * MIB;
/// An offset between samples: those of a target or region of 80 MiB, or of one half of it, begin at
/// multiples of 80 KiB.
const BETWEEN_SAMPLES: u64 = LARGE / 2 + (44 << 10);

fn file_of_zeros(path: &Path) -> PathBuf {
    let file = File::create(path).unwrap();
    for offset in (0..LARGE).step_by(MIB as usize) {
        file.write_all_at(&[0; MIB as usize], offset).unwrap();
    }
    write_at(path, BETWEEN_SAMPLES, &noise(20 << 10));
    path.to_path_buf()
}

pub(crate) fn in_a_file_of_zeros(scratch: &Scratch) -> Built {
    let target = file_of_zeros(&scratch.root().join("zeros.img"));
    Ok(Scene::file(scratch, &target))
}

pub(crate) fn on_a_device_of_zeros(scratch: &Scratch) -> Built {
    let image = file_of_zeros(&scratch.root().join("zeros.img"));
    let device = attach(&image, &[])?;
    Ok(Scene::device(scratch, &device.0, &image).hold(device))
}

/// A sparse file with one allocated block between the samples.
pub(crate) fn in_a_large_sparse_file(scratch: &Scratch) -> Built {
    let target = scratch.image("sparse.img", 512);
    write_at(&target, 203 * MIB + (12 << 10), &noise(4096));
    let mut scene = Scene::file(scratch, &target);
    scene.protected = vec![target];
    Ok(scene)
}

/// A backing file with more allocated ranges than are read; the data is in one of the last.
pub(crate) fn on_a_device_of_many_extents(scratch: &Scratch) -> Built {
    let image = sparse(&scratch.root().join("extents.img"), 512 * MIB);
    let file = File::options().write(true).open(&image).unwrap();
    for index in 0..40 {
        let zeros = vec![0; 64 << 10];
        file.write_all_at(&zeros, 4 * MIB + index * 256 * 1024)
            .unwrap();
    }
    drop(file);
    write_at(&image, 203 * MIB + (12 << 10), &noise(4096));
    let device = attach(&image, &[])?;
    Ok(Scene::device(scratch, &device.0, &image).hold(device))
}
