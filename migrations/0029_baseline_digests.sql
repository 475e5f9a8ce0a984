-- Version 29: checksums of baselines, and checksums of values for trends that also cover the number of the run. A migration that changes a baseline must set its checksum to NULL and has_checksum to 0.

PRAGMA user_version = 29;

ALTER TABLE baselines ADD COLUMN sha256 BLOB; -- of all other columns but has_checksum, see store/baseline_digest.rs; NULL in rows of earlier versions
ALTER TABLE baselines ADD COLUMN has_checksum INTEGER NOT NULL DEFAULT 0; -- 1: a checksum has been stored. One that is missing nevertheless was removed.

-- The values are computed again from the reports, with the new checksums, while no run is active.
UPDATE runs SET fingerprint_version = 0 WHERE number IN (SELECT run FROM run_values);
