//! Finds the underlying file of a file on an overlay, in the upper or a lower layer.

use crate::system::host::{
    kernel::unescape,
    mounts::{MountEntry, mount_at},
};
use std::{
    fs::{metadata, symlink_metadata},
    path::{Path, PathBuf},
};

pub(crate) const FILESYSTEM: &str = "overlay";
/// Maximum depth of stacked overlays (FILESYSTEM_MAX_STACK_DEPTH in include/linux/fs.h).
const MAX_DEPTH: u32 = 2;

/// The file below all overlays.
pub(crate) struct RealFile {
    pub path: PathBuf,
    /// Whether one of the overlays is mounted with `volatile`, which ignores sync requests.
    pub is_volatile: bool,
}

/// The file below `path`, which is on an overlay; `None` if its layers are not visible in this
/// mount namespace.
pub(crate) fn real_file(mounts: &[MountEntry], path: &Path) -> Option<RealFile> {
    let length = metadata(path).ok()?.len();
    real_file_on(mounts, mount_at(mounts, path)?, path, length)
}

/// Like `real_file`, for a file of this length at `path` in the mount namespace of `mount`.
pub(crate) fn real_file_on<'a>(
    mounts: &'a [MountEntry],
    mut mount: &'a MountEntry,
    path: &Path,
    length: u64,
) -> Option<RealFile> {
    let mut real = RealFile {
        path: path.into(),
        is_volatile: false,
    };
    for _ in 0..=MAX_DEPTH {
        if mount.filesystem != FILESYSTEM {
            return Some(real);
        }
        real = RealFile {
            path: topmost_file(mounts, mount, &real.path, length)?,
            is_volatile: real.is_volatile || is_volatile(mount),
        };
        mount = mount_at(mounts, &real.path)?;
    }
    None
}

/// Returns an existing directory on the filesystem that stores new files of `directory`. For an
/// overlay, it is in the upper layer, because opening the overlay's directory for writing could
/// copy it to that layer. `None` if the layer is not visible in this mount namespace, or does not
/// exist.
pub(crate) fn storage_of_new_files(mounts: &[MountEntry], directory: &Path) -> Option<PathBuf> {
    let mut storage = directory.to_owned();
    for _ in 0..=MAX_DEPTH {
        let mount = mount_at(mounts, &storage)?;
        if mount.filesystem != FILESYSTEM {
            return Some(storage);
        }
        storage = upper_layer(mount).filter(|upper| upper.is_absolute() && upper.is_dir())?;
    }
    None
}

/// The layer that receives written files; `None` if the overlay is read-only.
pub(super) fn upper_layer(mount: &MountEntry) -> Option<PathBuf> {
    Layers::of(&mount.options).upper
}

/// The file in the topmost layer that contains it; `None` if it is not the file at `path`. Inode
/// numbers do not identify it, because a copied-up file keeps the inode number of the lower file.
fn topmost_file(
    mounts: &[MountEntry],
    mount: &MountEntry,
    path: &Path,
    length: u64,
) -> Option<PathBuf> {
    // With a bind mount, the mount point is a subdirectory of the overlay.
    let root = mount.root.trim_start_matches('/');
    let relative = Path::new(root).join(path.strip_prefix(&mount.point).ok()?);
    let layers = Layers::of(&mount.options);
    let mut layers = layers.upper.iter().chain(&layers.lower);
    let (real, found) = layers.find_map(|layer| {
        let real = layer.join(&relative);
        let found = symlink_metadata(&real).ok()?;
        (layer.is_absolute() && found.is_file()).then_some((real, found))
    })?;
    // The overlay itself can hide its layers, for example if it is a root filesystem with
    // `lowerdir=/`.
    let is_covered = mount_at(mounts, &real)?.id == mount.id;
    (found.len() == length && !is_covered).then_some(real)
}

/// The directories named in an overlay's mount options.
#[derive(Default)]
struct Layers {
    /// `None` if the overlay is read-only.
    upper: Option<PathBuf>,
    /// From top to bottom.
    lower: Vec<PathBuf>,
}

impl Layers {
    /// The kernel escapes spaces, commas and backslashes as octal numbers. `lowerdir` also contains
    /// the backslashes with which the mount command escaped colons and other characters
    /// (fs/overlayfs/params.c). Files in data-only layers, which follow a double colon, are not
    /// visible.
    fn of(options: &str) -> Self {
        let mut layers = Self::default();
        let options = options.split(',');
        for (name, value) in options.filter_map(|option| option.split_once('=')) {
            let value = unescape(value);
            match name {
                "upperdir" => layers.upper = Some(value.into()),
                "lowerdir+" => layers.lower.push(value.into()),
                "lowerdir" => {
                    let visible = value.split("::").next().unwrap_or_default();
                    let names = split_unescaped(visible, ':');
                    layers.lower.extend(names.map(remove_backslashes));
                }
                _ => {}
            }
        }
        layers
    }
}

/// Splits at each separator that is not preceded by a backslash.
fn split_unescaped(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut is_escaped = false;
    text.split(move |c| {
        let is_end = c == separator && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        is_end
    })
}

fn remove_backslashes(text: &str) -> PathBuf {
    let mut path = String::new();
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        path.extend(if c == '\\' {
            characters.next()
        } else {
            Some(c)
        });
    }
    path.into()
}

fn is_volatile(mount: &MountEntry) -> bool {
    mount
        .options
        .split(',')
        .any(|option| matches!(option, "volatile" | "fsync=volatile"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mount options, in the format that Linux 6.18 uses in /proc/self/mountinfo.
    #[test]
    fn overlay_layers_can_have_any_name() {
        let check = |options: &str, expected: &[&str]| {
            let layers = Layers::of(options);
            let found: Vec<_> = layers.upper.iter().chain(&layers.lower).collect();
            let expected: Vec<_> = expected.iter().map(PathBuf::from).collect();
            assert_eq!(found, expected.iter().collect::<Vec<_>>(), "{options}");
        };
        check("rw,lowerdir=/l,upperdir=/u,workdir=/w", &["/u", "/l"]);
        check("rw,lowerdir=/a:/b:/c", &["/a", "/b", "/c"]);
        check(
            r"rw,lowerdir=l\134\040a\134\054b\134:c:l2\134\134x,upperdir=u\040p\054q:r,workdir=w",
            &["u p,q:r", "l a,b:c", r"l2\x"],
        );
        check(
            r"rw,lowerdir+=l\040a\054b:c,lowerdir+=l2\134x,upperdir=u\040p\054q:r,workdir=w",
            &["u p,q:r", "l a,b:c", r"l2\x"],
        );
        check("rw,lowerdir=/a:/b::/data", &["/a", "/b"]);
        check("rw", &[]);
    }
}
