-- Version 19: studies whose runs follow a procedure, such as a test after the SNIA specification.

PRAGMA user_version = 19;

ALTER TABLE studies ADD COLUMN procedure TEXT; -- JSON: the procedure with its settings; null if the steps define the runs
ALTER TABLE studies ADD COLUMN ended TEXT;     -- why the remaining runs are not needed; null until the procedure has decided that
