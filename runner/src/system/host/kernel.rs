//! Where the kernel keeps its books (sysfs, procfs), and how one attribute of them is read.
//!
//! The two roots are a value, so that tests can hand in a captured tree. Attributes come from devices and people, so
//! they are bounded and without control characters. Not here: what any attribute means.

use std::fmt;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The longest attribute that is read, in bytes: sysfs gives at most one page.
const MAX_ATTRIBUTE_BYTES: u64 = 4096;

/// The roots of sysfs and procfs.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Root of sysfs.
    pub sys: PathBuf,
    /// Root of procfs.
    pub proc: PathBuf,
}

impl Kernel {
    /// Those of the running kernel.
    pub fn live() -> Self {
        Self {
            sys: "/sys".into(),
            proc: "/proc".into(),
        }
    }

    /// Major and minor number of its release; `None` where procfs does not tell.
    pub fn version(&self) -> Option<(u32, u32)> {
        attribute(self.proc.join("sys/kernel/osrelease")).map(|release| version(&release))
    }
}

/// Major and minor number of a release such as `6.1.0-48-amd64`; 0 for what is no number.
pub fn version(release: &str) -> (u32, u32) {
    let mut numbers = release
        .split(|c: char| !c.is_ascii_digit())
        .map(|digits| digits.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

/// A device number, as in `st_dev` and `st_rdev`; shown as `major:minor`.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Dev(pub u64);

impl Dev {
    /// Whether it numbers no block device: filesystems such as btrfs, overlay and tmpfs have major number 0.
    pub fn is_anonymous(self) -> bool {
        rustix::fs::major(self.0) == 0
    }
}

impl fmt::Display for Dev {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}:{}",
            rustix::fs::major(self.0),
            rustix::fs::minor(self.0)
        )
    }
}

impl FromStr for Dev {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        let (major, minor) = text.split_once(':').ok_or(())?;
        Ok(Self(rustix::fs::makedev(
            major.parse().map_err(|_| ())?,
            minor.parse().map_err(|_| ())?,
        )))
    }
}

/// The text of an attribute, trimmed, spaces run together; `None` when it is missing, unreadable or empty.
pub fn attribute(path: impl AsRef<Path>) -> Option<String> {
    let mut bytes = Vec::new();
    File::open(path)
        .ok()?
        .take(MAX_ATTRIBUTE_BYTES)
        .read_to_end(&mut bytes)
        .ok()?;
    let text: String = String::from_utf8_lossy(&bytes)
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (!text.is_empty()).then_some(text)
}

/// A number or other value of an attribute; `None` when it is missing or not of that form.
pub fn value<T: FromStr>(path: impl AsRef<Path>) -> Option<T> {
    attribute(path)?.parse().ok()
}

/// A yes or no of an attribute (`1` or `0`).
pub fn flag(path: impl AsRef<Path>) -> Option<bool> {
    value::<u8>(path).map(|value| value != 0)
}

/// The names in a directory, sorted; empty when there is none.
pub fn names(dir: impl AsRef<Path>) -> Vec<String> {
    let Ok(entries) = fs::read_dir(dir) else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}

/// A field of `/proc` tables with its octal escapes (`\040` for a space) undone.
pub fn unescape(field: &str) -> String {
    let bytes = field.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while at < bytes.len() {
        let octal = (bytes[at] == b'\\')
            .then(|| field.get(at + 1..at + 4))
            .flatten()
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        out.push(octal.unwrap_or(bytes[at]));
        at += if octal.is_some() { 4 } else { 1 };
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn octal_escapes_of_proc_tables_are_undone() {
        for (field, want) in [
            ("/a", "/a"),
            (r"/a\040b", "/a b"),
            (r"/a\134b", r"/a\b"),
            (r"/tail\04", r"/tail\04"),
            (r"\011", "\t"),
        ] {
            assert_eq!(unescape(field), want);
        }
    }

    #[test]
    fn releases() {
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
    fn device_numbers_read_as_they_print() {
        for text in ["254:0", "259:1048575", "0:45"] {
            assert_eq!(text.parse::<Dev>().unwrap().to_string(), text);
        }
        assert!("254".parse::<Dev>().is_err());
        assert!("0:45".parse::<Dev>().unwrap().is_anonymous());
    }

    #[test]
    fn attributes_lose_padding_and_control_characters() {
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
        assert_eq!(attribute(dir.path().join("absent")), None);
    }
}
