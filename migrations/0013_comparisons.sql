-- Version 13: repeated steps of studies, and fingerprints of runs.

PRAGMA user_version = 13;

-- Repeat of the step, from 1; null outside of studies. Runs of a study with the same repeat are a block.
ALTER TABLE runs ADD COLUMN repeat INTEGER;
UPDATE runs SET repeat = 1 WHERE study IS NOT NULL;
-- The runs of a study are in the order of their numbers.
DROP INDEX runs_by_study;
CREATE UNIQUE INDEX runs_by_study ON runs (study, step, repeat) WHERE study IS NOT NULL;

ALTER TABLE studies ADD COLUMN order_seed INTEGER; -- determines the order of repeated steps; null for earlier versions

ALTER TABLE runs ADD COLUMN job_fingerprint TEXT;  -- equal for runs of the same test (compare/src/fingerprint.rs); null without a result
ALTER TABLE runs ADD COLUMN host_fingerprint TEXT; -- of hardware, kernel, filesystem and device; null without a result
CREATE INDEX runs_by_job ON runs (job_fingerprint, host, number) WHERE job_fingerprint IS NOT NULL;
