//! The `--output` file, which is written instead of standard output.

use leadline_protocol::problem::Problem;
use std::{
    fmt::Display,
    fs::{self, File},
    io::{self, Read, Seek},
    os::unix::fs::FileTypeExt,
};

/// Number of bytes to search for a result at the start of an existing file; warnings may precede
/// the result.
const HEAD_BYTES: u64 = 64 << 10;

/// A file that replaces standard output. It is not truncated until output is written, so a rejected
/// run does not destroy an earlier result.
pub(super) struct OutputFile<'a> {
    path: &'a str,
    file: File,
}

impl<'a> OutputFile<'a> {
    /// # Errors
    /// The file cannot be written, or exists and is not an earlier result, such as a job file, a
    /// filesystem image or a target.
    pub(super) fn open(path: &'a str) -> Result<Self, Problem> {
        if let Ok(found) = fs::metadata(path) {
            if found.file_type().is_block_device() {
                return Err(unwritable_file(path, "it is a block device"));
            }
            let is_replaced = found.is_file() && found.len() > 0;
            if is_replaced && !is_result(path).map_err(|error| unwritable_file(path, error))? {
                return Err(unwritable_file(path, "it exists and is not a result"));
            }
        }
        let mut options = File::options();
        options.write(true).create(true).truncate(false);
        let opened = options.open(path).and_then(|file| {
            rustix::stdio::dup2_stdout(&file)?;
            Ok(Self { path, file })
        });
        opened.map_err(|error| unwritable_file(path, error))
    }

    /// Truncates an earlier, longer result.
    pub(super) fn finish(mut self) -> Result<(), Problem> {
        let mut truncate = || match self.file.metadata()?.is_file() {
            true => match self.file.stream_position()? {
                0 => Ok(()),
                written => self.file.set_len(written),
            },
            false => Ok(()),
        };
        truncate().map_err(|error: io::Error| unwritable_file(self.path, error))
    }
}

/// Whether a file contains output from fio or from this program.
fn is_result(path: &str) -> io::Result<bool> {
    let mut head = Vec::new();
    File::open(path)?.take(HEAD_BYTES).read_to_end(&mut head)?;
    Ok(has_result(&String::from_utf8_lossy(&head)))
}

/// JSON, terse or normal output. fio prints a JSON object at the start of a line.
fn has_result(text: &str) -> bool {
    text.lines().any(|line| {
        let is_terse = line.split_once(';').is_some_and(|(version, rest)| {
            version.parse::<u8>().is_ok() && rest.starts_with("fio-")
        });
        let is_normal = line.contains(": (groupid=") || line.contains(": (g=");
        is_terse || is_normal || line.trim_start().starts_with("\"fio version\"")
    })
}

fn unwritable_file(path: &str, reason: impl Display) -> Problem {
    let detail = format!("{path} cannot be written: {reason}.");
    let remedy = "Use another path, or remove the file first.";
    Problem::invalid("output_file", "--output", detail, remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_recognized() {
        for result in [
            "{\n  \"fio version\" : \"fio-3.33\",\n",
            "fio: a warning\n{\n  \"fio version\" : \"fio-3.33\",\n",
            "3;fio-3.33;a;0;0;",
            "a: (g=0): rw=read, bs=(R) 4096B-4096B\n",
            "\na: (groupid=0, jobs=1): err= 0: pid=0: Fri\n",
        ] {
            assert!(has_result(result), "{result}");
        }
        for other in [
            "",
            "[global]\nrw=read\n[a]\n",
            "\0\0\0\0",
            "{\"jobs\": []}",
            "3;other",
        ] {
            assert!(!has_result(other), "{other}");
        }
    }

    #[test]
    fn other_files_are_not_opened() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("image");
        fs::write(&path, [0; 4096]).unwrap();
        let problem = OutputFile::open(path.to_str().unwrap()).err().unwrap();
        assert!(problem.detail.contains("not a result"), "{problem:?}");
        assert_eq!(fs::read(&path).unwrap(), [0; 4096]);
    }
}
