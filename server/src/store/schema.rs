//! Checks at startup that no table or column is missing. Otherwise, such damage would be noticed
//! only when a request needs the missing data.

use crate::store::migrations;
use anyhow::{Result, ensure};
use sqlx::{Connection, SqliteConnection, query_as};
use std::collections::BTreeSet;

/// Table and column.
type Column = (String, String);

/// # Errors
/// A table or column of the newest version is missing.
pub(super) async fn check(database: &mut SqliteConnection) -> Result<()> {
    let mut empty = SqliteConnection::connect("sqlite::memory:").await?;
    migrations::run(&mut empty).await?;
    let (expected, found) = (columns(&mut empty).await?, columns(database).await?);
    let missing: Vec<String> = expected
        .difference(&found)
        .map(|(table, column)| format!("{table}.{column}"))
        .collect();
    ensure!(
        missing.is_empty(),
        "it is damaged: {} is missing. Restore a backup",
        missing.join(", ")
    );
    Ok(())
}

async fn columns(database: &mut SqliteConnection) -> sqlx::Result<BTreeSet<Column>> {
    let sql = "SELECT schema.name, info.name FROM sqlite_schema AS schema, pragma_table_info(schema.name) AS info
        WHERE schema.type = 'table' AND schema.name NOT LIKE 'sqlite_%'";
    let columns: Vec<Column> = query_as(sql).fetch_all(database).await?;
    Ok(columns.into_iter().collect())
}
