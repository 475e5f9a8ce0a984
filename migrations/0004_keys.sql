-- Leadline, database version 4: keys outlive what came of them.

PRAGMA user_version = 4;

-- A key outlives what came of it: a request that is tried again after its run was deleted must not run a second time.
CREATE TABLE keys_kept (
    key            TEXT PRIMARY KEY, -- as sent
    request_sha256 BLOB NOT NULL,    -- of the call and its body
    run            INTEGER NOT NULL, -- the run that came of it, or the first of a study; it may be deleted
    study          INTEGER,          -- the study that came of it
    created_at_ms  INTEGER NOT NULL  -- forgotten after a day
) STRICT;
INSERT INTO keys_kept (key, request_sha256, run, study, created_at_ms)
    SELECT key, request_sha256, run, runs.study, idempotency_keys.created_at_ms
    FROM idempotency_keys JOIN runs ON runs.number = idempotency_keys.run;
DROP TABLE idempotency_keys;
ALTER TABLE keys_kept RENAME TO idempotency_keys;
CREATE INDEX idempotency_keys_by_time ON idempotency_keys (created_at_ms);
