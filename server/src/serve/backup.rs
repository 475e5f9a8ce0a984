//! `leadline backup`: copies the database. The server may be running.

use crate::{config::DataDir, store::backup::copy};
use anyhow::Context;
use clap::Args;
use std::{io::Write, path::PathBuf};

#[derive(Args, Clone, Debug)]
pub struct BackupArgs {
    /// File to create
    file: PathBuf,
    #[command(flatten)]
    data: DataDir,
}

/// Writes the copy and prints its size.
///
/// # Errors
/// The file already exists or cannot be written, or the database cannot be read.
pub async fn backup(args: BackupArgs) -> anyhow::Result<()> {
    let database = args.data.dir.join("leadline.db");
    let copied = copy(&database, &args.file).await;
    copied.with_context(|| format!("cannot copy {}", database.display()))?;
    let bytes = std::fs::metadata(&args.file)?.len();
    writeln!(std::io::stderr(), "{}: {bytes} bytes", args.file.display())?;
    Ok(())
}
