/**
 * An entry lies where its docPath says: no row refers to that of its folder any more. Blobs that nothing refers to are
 * marked before they go.
 */
export const FOLDERS_SCHEMA = `
DROP INDEX files_folder;
ALTER TABLE files DROP COLUMN parent;
-- The docPath of the folder, "" for the root: what is left of the own one without its last part.
ALTER TABLE files ADD COLUMN parent_path TEXT
  GENERATED ALWAYS AS (rtrim(rtrim(doc_path, replace(doc_path, '/', '')), '/')) VIRTUAL;
CREATE INDEX files_folder ON files (workspace, parent_path, path) WHERE deleted_at IS NULL;

-- The folders that nobody made, or that were removed, and that something live lies below.
CREATE TABLE implied_folders (
  workspace INTEGER NOT NULL,
  doc_path TEXT NOT NULL,
  parent_path TEXT GENERATED ALWAYS AS (rtrim(rtrim(doc_path, replace(doc_path, '/', '')), '/')) VIRTUAL,
  path TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (workspace, doc_path)
) STRICT, WITHOUT ROWID;
CREATE INDEX implied_folders_folder ON implied_folders (workspace, parent_path, path);

DROP INDEX loose_blobs_put;
ALTER TABLE loose_blobs ADD COLUMN marked_at INTEGER;
CREATE INDEX loose_blobs_put ON loose_blobs (put_at) WHERE marked_at IS NULL;
CREATE INDEX loose_blobs_marked ON loose_blobs (marked_at) WHERE marked_at IS NOT NULL;
`;
