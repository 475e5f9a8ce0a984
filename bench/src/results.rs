//! Prints and writes the results of all cells: one JSON file per cell, and a table.

use crate::{cell::Cell, host::Host, record::Record, table};
use anyhow::Result;
use serde::Serialize;
use std::{
    fs,
    path::{Path, PathBuf},
};

pub struct Results {
    folder: PathBuf,
    host: Host,
    records: Vec<Record>,
    skipped: Vec<String>,
}

impl Results {
    pub fn new(folder: &Path, host: Host) -> Result<Self> {
        fs::create_dir_all(folder)?;
        Ok(Self {
            folder: folder.to_owned(),
            host,
            records: Vec::new(),
            skipped: Vec::new(),
        })
    }

    pub fn add(&mut self, record: Record) -> Result<()> {
        #[derive(Serialize)]
        struct ResultFile<'a> {
            host: &'a Host,
            #[serde(flatten)]
            record: &'a Record,
        }
        table::print(&record)?;
        let text = serde_json::to_string_pretty(&ResultFile {
            host: &self.host,
            record: &record,
        })?;
        fs::write(
            self.folder.join(format!("{}.json", record.cell.name)),
            text + "\n",
        )?;
        self.records.push(record);
        Ok(())
    }

    pub fn skip(&mut self, cell: &Cell, reason: &str) -> Result<()> {
        let line = format!("{} skipped: {reason}", cell.name);
        table::line(&format!("[bench] {line}"))?;
        self.skipped.push(line);
        Ok(())
    }

    pub fn finish(&self) -> Result<()> {
        let path = self.folder.join("table.md");
        fs::write(
            &path,
            table::markdown(&self.host, &self.records, &self.skipped),
        )?;
        table::line(&format!("[bench] wrote {}", path.display()))
    }
}
