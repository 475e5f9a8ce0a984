-- Version 28: which runs and how many looks each study must have, to detect rows that were deleted outside of Leadline. Nothing references these tables, and they have no triggers: what deletes a row must not adjust them.

PRAGMA user_version = 28;

CREATE TABLE study_contents (
    study INTEGER PRIMARY KEY,  -- number of the study
    looks INTEGER NOT NULL,     -- number of rows in study_looks
    checksums INTEGER NOT NULL  -- number of rows in studies and study_looks with a checksum
) STRICT;

CREATE TABLE study_runs (
    run   INTEGER PRIMARY KEY,  -- number of a run that has not been deleted
    study INTEGER NOT NULL      -- number of its study
) STRICT;
CREATE INDEX study_runs_by_study ON study_runs (study);

-- What was deleted earlier is unknown, except studies that still have runs.
INSERT INTO study_contents
SELECT number, (SELECT count(*) FROM study_looks WHERE study = number),
    (sha256 IS NOT NULL) + (SELECT count(sha256) FROM study_looks WHERE study = number)
FROM studies;
INSERT OR IGNORE INTO study_contents SELECT DISTINCT study, 0, 0 FROM runs WHERE study IS NOT NULL;
INSERT INTO study_runs SELECT number, study FROM runs WHERE study IS NOT NULL;
