-- Version 25: results of other programs.

PRAGMA user_version = 25;

-- Program that measured the run. The column `host` of a run by another program is empty if the host is unknown.
ALTER TABLE runs ADD COLUMN source TEXT NOT NULL DEFAULT 'leadline' CHECK (source IN ('leadline', 'fio'));

-- Documents that runs were imported from.
CREATE TABLE foreign_results (
    run      INTEGER PRIMARY KEY REFERENCES runs (number) ON DELETE CASCADE, -- number of the run
    sha256   BLOB NOT NULL UNIQUE, -- of the document without white space, and of the group of jobs
    document BLOB NOT NULL         -- as imported, compressed with gzip
) STRICT;
