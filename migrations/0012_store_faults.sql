-- Version 12: identity of the database, checksums of the results in lists.

PRAGMA user_version = 12;

-- One row.
CREATE TABLE database (
    id TEXT NOT NULL -- random; also in the file `initialized` of the data directory
) STRICT;

INSERT INTO database (id) VALUES (lower(hex(randomblob(16))));

ALTER TABLE run_details ADD COLUMN summary_sha256 BLOB; -- of the results in table runs (store/digest.rs); NULL for results of earlier versions
