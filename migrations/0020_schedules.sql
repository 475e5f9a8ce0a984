-- Version 20: schedules.

PRAGMA user_version = 20;

-- Runs and studies that start at regular times.
CREATE TABLE schedules (
    number           INTEGER PRIMARY KEY AUTOINCREMENT,           -- never reused
    name             TEXT NOT NULL,                               -- chosen by the user
    cron             TEXT NOT NULL,                               -- cron expression with five fields
    time_zone        TEXT NOT NULL,                               -- name in the IANA database
    document         TEXT NOT NULL,                               -- JSON: body of POST /runs or POST /studies
    tags             TEXT NOT NULL,                               -- JSON array: further tags of all runs
    quiet_hours      TEXT NOT NULL,                               -- JSON array of {from, to}, local times
    enabled          INTEGER NOT NULL CHECK (enabled IN (0, 1)),  -- 0: due times are ignored
    created_at_ms    INTEGER NOT NULL,                            -- time of the request
    handled_until_ms INTEGER NOT NULL                             -- due times up to this time have been handled
) STRICT;

-- Due times and their results. A due time is stored before its run is queued, so that it never starts twice.
CREATE TABLE schedule_starts (
    id          INTEGER PRIMARY KEY,                                -- order of the decisions
    schedule    INTEGER NOT NULL REFERENCES schedules (number) ON DELETE CASCADE, -- number of the schedule
    due_at_ms   INTEGER NOT NULL,                                   -- the due time, or the last of several
    decided_ms  INTEGER NOT NULL,                                   -- when it was handled
    count       INTEGER NOT NULL,                                   -- number of due times
    result      TEXT NOT NULL,                                      -- StartResult
    reason      TEXT,                                               -- why it did not start, or started late
    is_catch_up INTEGER NOT NULL CHECK (is_catch_up IN (0, 1)),     -- 1: missed, and started later
    run         INTEGER,                                            -- number of the run, which may be deleted
    study       INTEGER,                                            -- number of the study, which may be deleted
    status      TEXT,                                               -- final status of the run or study; null until it has ended
    UNIQUE (schedule, due_at_ms)
) STRICT;
CREATE INDEX schedule_starts_active ON schedule_starts (schedule) WHERE status IS NULL AND result IN ('pending', 'started');
