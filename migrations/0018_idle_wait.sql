-- Version 18: runs of a study wait until its devices are idle.

PRAGMA user_version = 18;

ALTER TABLE studies ADD COLUMN idle_wait_seconds INTEGER NOT NULL DEFAULT 0; -- maximum wait before each run; 0: no wait
