-- Version 2: studies. Each step of a study is a run with a reference to the study.

PRAGMA user_version = 2;

-- The status of a study is not stored; it follows from its runs.
CREATE TABLE studies (
    number              INTEGER PRIMARY KEY AUTOINCREMENT, -- never reused, not even after a deletion
    name                TEXT NOT NULL,                     -- set by the user
    created_at_ms       INTEGER NOT NULL,                  -- time of the request
    continue_on_failure INTEGER NOT NULL CHECK (continue_on_failure IN (0, 1)), -- 1: a failed step does not end the study
    mark                TEXT NOT NULL,                     -- random part of the names of its files; identifies files made by earlier steps
    words               TEXT NOT NULL,                     -- JSON: name, description and published results
    scaled              TEXT NOT NULL,                     -- JSON: how sizes were scaled to the host
    steps               TEXT NOT NULL                      -- JSON array: name and note of each step, in order
) STRICT;

-- Study of the run; null outside of studies.
ALTER TABLE runs ADD COLUMN study INTEGER REFERENCES studies (number);
-- Number of the step, from 1; null outside of studies.
ALTER TABLE runs ADD COLUMN step INTEGER;
CREATE UNIQUE INDEX runs_by_study ON runs (study, step) WHERE study IS NOT NULL;
