-- Version 15: trends.

PRAGMA user_version = 15;

-- Of the host name and the devices (compare/src/fingerprint.rs); null without a result. Has the version of the other
-- fingerprints, so stored runs get it while no run is active.
ALTER TABLE runs ADD COLUMN machine_fingerprint TEXT;
CREATE INDEX runs_by_series ON runs (job_fingerprint, machine_fingerprint, host_fingerprint, number)
    WHERE machine_fingerprint IS NOT NULL;

-- Results of each run that trends show, so that they do not read reports. Computed with the fingerprints. A run with a
-- damaged result has no row.
CREATE TABLE run_values (
    run     INTEGER PRIMARY KEY REFERENCES runs (number) ON DELETE CASCADE, -- number of the run
    content TEXT NOT NULL,                                                  -- JSON: values of metrics, and findings
    sha256  BLOB NOT NULL                                                   -- of content
) STRICT;

-- Pinned baselines of series. A series is all runs with the same job and machine fingerprints.
CREATE TABLE baselines (
    job_fingerprint     TEXT NOT NULL,    -- of the series
    machine_fingerprint TEXT NOT NULL,    -- of the series
    runs                TEXT NOT NULL,    -- JSON array: numbers of the runs, including deleted ones
    threshold_percent   REAL NOT NULL,    -- smallest change that matters
    pinned_at_ms        INTEGER NOT NULL, -- time of the request
    PRIMARY KEY (job_fingerprint, machine_fingerprint)
) STRICT;
