-- Leadline, database version 3: what a study is not to leave behind.

PRAGMA user_version = 3;

-- JSON array: path of each file that the study makes and its last step removes, and why it could not be removed when that was
-- tried. Emptied when the study is over and the files are gone.
ALTER TABLE studies ADD COLUMN own_files TEXT NOT NULL DEFAULT '[]';
