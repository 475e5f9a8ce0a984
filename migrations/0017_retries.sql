-- Version 17: failed runs of repeated studies are repeated once.

PRAGMA user_version = 17;

ALTER TABLE studies ADD COLUMN retries INTEGER NOT NULL DEFAULT 0 CHECK (retries IN (0, 1)); -- 1: a failed run is repeated once

ALTER TABLE runs ADD COLUMN retry_of INTEGER; -- number of the failed run whose place this run takes; null for other runs
CREATE UNIQUE INDEX runs_by_retry ON runs (retry_of) WHERE retry_of IS NOT NULL;
DROP INDEX runs_by_study;
CREATE UNIQUE INDEX runs_by_study ON runs (study, step, repeat, coalesce(retry_of, 0)) WHERE study IS NOT NULL;
-- Failed runs are looked up whenever a run of a study ends.
CREATE INDEX failed_runs ON runs (number) WHERE study IS NOT NULL AND status IN ('failed', 'interrupted');
