import { RECORDS } from '../records/records.js';
import { tableSql } from './record-tables.js';

/** Stored as `user_version`. A database with another number is refused; it is incremented from the first release on. */
export const SCHEMA_VERSION = 4;

/** Rows refer to a workspace by its small integer key, since it is part of every key and index. Times are epoch ms. */
const ACCOUNTS = `
-- approvals: a JSON list of the changes that a person is asked about.
CREATE TABLE workspaces (
  id INTEGER PRIMARY KEY,
  workspace_id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  approvals TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  version INTEGER NOT NULL
) STRICT;
CREATE INDEX workspaces_maker ON workspaces (created_by);

CREATE TABLE members (
  workspace INTEGER NOT NULL,
  user_id TEXT NOT NULL,
  role TEXT NOT NULL,
  added_at INTEGER NOT NULL,
  position INTEGER NOT NULL,
  PRIMARY KEY (workspace, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX members_user ON members (user_id);
CREATE INDEX members_owners ON members (workspace, position) WHERE role = 'owner';

-- Who was removed by whom, until that user's open turns are cancelled.
CREATE TABLE removals (
  workspace INTEGER NOT NULL,
  user_id TEXT NOT NULL,
  by_user_id TEXT NOT NULL,
  removed_at INTEGER NOT NULL,
  PRIMARY KEY (workspace, user_id)
) STRICT, WITHOUT ROWID;
`;

/**
 * Turns grow in order of time, since what a commit costs is the number of pages that it touches: integer keys, and no
 * index that begins with a workspace or a session. A turn of few small calls is one row: `call_states` is a JSON list of
 * their states, `arguments` one of their arguments, and `results` has entries `[position, result, details]`, separated by
 * commas. Otherwise these three are null, and each call has a row of its own, so that no save writes another call's
 * bytes; its key is the turn's key times 65,536 plus the call's position, which keeps a turn's rows together.
 */
const TURNS = `
CREATE TABLE turns (
  id INTEGER PRIMARY KEY,
  workspace INTEGER NOT NULL,
  session_id TEXT NOT NULL,
  turn_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  version INTEGER NOT NULL,
  status TEXT NOT NULL,
  accepted_at INTEGER NOT NULL,
  due_at INTEGER,
  request_hash TEXT NOT NULL,
  calls INTEGER NOT NULL,
  state TEXT NOT NULL,
  call_states TEXT,
  arguments TEXT,
  results TEXT,
  UNIQUE (turn_id, session_id, workspace)
) STRICT;
CREATE INDEX turns_due ON turns (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX turns_open ON turns (id) WHERE status = 'open';

-- What a session used, as its newest turn that used a client has it. Written only when that changes.
CREATE TABLE session_uses (
  session_id TEXT NOT NULL,
  workspace INTEGER NOT NULL,
  accepted_at INTEGER NOT NULL,
  last_client_id TEXT NOT NULL,
  folder TEXT NOT NULL,
  PRIMARY KEY (session_id, workspace)
) STRICT, WITHOUT ROWID;

-- Small arguments and results lie here: a page of the log less than in a table of their own.
CREATE TABLE turn_calls (
  id INTEGER PRIMARY KEY,
  call_id TEXT NOT NULL,
  state TEXT NOT NULL,
  arguments TEXT,
  result TEXT,
  details TEXT
) STRICT;
CREATE INDEX turn_calls_call ON turn_calls (call_id);

-- Larger ones.
CREATE TABLE turn_arguments (id INTEGER PRIMARY KEY, arguments TEXT NOT NULL) STRICT;

-- Larger ones, and the arguments that a person has edited before there is a result, which is an empty text until then.
CREATE TABLE turn_results (
  id INTEGER PRIMARY KEY,
  call_id TEXT NOT NULL,
  result TEXT NOT NULL,
  details TEXT,
  edited_arguments TEXT
) STRICT;

-- The largest ones are in parts: a column refers to one as @id:bytes, which no JSON begins with. A text is staged until
-- what refers to it is stored; the key of a part is its text's, times 65,536, and its place.
CREATE TABLE staged_texts (id INTEGER PRIMARY KEY AUTOINCREMENT) STRICT;
CREATE TABLE text_parts (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT;

-- A batch as JSON, found by its own id and by those of its file patches and changes. It is loose until the sweep has seen
-- that its turn was stored.
CREATE TABLE patch_batches (
  id INTEGER PRIMARY KEY,
  workspace INTEGER NOT NULL,
  batch_id TEXT NOT NULL UNIQUE,
  session_id TEXT NOT NULL,
  turn_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  record TEXT NOT NULL,
  doc_paths TEXT NOT NULL,
  loose INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE INDEX patch_batches_loose ON patch_batches (created_at) WHERE loose = 1;
CREATE TABLE patch_parts (part_id TEXT PRIMARY KEY, batch INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX patch_parts_by_batch ON patch_parts (batch);
`;

/**
 * The trail is a log without an index: a row has the events of a commit, `seq` to `last_seq`, at most 64, of the times
 * `first_at` to `last_at` (`trail-rows.ts`); `more_paths`: one of them concerns more files than it names. What queries need is projected from it in batches (`trail-projection.ts`):
 * the rows of a workspace, of a session, of a turn and of an event without a turn, and the first row of a call. A name is
 * an id: the 16 bytes of a UUID, or any other as it is.
 */
