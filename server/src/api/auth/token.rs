//! The token: 128 random bits, made once and kept in a file that only its owner may read.

use anyhow::Context;
use rand::TryRng;
use rand::rngs::SysRng;
use std::fs::{self, OpenOptions, Permissions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// Bytes of randomness: more than anybody can guess.
const RANDOM: usize = 16;
/// Only its owner may read it.
const MODE: u32 = 0o600;

/// Whether a text may be a token: it must fit into a header, a cookie and a link as it is.
pub fn is_plain(token: &str) -> bool {
    !token.is_empty()
        && token
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte))
}

/// The token in this file; a new one where there is no file.
///
/// # Errors
/// The file cannot be read or written, or holds no token.
pub fn load_or_make(path: &Path) -> anyhow::Result<String> {
    match fs::read_to_string(path) {
        Ok(text) => {
            let token = text.trim();
            anyhow::ensure!(
                is_plain(token),
                "{} holds no token: remove it, and a new one is made",
                path.display()
            );
            fs::set_permissions(path, Permissions::from_mode(MODE))
                .with_context(|| format!("protecting {}", path.display()))?;
            Ok(token.to_owned())
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            make(path).with_context(|| format!("writing {}", path.display()))
        }
        Err(error) => Err(error).with_context(|| format!("reading {}", path.display())),
    }
}

fn make(path: &Path) -> anyhow::Result<String> {
    let mut random = [0; RANDOM];
    SysRng.try_fill_bytes(&mut random)?;
    let token: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(MODE)
        .open(path)?;
    writeln!(file, "{token}")?;
    file.sync_all()?;
    Ok(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_made_once_and_only_its_owner_may_read_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("token");
        let token = load_or_make(&path).unwrap();
        assert_eq!((token.len(), is_plain(&token)), (32, true));
        assert_eq!(load_or_make(&path).unwrap(), token);
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
        assert_ne!(
            load_or_make(&directory.path().join("other")).unwrap(),
            token
        );
        fs::write(&path, "no; token\n").unwrap();
        assert!(load_or_make(&path).is_err());
    }
}
