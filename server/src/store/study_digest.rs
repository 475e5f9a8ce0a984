//! Checksums of studies and of looks at them, to detect silent data corruption. See `digest` for
//! checksums of results.

use anyhow::Result;
use sha2::{Digest, Sha256};
use sqlx::{AssertSqlSafe, Row, SqliteConnection, query, query_scalar, sqlite::SqliteRow};

/// A stored study that does not match its checksum or cannot be read.
#[derive(Clone, Debug, thiserror::Error)]
#[error(
    "The stored data of study #{study} is damaged: {cause}. Restore the database from a backup, or delete the study."
)]
pub(crate) struct DamagedStudy {
    pub study: u64,
    pub cause: Damage,
}

#[derive(Clone, Copy, Debug, strum::Display)]
pub(crate) enum Damage {
    #[strum(to_string = "its row does not match its checksum")]
    Row,
    #[strum(to_string = "its row cannot be read")]
    UnreadableRow,
    #[strum(to_string = "an interim look does not match its checksum")]
    Look,
    #[strum(to_string = "an interim look cannot be read")]
    UnreadableLook,
    #[strum(to_string = "its row is missing")]
    MissingRow,
    #[strum(to_string = "an interim look is missing")]
    MissingLook,
    #[strum(to_string = "it has an interim look that was not stored by Leadline")]
    ExtraLook,
    #[strum(to_string = "a checksum is missing")]
    MissingChecksum,
    #[strum(to_string = "run #{0} is missing")]
    MissingRun(u64),
    #[strum(to_string = "its number of interim looks is missing")]
    MissingContents,
}

/// A table whose rows have a checksum.
pub(super) struct Table {
    name: &'static str,
    key: &'static str,
    /// All columns except `sha256`.
    columns: &'static [&'static str],
}

pub(super) const STUDIES: Table = Table {
    name: "studies",
    key: "number = ?",
    columns: &[
        "number",
        "name",
        "created_at_ms",
        "continue_on_failure",
        "file_id",
        "description",
        "scaled",
        "steps",
        "owned_files",
        "order_seed",
        "until_decided",
        "retries",
        "idle_wait_seconds",
        "procedure",
        "ended",
    ],
};

pub(super) const LOOKS: Table = Table {
    name: "study_looks",
    key: "study = ? AND pairs = ?",
    columns: &["study", "pairs", "at_ms", "decided", "look"],
};

impl Table {
    /// A query that returns all columns of the rows, and the bytes that the checksum covers.
    pub(super) fn select(&self, conditions: &str) -> AssertSqlSafe<String> {
        let (name, content) = (self.name, self.content());
        AssertSqlSafe(format!(
            "SELECT *, {content} AS content FROM {name} {conditions}"
        ))
    }

    /// `quote` distinguishes null from text; commas separate the values.
    fn content(&self) -> String {
        let columns = self.columns.iter();
        let quoted: Vec<String> = columns.map(|column| format!("quote({column})")).collect();
        format!("CAST({} AS BLOB)", quoted.join(" || ',' || "))
    }

    /// Stores the checksum of a row that the transaction has inserted.
    pub(super) async fn store(
        &self,
        connection: &mut SqliteConnection,
        key: &[u64],
    ) -> sqlx::Result<()> {
        self.write(connection, key, self.key).await
    }

    /// Stores the checksum of a row that the transaction has changed. Rows from earlier versions do
    /// not get a checksum, because it would make data that may already be damaged look intact.
    pub(super) async fn update(
        &self,
        connection: &mut SqliteConnection,
        key: &[u64],
    ) -> sqlx::Result<()> {
        let condition = format!("{} AND sha256 IS NOT NULL", self.key);
        self.write(connection, key, &condition).await
    }

    async fn write(
        &self,
        connection: &mut SqliteConnection,
        key: &[u64],
        condition: &str,
    ) -> sqlx::Result<()> {
        let (name, content) = (self.name, self.content());
        let select = format!("SELECT {content} FROM {name} WHERE {condition}");
        let mut content = query_scalar(AssertSqlSafe(select));
        for value in key {
            content = content.bind(value.cast_signed());
        }
        let content: Option<Vec<u8>> = content.fetch_optional(&mut *connection).await?;
        let Some(content) = content else {
            return Ok(());
        };
        let update = format!("UPDATE {name} SET sha256 = ? WHERE {condition}");
        let mut update = query(AssertSqlSafe(update)).bind(checksum(&content).to_vec());
        for value in key {
            update = update.bind(value.cast_signed());
        }
        update.execute(connection).await?;
        Ok(())
    }
}

/// Whether a row of `Table::select` matches its checksum. Rows without a checksum are not checked.
pub(super) fn is_intact(row: &SqliteRow) -> sqlx::Result<bool> {
    let stored: Option<&[u8]> = row.try_get("sha256")?;
    let content: &[u8] = row.try_get("content")?;
    Ok(stored.is_none_or(|stored| stored == checksum(content)))
}

/// Logs that a study is damaged. Callers continue with the other studies.
pub(crate) fn log_damaged(result: Result<()>) -> Result<()> {
    match result {
        Err(error) if error.is::<DamagedStudy>() => {
            tracing::error!("{error}");
            Ok(())
        }
        result => result,
    }
}

fn checksum(content: &[u8]) -> [u8; 32] {
    Sha256::digest(content).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::migrations;
    use sqlx::Connection;

    #[tokio::test]
    async fn checksums_cover_all_columns() {
        let mut database = SqliteConnection::connect(":memory:").await.unwrap();
        migrations::run(&mut database).await.unwrap();
        for table in [STUDIES, LOOKS] {
            let sql = "SELECT name FROM pragma_table_info(?) WHERE name <> 'sha256'";
            let columns: Vec<String> = query_scalar(sql)
                .bind(table.name)
                .fetch_all(&mut database)
                .await
                .unwrap();
            let mut covered = table.columns.to_vec();
            covered.sort_unstable();
            let mut columns: Vec<&str> = columns.iter().map(String::as_str).collect();
            columns.sort_unstable();
            assert_eq!(covered, columns);
        }
    }
}
