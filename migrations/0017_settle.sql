-- Version 17: runs of a study wait until the host is settled.

PRAGMA user_version = 17;

ALTER TABLE studies ADD COLUMN settle_seconds INTEGER NOT NULL DEFAULT 0; -- maximum wait before each run; 0: no wait
