-- Version 23: annotations.

PRAGMA user_version = 23;

-- Notes about moments of runs.
CREATE TABLE annotations (
    number        INTEGER PRIMARY KEY AUTOINCREMENT,                  -- never reused
    run           INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE, -- number of the run
    t_ms          REAL NOT NULL,                                      -- since the start of the run
    text          TEXT NOT NULL,                                      -- written by the user
    created_at_ms INTEGER NOT NULL                                    -- time of the request
) STRICT;
CREATE INDEX annotations_by_run ON annotations (run, t_ms);
