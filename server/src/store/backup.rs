//! Makes consistent backups of the database, even while the server is running.

use anyhow::{Context, Result, ensure};
use sqlx::{
    Connection,
    sqlite::{SqliteConnectOptions, SqliteConnection},
};
use std::{
    fs::{self, File},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

/// Number of pre-migration backups to keep in the database's directory.
const KEPT_BACKUPS: usize = 2;
const PRIVATE: u32 = 0o600;

/// Copies a database to a new file.
///
/// # Errors
/// The new file already exists or cannot be written, or the database cannot be read.
pub(crate) async fn copy(database: &Path, to: &Path) -> Result<()> {
    ensure!(database.exists(), "{} does not exist", database.display());
    let options = SqliteConnectOptions::new()
        .filename(database)
        .read_only(true);
    let mut connection = SqliteConnection::connect_with(&options).await?;
    let copied = copy_into(&mut connection, to).await;
    connection.close().await?;
    copied
}

/// Before a migration, copies the database to `leadline-vN.db` in the same directory.
pub(super) async fn back_up_before_migration(
    connection: &mut SqliteConnection,
    database: &Path,
    version: i64,
) -> Result<()> {
    let to = database.with_file_name(format!("leadline-v{version}.db"));
    // A previous migration may have failed and left this file.
    let _ = fs::remove_file(&to);
    copy_into(connection, &to).await?;
    tracing::info!(copy = %to.display(), "backed up the database before migrating it");
    for (_, old) in list_backups(database)?.into_iter().rev().skip(KEPT_BACKUPS) {
        fs::remove_file(old)?;
    }
    Ok(())
}

/// Creates a file that only its owner can access. A partial copy is removed.
pub(super) async fn copy_into(connection: &mut SqliteConnection, to: &Path) -> Result<()> {
    let create = File::options()
        .write(true)
        .create_new(true)
        .mode(PRIVATE)
        .open(to);
    let file = create.with_context(|| format!("cannot create {}", to.display()))?;
    let name = to.to_str().context("the path of the copy is not UTF-8")?;
    let copied = sqlx::query("VACUUM INTO ?")
        .bind(name)
        .execute(connection)
        .await;
    if let Err(error) = copied {
        let _ = fs::remove_file(to);
        return Err(error).with_context(|| format!("cannot write {}", to.display()));
    }
    file.sync_all()?;
    Ok(())
}

/// Returns the versions and paths of the backups in a database's directory, oldest first.
fn list_backups(database: &Path) -> Result<Vec<(u64, PathBuf)>> {
    let directory = database.parent().unwrap_or(Path::new("."));
    let mut found = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let version = name
            .strip_prefix("leadline-v")
            .and_then(|rest| rest.strip_suffix(".db"));
        if let Some(version) = version.and_then(|version| version.parse().ok()) {
            found.push((version, path));
        }
    }
    found.sort();
    Ok(found)
}