const TRAIL = `
CREATE TABLE trail (
  id INTEGER PRIMARY KEY,
  workspace INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  last_seq INTEGER NOT NULL,
  first_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  more_paths INTEGER NOT NULL,
  events TEXT NOT NULL
) STRICT;

CREATE TABLE trail_seqs (
  workspace INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  trail INTEGER NOT NULL,
  PRIMARY KEY (workspace, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE trail_names (
  name ANY NOT NULL,
  workspace INTEGER NOT NULL,
  trail INTEGER NOT NULL,
  PRIMARY KEY (name, workspace, trail)
) STRICT, WITHOUT ROWID;

CREATE TABLE trail_calls (
  call_id ANY NOT NULL,
  workspace INTEGER NOT NULL,
  trail INTEGER NOT NULL,
  PRIMARY KEY (call_id, workspace)
) STRICT, WITHOUT ROWID;

-- The last row that was projected.
CREATE TABLE trail_projected (id INTEGER PRIMARY KEY CHECK (id = 1), trail INTEGER NOT NULL) STRICT;
INSERT INTO trail_projected VALUES (1, 0);
`;

/**
 * Cloud files and created folders, with versions and bytes. Partial indexes serve live entries by docPath and folder,
 * so that deleted ones cost nothing. `parent_path` is the docPath of the parent folder, "" for the root.
 */
const FILES = `
CREATE TABLE files (
  id INTEGER PRIMARY KEY,
  workspace INTEGER NOT NULL,
  file_id TEXT NOT NULL,
  folder INTEGER NOT NULL,
  path TEXT NOT NULL,
  doc_path TEXT NOT NULL,
  parent_path TEXT GENERATED ALWAYS AS (rtrim(rtrim(doc_path, replace(doc_path, '/', '')), '/')) VIRTUAL,
  revision INTEGER NOT NULL,
  head INTEGER NOT NULL,
  last_number INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  deleted_at INTEGER,
  holder TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX files_id ON files (file_id);
CREATE UNIQUE INDEX files_live ON files (workspace, doc_path) WHERE deleted_at IS NULL;
CREATE INDEX files_folder ON files (workspace, parent_path, path) WHERE deleted_at IS NULL;
CREATE INDEX files_listed ON files (workspace, doc_path) WHERE deleted_at IS NULL AND folder = 0;
CREATE INDEX files_deleted ON files (workspace, doc_path, file_id) WHERE deleted_at IS NOT NULL AND folder = 0;
CREATE INDEX files_deleted_last ON files (workspace, doc_path, deleted_at, file_id)
  WHERE deleted_at IS NOT NULL AND folder = 0;

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

-- A file's versions lie side by side. executable: null where no client has said.
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
  executable INTEGER,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (file, number)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX file_versions_id ON file_versions (version_id);
CREATE INDEX file_versions_patch ON file_versions (file_patch_id) WHERE file_patch_id IS NOT NULL;
CREATE INDEX file_versions_kept ON file_versions (file, sha256) WHERE conflict = 1;

CREATE TABLE blobs (
  id INTEGER PRIMARY KEY,
  workspace INTEGER NOT NULL,
  sha256 BLOB NOT NULL,
  bytes BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX blobs_sha256 ON blobs (workspace, sha256);

-- For whom a blob counts. A table of its own: the rows of blobs hold the bytes, and are not written again.
CREATE TABLE blob_owners (
  blob INTEGER PRIMARY KEY,
  user_id TEXT NOT NULL,
  size_bytes INTEGER NOT NULL
) STRICT;

-- Blobs that were put and that no version refers to yet; they are marked before they go.
CREATE TABLE loose_blobs (
  blob INTEGER PRIMARY KEY,
  put_at INTEGER NOT NULL,
  marked_at INTEGER
) STRICT;
CREATE INDEX loose_blobs_put ON loose_blobs (put_at) WHERE marked_at IS NULL;
CREATE INDEX loose_blobs_marked ON loose_blobs (marked_at) WHERE marked_at IS NOT NULL;
`;

/** The usage of each workspace, and of each user in it. Counted in the write that changes it. */
const USAGE = `
CREATE TABLE usage (
  workspace_id TEXT PRIMARY KEY,
  bytes INTEGER NOT NULL, files INTEGER NOT NULL, versions INTEGER NOT NULL, sessions INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE member_usage (
  user_id TEXT NOT NULL,
  workspace_id TEXT NOT NULL,
  bytes INTEGER NOT NULL, files INTEGER NOT NULL, versions INTEGER NOT NULL, sessions INTEGER NOT NULL,
  PRIMARY KEY (user_id, workspace_id)
) STRICT, WITHOUT ROWID;
-- Finds what former members left in a workspace; the primary key begins with the user.
CREATE INDEX member_usage_workspace ON member_usage (workspace_id) WHERE bytes > 0;
`;

export const SCHEMA = [...RECORDS.map(tableSql), ACCOUNTS, TURNS, TRAIL, FILES, USAGE].join('');
