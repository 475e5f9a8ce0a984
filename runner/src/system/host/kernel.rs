//! Reads sysfs and procfs. Both roots are parameters, so tests can use a fixture. Attribute values
//! come from devices and users, so their length is limited, and control and invisible characters
//! are removed.

use leadline_protocol::text::is_deceptive;
use std::{
    fmt,
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
    str::FromStr,
};

/// sysfs attributes are at most one page long.
const MAX_ATTRIBUTE_BYTES: u64 = 4096;

/// Root directories of sysfs and procfs.
#[derive(Clone, Debug)]
pub(crate) struct Kernel {
    pub sys: PathBuf,
    pub proc: PathBuf,
}

impl Kernel {
    pub(crate) fn live() -> Self {
        Self {
            sys: "/sys".into(),
            proc: "/proc".into(),
        }
    }

    /// Major and minor kernel version.
    pub(crate) fn version(&self) -> Option<(u32, u32)> {
        attribute(self.proc.join("sys/kernel/osrelease")).map(|release| version(&release))
    }
}

/// Major and minor version of a release such as `6.1.0-48-amd64`; 0 for a part that is not a
/// number.
pub(crate) fn version(release: &str) -> (u32, u32) {
    let mut numbers = release
        .split(|c: char| !c.is_ascii_digit())
        .map(|digits| digits.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

/// A device number as in `st_dev` and `st_rdev`, displayed as `major:minor`.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) struct Dev(pub u64);

impl Dev {
    /// Returns true for major number 0, which btrfs, overlayfs and tmpfs use, but no block device.
    pub(crate) fn is_anonymous(self) -> bool {
        rustix::fs::major(self.0) == 0
    }
}

impl fmt::Display for Dev {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let major = rustix::fs::major(self.0);
        write!(f, "{major}:{}", rustix::fs::minor(self.0))
    }
}

impl FromStr for Dev {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        let (major, minor) = text.split_once(':').ok_or(())?;
        let number = |text: &str| text.parse().map_err(|_| ());
        Ok(Self(rustix::fs::makedev(number(major)?, number(minor)?)))
    }
}

/// Text of an attribute with whitespace collapsed; `None` if it is missing, unreadable or empty.
pub(crate) fn attribute(path: impl AsRef<Path>) -> Option<String> {
    let mut bytes = Vec::new();
    let file = File::open(path).ok()?;
    file.take(MAX_ATTRIBUTE_BYTES)
        .read_to_end(&mut bytes)
        .ok()?;
    let text = String::from_utf8_lossy(&bytes).replace(is_deceptive, " ");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (!text.is_empty()).then_some(text)
}

pub(crate) fn value<T: FromStr>(path: impl AsRef<Path>) -> Option<T> {
    attribute(path)?.parse().ok()
}

/// An attribute that is `0` or `1`.
pub(crate) fn read_flag(path: impl AsRef<Path>) -> Option<bool> {
    value::<u8>(path).map(|value| value != 0)
}

/// The number after `name` in lines of the form `name value` or `name: value unit`. Does not
/// allocate, because the sampler calls it ten times per second.
pub(crate) fn field(text: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines();
    let rest = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix([':', ' ']))?;
    rest.split_ascii_whitespace().next()?.parse().ok()
}

/// Sorted names in a directory; empty if it cannot be read.
pub(crate) fn names(dir: impl AsRef<Path>) -> Vec<String> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}

/// Decodes octal escapes in /proc tables, such as `\040` for a space. The kernel escapes only ASCII
/// characters.
pub(crate) fn unescape(field: &str) -> String {
    let mut parts = field.split('\\');
    let mut text: String = parts.next().unwrap_or_default().into();
    for part in parts {
        let digits = part.get(..3).unwrap_or_default();
        let is_octal = digits.bytes().all(|digit| matches!(digit, b'0'..=b'7'));
        match u8::from_str_radix(digits, 8) {
            Ok(byte) if is_octal && byte.is_ascii() => {
                text.push(byte.into());
                text.push_str(&part[3..]);
            }
            _ => {
                text.push('\\');
                text.push_str(part);
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unescape_decodes_octal() {
        for (field, want) in [
            ("/a", "/a"),
            (r"/a\040b", "/a b"),
            (r"/a\134b", r"/a\b"),
            (r"/tail\04", r"/tail\04"),
            (r"\011", "\t"),
            (r"/a\+40b", r"/a\+40b"),
            (r"/a\377b", r"/a\377b"),
        ] {
            assert_eq!(unescape(field), want);
        }
    }

    #[test]
    fn kernel_versions() {
        for (release, want) in [
            ("6.1.0-48-amd64", (6, 1)),
            ("6.18.44", (6, 18)),
            ("5.14.0-570.el9.x86_64", (5, 14)),
            ("7", (7, 0)),
            ("x", (0, 0)),
        ] {
            assert_eq!(version(release), want);
        }
        let dir = tempfile::tempdir().unwrap();
        let kernel = Kernel {
            sys: dir.path().into(),
            proc: dir.path().into(),
        };
        assert_eq!(kernel.version(), None);
        assert!(Kernel::live().version().unwrap() >= (5, 6));
    }

    #[test]
    fn device_numbers_round_trip() {
        for text in ["254:0", "259:1048575", "0:45"] {
            assert_eq!(text.parse::<Dev>().unwrap().to_string(), text);
        }
        assert!("254".parse::<Dev>().is_err());
        assert!("0:45".parse::<Dev>().unwrap().is_anonymous());
    }

    #[test]
    fn attributes_are_trimmed_and_have_no_control_characters() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("model");
        for (bytes, want) in [
            (&b"Disk  X\t\n"[..], Some("Disk X")),
            (b"\n", None),
            (b"a\x1b[31m", Some("a [31m")),
            (b"\xff\n", Some("\u{fffd}")),
        ] {
            fs::write(&path, bytes).unwrap();
            assert_eq!(attribute(&path).as_deref(), want);
        }
        assert_eq!(attribute(dir.path().join("missing")), None);
        fs::write(&path, vec![b'x'; 1 << 20]).unwrap();
        assert_eq!(attribute(&path).unwrap().len(), 4096);
    }

    #[test]
    fn invalid_numbers_count_as_missing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("size");
        for text in ["-1", "18446744073709551616", "1e9", "0x10", "", "\u{661}"] {
            fs::write(&path, text).unwrap();
            assert_eq!(value::<u64>(&path), None, "{text}");
            assert_eq!(read_flag(&path), None, "{text}");
        }
    }
}
