-- Version 8: compressed samples of long runs.

PRAGMA user_version = 8;

-- Consecutive samples of an ended run, which are no longer in events. Histograms of 20 windows are merged.
CREATE TABLE sample_chunks (
    run       INTEGER NOT NULL, -- number of the run
    first_seq INTEGER NOT NULL, -- sequence number of the first sample
    last_seq  INTEGER NOT NULL, -- sequence number of the last sample
    last_t_ms REAL NOT NULL,    -- end of the last sample, since the start of the run
    data      BLOB NOT NULL,    -- deflated JSON, by column
    PRIMARY KEY (run, first_seq)
) STRICT;

-- Progress of the compression of runs.
CREATE TABLE compactions (
    run      INTEGER PRIMARY KEY, -- number of the run
    next_seq INTEGER NOT NULL,    -- samples before it are compressed, except a few
    is_done  INTEGER NOT NULL CHECK (is_done IN (0, 1)) -- 1: the other samples stay in events
) STRICT;
