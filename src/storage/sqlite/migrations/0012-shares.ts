/**
 * Who made a workspace, where its first member is known to have; its owners, to be named without the other members; and
 * who was removed by whom, until that user's open turns are cancelled.
 */
const WORKSPACES = `
ALTER TABLE workspaces ADD COLUMN created_by TEXT;
UPDATE workspaces SET created_by = (
  SELECT user_id FROM members m
  WHERE m.workspace = workspaces.id AND m.position = 0 AND m.added_at = workspaces.created_at);
CREATE INDEX workspaces_maker ON workspaces (created_by) WHERE created_by IS NOT NULL;
CREATE INDEX members_owners ON members (workspace, position) WHERE role = 'owner';
CREATE TABLE removals (
  workspace INTEGER NOT NULL,
  user_id TEXT NOT NULL,
  by_user_id TEXT NOT NULL,
  removed_at INTEGER NOT NULL,
  PRIMARY KEY (workspace, user_id)
) STRICT, WITHOUT ROWID;
`;

/**
 * In whose share a file, a folder and a blob count, and what each workspace and each user has in all: `scope` is the id of
 * the one or of the other. Of blobs it is a table of its own: their rows hold the bytes, and are not written again.
 */
const USAGE = `
ALTER TABLE files ADD COLUMN holder TEXT;
UPDATE files SET holder = (SELECT author FROM file_versions WHERE file = files.id AND number = 1) WHERE folder = 0;

CREATE TABLE blob_shares (
  blob INTEGER PRIMARY KEY,
  user_id TEXT,
  size_bytes INTEGER NOT NULL
) STRICT;
CREATE TABLE first_authors (
  workspace INTEGER NOT NULL,
  sha256 BLOB NOT NULL,
  author TEXT NOT NULL,
  PRIMARY KEY (workspace, sha256)
) WITHOUT ROWID;
INSERT OR IGNORE INTO first_authors
  SELECT f.workspace, v.sha256, v.author FROM file_versions v JOIN files f ON f.id = v.file ORDER BY v.created_at;
INSERT INTO blob_shares
  SELECT b.id, a.author, length(b.bytes) FROM blobs b
  LEFT JOIN first_authors a ON a.workspace = b.workspace AND a.sha256 = b.sha256;
DROP TABLE first_authors;

CREATE TABLE usage (
  scope TEXT PRIMARY KEY,
  bytes INTEGER NOT NULL,
  files INTEGER NOT NULL,
  versions INTEGER NOT NULL,
  sessions INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE shares (workspace INTEGER, user_id TEXT, bytes INTEGER, files INTEGER, versions INTEGER, sessions INTEGER);
INSERT INTO shares
  SELECT b.workspace, s.user_id, sum(s.size_bytes), 0, 0, 0 FROM blob_shares s JOIN blobs b ON b.id = s.blob
  GROUP BY 1, 2;
INSERT INTO shares
  SELECT workspace, holder, 0, sum(deleted_at IS NULL), sum(folder), 0 FROM files GROUP BY 1, 2;
INSERT INTO shares
  SELECT f.workspace, v.author, 0, 0, count(*), 0 FROM file_versions v JOIN files f ON f.id = v.file GROUP BY 1, 2;
INSERT INTO shares
  SELECT s.workspace, s.user_id, sum(length(CAST(coalesce(s.tools, '') || coalesce(a.files, '') AS BLOB))), 0, 0, count(*)
  FROM sessions s LEFT JOIN active_files a ON a.workspace = s.workspace AND a.session_id = s.session_id GROUP BY 1, 2;
INSERT INTO usage
  SELECT w.workspace_id, sum(bytes), sum(files), sum(versions), sum(sessions)
  FROM shares s JOIN workspaces w ON w.id = s.workspace GROUP BY 1;
INSERT INTO usage
  SELECT user_id, sum(bytes), sum(files), sum(versions), sum(sessions)
  FROM shares WHERE user_id IS NOT NULL GROUP BY 1;
DROP TABLE shares;
`;

/**
 * What a search comes upon without going through all that is like it: files without the folders between them, the last
 * file that was deleted at a docPath, a version that was kept beside the heads.
 */
const SEARCHES = `
DROP INDEX files_deleted;
CREATE INDEX files_deleted ON files (workspace, doc_path, file_id) WHERE deleted_at IS NOT NULL AND folder = 0;
CREATE INDEX files_deleted_last ON files (workspace, doc_path, deleted_at, file_id)
  WHERE deleted_at IS NOT NULL AND folder = 0;
CREATE INDEX files_listed ON files (workspace, doc_path) WHERE deleted_at IS NULL AND folder = 0;
CREATE INDEX file_versions_kept ON file_versions (file, sha256) WHERE conflict = 1;
`;

/** What members may have of a workspace, and what ends with a membership. */
export const SHARES_SCHEMA = WORKSPACES + USAGE + SEARCHES;
