//! `leadline backup`: copies the database, also while the server runs.

use crate::store::backup::copy;
use anyhow::Context;
use clap::Args;
use std::{io::Write, path::PathBuf};

#[derive(Args, Clone, Debug)]
pub struct BackupArgs {
    /// The file to write, which must not exist
    file: PathBuf,
    /// Data directory of the server
    #[arg(
        long,
        env = "LEADLINE_DATA_DIR",
        value_name = "DIR",
        default_value = "var"
    )]
    data_dir: PathBuf,
}

/// Writes the copy and prints its size.
///
/// # Errors
/// The file exists, or one of the two cannot be read or written.
pub async fn backup(args: BackupArgs) -> anyhow::Result<()> {
    let database = args.data_dir.join("leadline.db");
    let copied = copy(&database, &args.file).await;
    copied.with_context(|| format!("cannot copy {}", database.display()))?;
    let bytes = std::fs::metadata(&args.file)?.len();
    writeln!(std::io::stderr(), "{}: {bytes} bytes", args.file.display())?;
    Ok(())
}
