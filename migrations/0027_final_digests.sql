-- Version 27: checksums of what is stored when a run ends, and which checksums each run has. A migration that changes the covered columns must set the checksum to NULL and remove its bit.

PRAGMA user_version = 27;

ALTER TABLE run_details ADD COLUMN final_sha256 BLOB; -- see store/run_digest.rs; NULL until the run has ended, and in rows of earlier versions
ALTER TABLE run_details ADD COLUMN checksums INTEGER NOT NULL DEFAULT 0; -- sum of: 1 run_sha256, 2 result_sha256, 4 summary_sha256, 8 final_sha256. A checksum that is missing nevertheless was removed.

UPDATE run_details SET checksums = (run_sha256 IS NOT NULL) + 2 * (result_sha256 IS NOT NULL) + 4 * (summary_sha256 IS NOT NULL);

-- An export of Leadline in fio's format that was imported again. SQLite cannot change the constraint of a column.
ALTER TABLE runs RENAME COLUMN source TO source_25;
ALTER TABLE runs ADD COLUMN source TEXT NOT NULL DEFAULT 'leadline' CHECK (source IN ('leadline', 'fio', 'leadline_export'));
UPDATE runs SET source = source_25 WHERE source_25 != 'leadline';
ALTER TABLE runs DROP COLUMN source_25;
