-- Version 7: rollups of samples.

PRAGMA user_version = 7;

-- Aggregates of the samples of the measured window, for series of long runs. Written with the samples.
CREATE TABLE rollups (
    run     INTEGER NOT NULL, -- number of the run
    windows INTEGER NOT NULL, -- length in sampling intervals: 20 or 200
    idx     INTEGER NOT NULL, -- begins at idx * windows * sample_ms, since the start of the measured window
    data    BLOB NOT NULL,    -- deflated JSON: sum, time, minimum and maximum of each column, and latency histogram
    PRIMARY KEY (run, windows, idx)
) STRICT;
