-- Version 9: runs that overwrite data.

PRAGMA user_version = 9;

ALTER TABLE run_details ADD COLUMN confirm TEXT; -- JSON array of TEXT@CODE, of runs that overwrite data that Leadline did not write

-- Confirmations of the last day. Each starts one run or study.
CREATE TABLE used_confirmations (
    code       TEXT PRIMARY KEY, -- TEXT@CODE
    used_at_ms INTEGER NOT NULL  -- time of the request that used it
) STRICT, WITHOUT ROWID;
