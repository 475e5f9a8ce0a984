-- Version 22: thresholds of metrics.

PRAGMA user_version = 22;

-- Smallest changes that matter. Metrics without a row have the default.
CREATE TABLE metric_thresholds (
    metric  TEXT PRIMARY KEY, -- name of the metric
    percent REAL NOT NULL     -- smallest change
) STRICT, WITHOUT ROWID;

-- The threshold of a baseline is optional. 2 was the default and cannot be distinguished from a chosen 2.
ALTER TABLE baselines RENAME COLUMN threshold_percent TO former_threshold;
ALTER TABLE baselines ADD COLUMN threshold_percent REAL; -- smallest change that matters; null: the thresholds of the metrics
UPDATE baselines SET threshold_percent = former_threshold WHERE former_threshold <> 2;
ALTER TABLE baselines DROP COLUMN former_threshold;
