-- Version 4: idempotency keys are kept when their run is deleted.

PRAGMA user_version = 4;

-- No foreign key to runs: a request repeated after the deletion of its run must not create a second one.
CREATE TABLE keys_kept (
    key            TEXT PRIMARY KEY, -- as sent
    request_sha256 BLOB NOT NULL,    -- hash of method, path and body
    run            INTEGER NOT NULL, -- created run, or first run of the created study; may be deleted
    study          INTEGER,          -- created study
    created_at_ms  INTEGER NOT NULL  -- deleted after a day
) STRICT;
INSERT INTO keys_kept (key, request_sha256, run, study, created_at_ms)
    SELECT key, request_sha256, run, runs.study, idempotency_keys.created_at_ms
    FROM idempotency_keys JOIN runs ON runs.number = idempotency_keys.run;
DROP TABLE idempotency_keys;
ALTER TABLE keys_kept RENAME TO idempotency_keys;
CREATE INDEX idempotency_keys_by_time ON idempotency_keys (created_at_ms);
