//! Schema migrations.

use sqlx::{
    Connection, SqlSafeStr,
    migrate::{MigrateError, Migration, MigrationType, Migrator},
    sqlite::SqliteConnection,
};
use std::sync::LazyLock;

/// The files in `migrations/`, in order. This is a list instead of `sqlx::migrate!`, because the
/// macro compiles sqlx and SQLite a second time.
const FILES: [(&str, &str); 30] = [
    ("runs", include_str!("../../../migrations/0001_runs.sql")),
    (
        "studies",
        include_str!("../../../migrations/0002_studies.sql"),
    ),
    (
        "own files",
        include_str!("../../../migrations/0003_own_files.sql"),
    ),
    ("keys", include_str!("../../../migrations/0004_keys.sql")),
    (
        "vocabulary",
        include_str!("../../../migrations/0005_vocabulary.sql"),
    ),
    (
        "deleted runs",
        include_str!("../../../migrations/0006_deleted_runs.sql"),
    ),
    (
        "rollups",
        include_str!("../../../migrations/0007_rollups.sql"),
    ),
    (
        "sample chunks",
        include_str!("../../../migrations/0008_sample_chunks.sql"),
    ),
    (
        "confirmations",
        include_str!("../../../migrations/0009_confirmations.sql"),
    ),
    (
        "sessions",
        include_str!("../../../migrations/0010_sessions.sql"),
    ),
    (
        "digests",
        include_str!("../../../migrations/0011_digests.sql"),
    ),
    (
        "store faults",
        include_str!("../../../migrations/0012_store_faults.sql"),
    ),
    (
        "comparisons",
        include_str!("../../../migrations/0013_comparisons.sql"),
    ),
    (
        "fingerprint versions",
        include_str!("../../../migrations/0014_fingerprint_versions.sql"),
    ),
    (
        "trends",
        include_str!("../../../migrations/0015_trends.sql"),
    ),
    (
        "until decided",
        include_str!("../../../migrations/0016_until_decided.sql"),
    ),
    (
        "retries",
        include_str!("../../../migrations/0017_retries.sql"),
    ),
    (
        "idle wait",
        include_str!("../../../migrations/0018_idle_wait.sql"),
    ),
    (
        "procedures",
        include_str!("../../../migrations/0019_procedures.sql"),
    ),
    (
        "schedules",
        include_str!("../../../migrations/0020_schedules.sql"),
    ),
    (
        "webhooks",
        include_str!("../../../migrations/0021_webhooks.sql"),
    ),
    (
        "thresholds",
        include_str!("../../../migrations/0022_thresholds.sql"),
    ),
    (
        "annotations",
        include_str!("../../../migrations/0023_annotations.sql"),
    ),
    (
        "study digests",
        include_str!("../../../migrations/0024_study_digests.sql"),
    ),
    (
        "foreign results",
        include_str!("../../../migrations/0025_foreign_results.sql"),
    ),
    (
        "run digests",
        include_str!("../../../migrations/0026_run_digests.sql"),
    ),
    (
        "final digests",
        include_str!("../../../migrations/0027_final_digests.sql"),
    ),
    (
        "study contents",
        include_str!("../../../migrations/0028_study_contents.sql"),
    ),
    (
        "baseline digests",
        include_str!("../../../migrations/0029_baseline_digests.sql"),
    ),
    (
        "foreign run digests",
        include_str!("../../../migrations/0030_foreign_run_digests.sql"),
    ),
];

static MIGRATIONS: LazyLock<Migrator> = LazyLock::new(|| {
    let numbered = (1..).zip(FILES);
    let migrations = numbered.map(|(version, (description, sql))| {
        let kind = MigrationType::Simple;
        Migration::new(version, description.into(), kind, sql.into_sql_str(), false)
    });
    Migrator::with_migrations(migrations.collect())
});

/// SHA-384 checksums of migrations 1 to 4 before their comments were edited. sqlx hashes whole
/// files and rejects a database if an applied migration differs.
const FORMER_CHECKSUMS: [&str; 4] = [
    "D408F2CAC3C66A19FA07D4983C8539867752DE445F3B6ACD960F5E2C317205A6ACA5B1B769152CBEB69BC9E3449FAFDB",
    "D2ACB4AA4D415C25C43E254CEF041BCBD3DDACA32FD45E2AC23EDC8AA7C611A62CA18A338E37D9C550E7F21111CDE999",
    "008DB0ADEE3C7DF2A9D3A5C188D376F5B01F700E101B8A95A2EDB193DEA27BDBC4067BD56CDFE244BE920557CBFB07DD",
    "AFBE31FBD1E81B0C05807F3B13231EE9EC758733C10B073A8E3EC296B5571C3908EBA2F1F856B04F16440BC14297F7F4",
];

pub(super) async fn run(connection: &mut SqliteConnection) -> Result<(), MigrateError> {
    update_checksums(connection).await?;
    MIGRATIONS.run(connection).await
}

/// Replaces former checksums with current ones.
async fn update_checksums(connection: &mut SqliteConnection) -> sqlx::Result<()> {
    let mut transaction = connection.begin().await?;
    let applied = sqlx::query("SELECT 1 FROM sqlite_schema WHERE name = '_sqlx_migrations'")
        .fetch_optional(&mut *transaction)
        .await?;
    if applied.is_none() {
        return Ok(());
    }
    for (migration, former) in MIGRATIONS.iter().zip(FORMER_CHECKSUMS) {
        sqlx::query("UPDATE _sqlx_migrations SET checksum = ? WHERE hex(checksum) = ?")
            .bind(&*migration.checksum)
            .bind(former)
            .execute(&mut *transaction)
            .await?;
    }
    transaction.commit().await
}

#[cfg(test)]
mod tests {
    use super::{FILES, MIGRATIONS};
    use sqlx::migrate::resolve_blocking;
    use std::path::Path;

    #[test]
    fn every_migration_file_is_listed() {
        let files = resolve_blocking(Path::new("../migrations")).unwrap();
        assert_eq!(files.len(), FILES.len());
        for (listed, (file, _)) in MIGRATIONS.iter().zip(files) {
            assert_eq!(
                (listed.version, &listed.description, &listed.checksum),
                (file.version, &file.description, &file.checksum)
            );
        }
    }
}
