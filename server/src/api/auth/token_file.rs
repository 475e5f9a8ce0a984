//! The access token, stored in a file in the data directory.

use anyhow::Context;
use rand::{TryRng, rngs::SysRng};
use std::{
    fs::{self, OpenOptions, Permissions},
    io::{ErrorKind, Write},
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::Path,
};

/// 128 bits of randomness.
const RANDOM_BYTES: usize = 16;
/// File mode: only the owner can read and write.
const MODE: u32 = 0o600;

/// Whether the token can be used in headers, cookies and URLs without escaping.
pub(crate) fn is_valid_token(token: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    !token.is_empty() && token.bytes().all(allowed)
}

/// Reads the token, or creates the file with a random one.
pub(crate) fn load_or_create(path: &Path) -> anyhow::Result<String> {
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return create(path).with_context(|| format!("writing {}", path.display()));
        }
        text => text.with_context(|| format!("reading {}", path.display()))?,
    };
    let token = text.trim();
    anyhow::ensure!(
        is_valid_token(token),
        "{} does not contain a valid token: remove the file to create a new one",
        path.display()
    );
    fs::set_permissions(path, Permissions::from_mode(MODE))
        .with_context(|| format!("restricting access to {}", path.display()))?;
    Ok(token.to_owned())
}

fn create(path: &Path) -> anyhow::Result<String> {
    let mut random = [0; RANDOM_BYTES];
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
    fn token_is_created_once_and_readable_only_by_the_owner() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("token");
        let token = load_or_create(&path).unwrap();
        assert_eq!((token.len(), is_valid_token(&token)), (32, true));
        assert_eq!(load_or_create(&path).unwrap(), token);
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
        assert_ne!(
            load_or_create(&directory.path().join("other")).unwrap(),
            token
        );
        fs::write(&path, "no; token\n").unwrap();
        assert!(load_or_create(&path).is_err());
    }
}
