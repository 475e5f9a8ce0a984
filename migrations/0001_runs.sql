-- Leadline, database version 1: runs, their events, and the keys that make calls repeatable.
--
-- Times `_at_ms` are milliseconds since 1970 UTC, other `_ms` milliseconds since the run began on its host, `_ns`
-- nanoseconds. Columns that hold JSON say so; they are written and read whole, and never searched.

-- "Lead" in ASCII: `file` and a second look at a stray database tell whose it is.
PRAGMA application_id = 1281712484;
-- A program refuses a database whose version is above its own.
PRAGMA user_version = 1;

-- One row a run: what lists show, filter and sort by. Narrow on purpose; the rest of a run is in run_details.
CREATE TABLE runs (
    number           INTEGER PRIMARY KEY AUTOINCREMENT, -- shown as #142; never used twice, not even after a deletion
    status           TEXT NOT NULL CHECK (status IN ('queued', 'preparing', 'measuring', 'finishing', 'done', 'failed', 'cancelled', 'interrupted')), -- where it stands; the last four are final
    created_at_ms    INTEGER NOT NULL,                  -- when it was asked for
    started_at_ms    INTEGER,                           -- when it left the queue: written before the runner is started, so no run starts twice
    finished_at_ms   INTEGER,                           -- when it came to its end
    search           TEXT NOT NULL,                     -- name, target, tags and notes in lower case, for words in the filter; early in the row, so that it is read quickly
    host             TEXT NOT NULL,                     -- the host it runs on: local
    jobs             INTEGER NOT NULL,                  -- how many jobs it has; the workload columns below are those of the first
    mode             TEXT,                              -- buffered, direct, raw or null (no I/O at all)
    rw               TEXT NOT NULL,                     -- pattern, such as randread
    bs               TEXT NOT NULL,                     -- block size as shown, such as 4k
    iodepth          INTEGER NOT NULL,                  -- I/Os that each clone keeps in flight
    numjobs          INTEGER NOT NULL,                  -- clones
    direct           INTEGER NOT NULL CHECK (direct IN (0, 1)), -- 1: past the page cache
    device           TEXT,                              -- kernel name of the block device under the first target
    iops             REAL,                              -- I/Os a second of the measured window, all directions
    bytes_per_second REAL,                              -- bytes a second of the measured window, all directions
    lat_p50_ns       INTEGER,                           -- median latency, all directions
    lat_p99_ns       INTEGER,                           -- 99th percentile of latency, all directions
    lat_max_ns       INTEGER,                           -- longest latency, all directions
    verdict          TEXT,                              -- class of the direction with the most bytes, such as page_cache
    name             TEXT NOT NULL,                     -- given by its owner
    target           TEXT NOT NULL,                     -- first target and how many there are besides
    tags             TEXT NOT NULL,                     -- JSON array of text; no tag has a quote in it, so that one is found as "tag"
    notes            TEXT NOT NULL,                     -- free text
    reason           TEXT                               -- why it failed, was cancelled or interrupted
) STRICT;

-- What the list counts by, whatever is combined: read through once instead of the rows.
CREATE INDEX runs_by_kind ON runs (status, rw, mode, verdict, device, host);
-- What the list sorts by.
CREATE INDEX runs_by_created ON runs (created_at_ms);
CREATE INDEX runs_by_iops ON runs (iops);
CREATE INDEX runs_by_bytes_per_second ON runs (bytes_per_second);
CREATE INDEX runs_by_lat_p99 ON runs (lat_p99_ns);
CREATE INDEX runs_by_name ON runs (name COLLATE NOCASE);

-- What is read of one run at a time.
CREATE TABLE run_details (
    run        INTEGER PRIMARY KEY REFERENCES runs (number) ON DELETE CASCADE, -- its number
    asked      TEXT NOT NULL,    -- JSON array: the jobs as asked, word for word
    sample_ms  INTEGER NOT NULL, -- the sampling grid
    locks      TEXT NOT NULL,    -- JSON array of text: the devices and paths that no other run may use meanwhile
    resolved   TEXT,             -- JSON array: the jobs as resolved; by the plan when queued, by the runner when it began
    host_facts TEXT,             -- JSON: the host as found when it began
    measure_ms INTEGER,          -- how long the measured window was to last; null when size ends it
    report     TEXT,             -- JSON: the one result
    verdict    TEXT,             -- JSON: where the I/O went
    findings   TEXT,             -- JSON array: what a reader must know
    failure    TEXT              -- JSON: why there is no result
) STRICT;

-- The list of a run's events, as it was told.
CREATE TABLE events (
    run  INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE, -- its number
    seq  INTEGER NOT NULL, -- place in the list of its run, from 0, without gaps
    t_ms REAL NOT NULL,    -- since the run began on its host
    type TEXT NOT NULL,    -- status, accepted, phase, sample, report or failed
    line TEXT NOT NULL,    -- JSON: the whole event as told, in one line
    PRIMARY KEY (run, seq)
) STRICT;
-- Series read the samples of a span of time.
CREATE INDEX events_by_time ON events (run, type, t_ms, seq);

-- Idempotency-Key: the same key and the same request give the same run again.
CREATE TABLE idempotency_keys (
    key            TEXT PRIMARY KEY,                                           -- as sent
    request_sha256 BLOB NOT NULL,                                              -- of the call and its body
    run            INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE, -- the run that came of it
    created_at_ms  INTEGER NOT NULL                                            -- forgotten after a day
) STRICT;
CREATE INDEX idempotency_keys_by_time ON idempotency_keys (created_at_ms);
CREATE INDEX idempotency_keys_by_run ON idempotency_keys (run);
