//! Arguments shared by multiple commands.

use crate::system::guard::permissions::Permissions;
use clap::Args;
use leadline_protocol::{
    job::run_spec::{RunSpec, parse_run},
    problem::Problem,
    study::{parse::parse_study, spec::StudySpec},
};
use serde_json::Value;
use std::path::PathBuf;

#[derive(Args)]
pub(crate) struct JobArgs {
    /// Job or study: JSON, a fio job file, or fio or diskspd commands; `-` for standard input
    pub job: String,
    #[command(flatten)]
    pub target: TargetArgs,
}

/// What a run is allowed to read and write.
#[derive(Args)]
pub(crate) struct TargetArgs {
    #[command(flatten)]
    pub permissions: PermissionArgs,
    /// Confirm overwriting data, with the text shown by the plan; can be repeated
    #[arg(long, value_name = "TEXT@CODE")]
    pub confirm: Vec<String>,
}

#[derive(Args)]
pub(crate) struct PermissionArgs {
    /// Only allow target files under this directory; can be repeated [default: any directory]
    #[arg(long = "target-root", value_name = "DIR")]
    pub roots: Vec<PathBuf>,
    /// Permit raw writes to the device with this identity, from `devices`; can be repeated [env:
    /// LEADLINE_ALLOW_RAW_WRITE, separated by commas]
    #[arg(long = "allow-raw-write", value_name = "IDENTITY")]
    raw_writes: Vec<String>,
    /// Device and inode number of each target root, as recorded by the server
    #[arg(long = "target-root-id", value_name = "DEV:INODE", hide = true)]
    root_ids: Vec<String>,
}

impl TargetArgs {
    /// # Errors
    /// Returns all invalid fields of the document.
    pub(crate) fn study_spec(&self, document: Value) -> Result<StudySpec, Vec<Problem>> {
        let mut spec = parse_study(document)?;
        spec.confirm.extend_from_slice(&self.confirm);
        Ok(spec)
    }

    /// # Errors
    /// Returns all invalid fields of the document.
    pub(crate) fn run_spec(&self, document: &Value) -> Result<RunSpec, Vec<Problem>> {
        let mut spec = parse_run(document)?;
        spec.confirm.extend_from_slice(&self.confirm);
        Ok(spec)
    }
}

/// Not declared as `env` in the option's attributes because an identity on the command line may
/// contain a comma.
const RAW_WRITES_VARIABLE: &str = "LEADLINE_ALLOW_RAW_WRITE";

impl PermissionArgs {
    /// # Errors
    /// `target_root_missing` or `target_root_replaced` for each unusable target root.
    pub(crate) fn resolve(&self) -> Result<Permissions, Vec<Problem>> {
        let mut raw_writes = self.raw_writes.clone();
        if raw_writes.is_empty() {
            let listed = std::env::var(RAW_WRITES_VARIABLE).unwrap_or_default();
            let identities = listed.split(',').filter(|identity| !identity.is_empty());
            raw_writes.extend(identities.map(str::to_owned));
        }
        let permissions = Permissions::new(&self.roots, &raw_writes).with_root_ids(&self.root_ids);
        match permissions.problems() {
            problems if problems.is_empty() => Ok(permissions),
            problems => Err(problems),
        }
    }
}
