-- Leadline, database version 2: studies. A step of a study is a run like any other, with its place in the study on it.

PRAGMA user_version = 2;

-- One row a study. Where it stands is told from its runs, and kept nowhere else.
CREATE TABLE studies (
    number              INTEGER PRIMARY KEY AUTOINCREMENT, -- never used twice, not even after a deletion
    name                TEXT NOT NULL,                     -- given by its owner
    created_at_ms       INTEGER NOT NULL,                  -- when it was asked for
    continue_on_failure INTEGER NOT NULL CHECK (continue_on_failure IN (0, 1)), -- 1: a step that fails leaves the others be
    mark                TEXT NOT NULL,                     -- in the names of its files: so a step knows what an earlier one made
    words               TEXT NOT NULL,                     -- JSON: what it says about itself, with figures that others published
    scaled              TEXT NOT NULL,                     -- JSON: how its sizes were fitted to the host
    steps               TEXT NOT NULL                      -- JSON array: name and note of each step, in order
) STRICT;

-- The study that the run is a step of; null for a run of its own.
ALTER TABLE runs ADD COLUMN study INTEGER REFERENCES studies (number);
-- Its place in the study, from 1; null for a run of its own.
ALTER TABLE runs ADD COLUMN step INTEGER;
CREATE UNIQUE INDEX runs_by_study ON runs (study, step) WHERE study IS NOT NULL;
