//! A file of random data.

use super::interface::Target;
use crate::work::Work;
use anyhow::{Context, Result};
use rand::{Rng, SeedableRng, rngs::Xoshiro256PlusPlus};
use rustix::fs::{Advice, fadvise};
use std::{
    fs::File,
    io::{Read, Write},
    path::{Path, PathBuf},
};

const MIB: usize = 1024 * 1024;

pub struct DataFile(PathBuf);

impl DataFile {
    pub fn new(path: &Path, mib: u64) -> Result<Self> {
        let target = Self(path.to_owned());
        let mut file = File::create(path)?;
        fill(&mut file, mib).with_context(|| format!("writing {}", path.display()))?;
        file.sync_all()?;
        Ok(target)
    }
}

impl Target for DataFile {
    fn path(&self) -> &Path {
        &self.0
    }

    fn prepare(&self, work: &Work) -> Result<()> {
        let mut file = File::open(&self.0)?;
        if work.direct {
            return Ok(fadvise(&file, 0, None, Advice::DontNeed)?);
        }
        let mut piece = vec![0; MIB];
        while file.read(&mut piece)? > 0 {}
        Ok(())
    }
}

impl Drop for DataFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Writes incompressible data.
pub fn fill(file: &mut File, mib: u64) -> Result<()> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(mib);
    let mut piece = vec![0; MIB];
    for _ in 0..mib {
        rng.fill_bytes(&mut piece);
        file.write_all(&piece)?;
    }
    Ok(())
}
