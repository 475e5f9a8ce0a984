-- Version 3: temporary files of studies.

PRAGMA user_version = 3;

-- JSON array: path of each file that the study makes and its last step removes, with the reason when a removal failed.
-- Emptied when the study has ended and the files are removed.
ALTER TABLE studies ADD COLUMN own_files TEXT NOT NULL DEFAULT '[]';
