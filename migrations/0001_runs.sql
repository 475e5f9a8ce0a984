-- Version 1: runs, their events, and idempotency keys.
--
-- Columns `_at_ms` are milliseconds since 1970 UTC, other `_ms` columns milliseconds since the start of the run, `_ns`
-- nanoseconds. JSON columns are marked; they are written and read as a whole and never searched.

-- "Lead" in ASCII: identifies the file for file(1) and for the server.
PRAGMA application_id = 1281712484;
-- A server rejects databases with a newer version than its own.
PRAGMA user_version = 1;

-- Columns that lists show, filter and sort by. Narrow on purpose; everything else is in run_details.
CREATE TABLE runs (
    number           INTEGER PRIMARY KEY AUTOINCREMENT, -- shown as #142; never reused, not even after a deletion
    status           TEXT NOT NULL CHECK (status IN ('queued', 'preparing', 'measuring', 'finishing', 'done', 'failed', 'cancelled', 'interrupted')), -- the last four are final
    created_at_ms    INTEGER NOT NULL,                  -- time of the request
    started_at_ms    INTEGER,                           -- time the run left the queue; written before the runner starts, so no run starts twice
    finished_at_ms   INTEGER,                           -- time of the final status
    search           TEXT NOT NULL,                     -- name, target, tags and notes in lower case, for text search; an early column, so that scans are fast
    host             TEXT NOT NULL,                     -- always local
    jobs             INTEGER NOT NULL,                  -- number of jobs; the workload columns below describe the first
    mode             TEXT,                              -- buffered, direct, raw or null (no I/O)
    rw               TEXT NOT NULL,                     -- access pattern, such as randread
    bs               TEXT NOT NULL,                     -- formatted block size, such as 4k
    iodepth          INTEGER NOT NULL,                  -- I/Os in flight per worker
    numjobs          INTEGER NOT NULL,                  -- workers
    direct           INTEGER NOT NULL CHECK (direct IN (0, 1)), -- 1: bypasses the page cache
    device           TEXT,                              -- kernel name of the block device of the first target
    iops             REAL,                              -- measured window, all directions
    bytes_per_second REAL,                              -- measured window, all directions
    lat_p50_ns       INTEGER,                           -- median latency, all directions
    lat_p99_ns       INTEGER,                           -- 99th percentile of latency, all directions
    lat_max_ns       INTEGER,                           -- maximum latency, all directions
    verdict          TEXT,                              -- class of the direction with the most bytes, such as page_cache
    name             TEXT NOT NULL,                     -- set by the user
    target           TEXT NOT NULL,                     -- first target and number of further targets
    tags             TEXT NOT NULL,                     -- JSON array of text; tags contain no quotes, so that a search for "tag" is exact
    notes            TEXT NOT NULL,                     -- free text
    reason           TEXT                               -- cause of status failed, cancelled or interrupted
) STRICT;

-- Covers the filters of list counts, in any combination.
CREATE INDEX runs_by_kind ON runs (status, rw, mode, verdict, device, host);
-- Sort orders of lists.
CREATE INDEX runs_by_created ON runs (created_at_ms);
CREATE INDEX runs_by_iops ON runs (iops);
CREATE INDEX runs_by_bytes_per_second ON runs (bytes_per_second);
CREATE INDEX runs_by_lat_p99 ON runs (lat_p99_ns);
CREATE INDEX runs_by_name ON runs (name COLLATE NOCASE);

-- Columns that only the page of one run reads.
CREATE TABLE run_details (
    run        INTEGER PRIMARY KEY REFERENCES runs (number) ON DELETE CASCADE, -- number of the run
    asked      TEXT NOT NULL,    -- JSON array: jobs as requested
    sample_ms  INTEGER NOT NULL, -- sampling interval
    locks      TEXT NOT NULL,    -- JSON array of text: devices and paths reserved by the run
    resolved   TEXT,             -- JSON array: resolved jobs; from the plan when queued, from the runner when started
    host_facts TEXT,             -- JSON: host at the start of the run
    measure_ms INTEGER,          -- planned length of the measured window; null when size ends it
    report     TEXT,             -- JSON
    verdict    TEXT,             -- JSON: verdict of each direction
    findings   TEXT,             -- JSON array
    failure    TEXT              -- JSON: exit code and problems of a run without a report
) STRICT;

-- Event journal of each run.
CREATE TABLE events (
    run  INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE, -- number of the run
    seq  INTEGER NOT NULL, -- sequence number within the run, from 0, without gaps
    t_ms REAL NOT NULL,    -- since the start of the run
    type TEXT NOT NULL,    -- status, accepted, phase, sample, report or failed
    line TEXT NOT NULL,    -- JSON: complete event on one line
    PRIMARY KEY (run, seq)
) STRICT;
-- Series read the samples of a time range.
CREATE INDEX events_by_time ON events (run, type, t_ms, seq);

-- Idempotency-Key headers: a repeated request returns the run created by the first one.
CREATE TABLE idempotency_keys (
    key            TEXT PRIMARY KEY,                                           -- as sent
    request_sha256 BLOB NOT NULL,                                              -- hash of method, path and body
    run            INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE, -- created run
    created_at_ms  INTEGER NOT NULL                                            -- deleted after a day
) STRICT;
CREATE INDEX idempotency_keys_by_time ON idempotency_keys (created_at_ms);
CREATE INDEX idempotency_keys_by_run ON idempotency_keys (run);
