-- Version 6: the events of deleted runs are removed in the background.

PRAGMA user_version = 6;

-- Deleted runs whose events are not all removed yet.
CREATE TABLE deleted_runs (
    run INTEGER PRIMARY KEY -- number of the run
) STRICT;

-- Removes the foreign key of `events`, which would delete all events of a run in one transaction. This is the procedure
-- of https://sqlite.org/lang_altertable.html for constraints; copying the table would take minutes.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, ' REFERENCES runs (number) ON DELETE CASCADE', '')
    WHERE type = 'table' AND name = 'events';
PRAGMA writable_schema = RESET;
