/**
 * Cloud files with their versions and bytes, and the Active Files of sessions. A row of `files` is a file or a folder;
 * its `parent` is the row of its folder, 0 for the root. What is live is found by docPath and by folder through partial
 * indexes, so that deleted files cost the living nothing.
 */
export const FILES_SCHEMA = `
CREATE TABLE files (
  id INTEGER PRIMARY KEY,
  workspace INTEGER NOT NULL,
  parent INTEGER NOT NULL,
  file_id TEXT NOT NULL,
  folder INTEGER NOT NULL,
  path TEXT NOT NULL,
  doc_path TEXT NOT NULL,
  revision INTEGER NOT NULL,
  head INTEGER NOT NULL,
  last_number INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  deleted_at INTEGER
) STRICT;
CREATE UNIQUE INDEX files_id ON files (file_id);
CREATE UNIQUE INDEX files_live ON files (workspace, doc_path) WHERE deleted_at IS NULL;
CREATE INDEX files_folder ON files (workspace, parent, path) WHERE deleted_at IS NULL;
CREATE INDEX files_deleted ON files (workspace, doc_path, file_id) WHERE deleted_at IS NOT NULL;

-- A file's versions lie side by side.
CREATE TABLE file_versions (
  file INTEGER NOT NULL,
  number INTEGER NOT NULL,
  version_id TEXT NOT NULL,
  sha256 BLOB NOT NULL,
  size_bytes INTEGER NOT NULL,
  shape TEXT NOT NULL,
  author TEXT NOT NULL,
  source TEXT NOT NULL,
  batch_id TEXT,
  file_patch_id TEXT,
  call_id TEXT,
  conflict INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (file, number)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX file_versions_id ON file_versions (version_id);
CREATE INDEX file_versions_patch ON file_versions (file_patch_id) WHERE file_patch_id IS NOT NULL;

CREATE TABLE blobs (
  id INTEGER PRIMARY KEY,
  workspace INTEGER NOT NULL,
  sha256 BLOB NOT NULL,
  bytes BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX blobs_sha256 ON blobs (workspace, sha256);

-- Blobs that were put and that no version refers to yet.
CREATE TABLE loose_blobs (
  blob INTEGER PRIMARY KEY,
  put_at INTEGER NOT NULL
) STRICT;
CREATE INDEX loose_blobs_put ON loose_blobs (put_at);

CREATE TABLE active_files (
  workspace INTEGER NOT NULL,
  session_id TEXT NOT NULL,
  files TEXT NOT NULL,
  PRIMARY KEY (workspace, session_id)
) STRICT, WITHOUT ROWID;
`;
