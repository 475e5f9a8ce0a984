//! Opens the database file. Files from a newer version or another program are rejected and not
//! changed; older databases are migrated.

use crate::store::{
    Store, backup,
    health::Health,
    location::{self, DatabaseFile},
    migrations, schema,
};
use anyhow::{Context, Result, ensure};
use sqlx::{
    Connection,
    migrate::MigrateError,
    sqlite::{
        SqliteAutoVacuum, SqliteConnectOptions, SqliteConnection, SqliteJournalMode,
        SqlitePoolOptions, SqliteSynchronous,
    },
};
use std::{
    fs::{self, File, Permissions},
    io::ErrorKind,
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::Path,
    sync::Arc,
    time::Duration,
};
use tokio::sync::Mutex;

/// `user_version` of the newest migration.
const VERSION: i64 = 30;
/// First version with a database ID.
const ID_VERSION: i64 = 12;
/// "Lead" in ASCII, set by the first migration.
const APPLICATION_ID: i64 = 0x4C65_6164;
/// Enough for a page with all its charts. More readers would compete with measurements for CPU
/// time.
const READERS: u32 = 4;
/// <https://www.sqlite.org/rescode.html>
const SQLITE_CORRUPT: u32 = 11;
const SQLITE_NOTADB: u32 = 26;
const PRIVATE: u32 = 0o600;
/// Longer waits occur only if another process holds the lock. Events are then spooled. The timeout
/// is short enough to also spool events during the five-second shutdown.
const BUSY_TIMEOUT: Duration = Duration::from_secs(1);

impl Store {
    /// Opens the database, creating it if necessary.
    pub(crate) async fn open(path: &Path) -> Result<Self> {
        let store = Self::try_open(path).await;
        store.map_err(|error| {
            let mut text = format!("cannot open {}", path.display());
            if needs_backup(&error) {
                let data_dir = path.parent().unwrap_or(path);
                text += &format!(
                    ". Use the version of leadline that wrote it, or restore a backup{}. The file was not changed",
                    location::describe_backups(data_dir)
                );
            }
            error.context(text)
        })
    }

    async fn try_open(path: &Path) -> Result<Self> {
        let data_dir = path.parent().context("the path has no directory")?;
        let header = match std::fs::metadata(path) {
            Ok(_) => read_header(path).await?,
            Err(_) => Header::default(),
        };
        check_header(&header)?;
        if header.version == 0 {
            location::check_unused(data_dir, path)?;
        }
        location::check_marker(data_dir, header.id.as_deref())?;
        make_private(path)?;
        let options = writer_options(path);
        let mut writer = SqliteConnection::connect_with(&options).await?;
        if (1..VERSION).contains(&header.version) {
            backup::back_up_before_migration(&mut writer, path, header.version).await?;
        }
        migrations::run(&mut writer).await?;
        schema::check(&mut writer).await?;
        let id: String = sqlx::query_scalar("SELECT id FROM database")
            .fetch_one(&mut writer)
            .await?;
        location::write_marker(data_dir, &id);
        // Keep connections open, so they use the same file even if it is replaced.
        let readers = SqlitePoolOptions::new()
            .min_connections(READERS)
            .max_connections(READERS)
            .idle_timeout(None)
            .max_lifetime(None)
            .connect_with(common_options(path).read_only(true))
            .await?;
        Ok(Self {
            writer: Arc::new(Mutex::new(Some(writer))),
            writer_options: options,
            readers,
            health: Arc::new(Health::new(DatabaseFile::new(path)?)),
            id: id.into(),
            spool_dir: location::spool_dir(data_dir).into(),
            verified: Arc::default(),
        })
    }
}

/// Whether the error means that the file is damaged, or that its migrations do not match this
/// program.
fn needs_backup(error: &anyhow::Error) -> bool {
    let is_damaged = |code: &str| {
        let code: u32 = code.parse().unwrap_or(0);
        matches!(code & 0xFF, SQLITE_CORRUPT | SQLITE_NOTADB)
    };
    error.chain().any(|cause| {
        let database = cause
            .downcast_ref::<sqlx::Error>()
            .and_then(sqlx::Error::as_database_error);
        cause.is::<MigrateError>()
            || database.is_some_and(|error| error.code().is_some_and(|code| is_damaged(&code)))
    })
}

/// Makes the database files accessible only to their owner. SQLite creates other files with the
/// mode of the database file.
fn make_private(path: &Path) -> Result<()> {
    File::options()
        .append(true)
        .create(true)
        .mode(PRIVATE)
        .open(path)?;
    for suffix in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        match fs::set_permissions(&name, Permissions::from_mode(PRIVATE)) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
    }
    Ok(())
}

/// Properties of a file before it is changed; all zero if it is missing or empty.
#[derive(Default)]
struct Header {
    version: i64,
    application_id: i64,
    /// `None` for versions before `ID_VERSION`.
    id: Option<String>,
}

fn check_header(header: &Header) -> Result<()> {
    let Header {
        version,
        application_id,
        ..
    } = *header;
    // If the first migration was interrupted, SQLite leaves an empty file.
    if (version, application_id) == (0, 0) {
        return Ok(());
    }
    ensure!(
        application_id == APPLICATION_ID,
        "it belongs to another program. Use another --data-dir. The file was not changed"
    );
    ensure!(
        version <= VERSION,
        "it has version {version}, but this program supports versions up to {VERSION}. Use a newer leadline or another --data-dir. The file was not changed"
    );
    Ok(())
}

/// Reads the header without creating files in the database's directory.
async fn read_header(path: &Path) -> sqlx::Result<Header> {
    // `immutable` makes SQLite ignore the write-ahead log.
    let log = std::fs::metadata(location::log_path(path));
    let has_log = log.is_ok_and(|log| log.len() > 0);
    let options = SqliteConnectOptions::new()
        .filename(path)
        .read_only(true)
        .immutable(!has_log);
    let mut connection = SqliteConnection::connect_with(&options).await?;
    let (version, application_id) = sqlx::query_as(
        "SELECT user_version, application_id FROM pragma_user_version, pragma_application_id",
    )
    .fetch_one(&mut connection)
    .await?;
    let has_id = application_id == APPLICATION_ID && (ID_VERSION..=VERSION).contains(&version);
    let id = if has_id {
        let id = sqlx::query_scalar("SELECT id FROM database");
        id.fetch_optional(&mut connection).await?
    } else {
        None
    };
    connection.close().await?;
    Ok(Header {
        version,
        application_id,
        id,
    })
}

fn common_options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .busy_timeout(BUSY_TIMEOUT)
        .pragma("mmap_size", (256 * 1024 * 1024).to_string())
        .pragma("cache_size", "-16384")
        .pragma("temp_store", "MEMORY")
}

fn writer_options(path: &Path) -> SqliteConnectOptions {
    common_options(path)
        .create_if_missing(false)
        .auto_vacuum(SqliteAutoVacuum::Incremental)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .pragma("journal_size_limit", (64 * 1024 * 1024).to_string())
}
