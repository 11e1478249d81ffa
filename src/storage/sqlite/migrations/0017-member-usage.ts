/**
 * What each user has in each workspace: of what they wrote in a workspace of others only what is there while they are a
 * member counts for them. What `usage` has of users is replaced by it; there the workspaces stay.
 */
export const MEMBER_USAGE_SCHEMA = `
CREATE TABLE member_usage (
  user_id TEXT NOT NULL,
  workspace_id TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  files INTEGER NOT NULL,
  versions INTEGER NOT NULL,
  sessions INTEGER NOT NULL,
  PRIMARY KEY (user_id, workspace_id)
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
INSERT INTO member_usage
  SELECT s.user_id, w.workspace_id, sum(bytes), sum(files), sum(versions), sum(sessions)
  FROM shares s JOIN workspaces w ON w.id = s.workspace WHERE s.user_id IS NOT NULL GROUP BY 1, 2;
DROP TABLE shares;
DELETE FROM usage WHERE scope NOT IN (SELECT workspace_id FROM workspaces);
`;
