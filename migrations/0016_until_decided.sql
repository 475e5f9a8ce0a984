-- Version 16: studies that end as soon as they are decided.

PRAGMA user_version = 16;

ALTER TABLE studies ADD COLUMN until_decided TEXT; -- JSON: metrics, threshold and planned looks; null if all repeats run

-- Results of looks at running studies. They are stored, because deleting runs must not change a decision.
CREATE TABLE study_looks (
    study   INTEGER NOT NULL REFERENCES studies (number) ON DELETE CASCADE, -- number of the study
    pairs   INTEGER NOT NULL,                             -- number of blocks that had ended, as planned
    at_ms   INTEGER NOT NULL,                             -- time of the look
    decided INTEGER NOT NULL CHECK (decided IN (0, 1)),   -- 1: ends the study
    look    TEXT NOT NULL,                                -- JSON: changes, outcome and sentence
    PRIMARY KEY (study, pairs)
) STRICT, WITHOUT ROWID;
