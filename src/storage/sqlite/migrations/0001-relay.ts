/**
 * Accounts, sessions, turns and the audit trail. Rows refer to a workspace by its small integer key, because it is
 * part of every key and index. Times are epoch ms.
 */
export const RELAY_SCHEMA = `
CREATE TABLE users (
  user_id TEXT PRIMARY KEY,
  email TEXT NOT NULL UNIQUE,
  full_name TEXT,
  password_hash TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE logins (
  login_id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL,
  family_hash TEXT NOT NULL,
  token_hash TEXT NOT NULL,
  previous_hash TEXT,
  grace_until INTEGER,
  expires_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE workspaces (
  id INTEGER PRIMARY KEY,
  workspace_id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  version INTEGER NOT NULL
) STRICT;

CREATE TABLE members (
  workspace INTEGER NOT NULL,
  user_id TEXT NOT NULL,
  role TEXT NOT NULL,
  added_at INTEGER NOT NULL,
  position INTEGER NOT NULL,
  PRIMARY KEY (workspace, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX members_user ON members (user_id);

CREATE TABLE sessions (
  workspace INTEGER NOT NULL,
  session_id TEXT NOT NULL,
  conversation_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  client_id TEXT,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (workspace, session_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_user ON sessions (workspace, user_id, created_at, session_id);

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
  idempotency_key TEXT,
  request_hash TEXT NOT NULL,
  state TEXT NOT NULL,
  UNIQUE (workspace, turn_id, session_id)
) STRICT;
CREATE INDEX turns_due ON turns (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX turns_open ON turns (workspace, user_id, accepted_at) WHERE status = 'open';
CREATE UNIQUE INDEX turns_key ON turns (workspace, user_id, idempotency_key) WHERE idempotency_key IS NOT NULL;

-- What is written once, a row a call. The key is the turn's, times 65536, plus the call's position: what belongs to a
-- turn lies side by side, without another index.
CREATE TABLE turn_arguments (
  id INTEGER PRIMARY KEY,
  arguments TEXT NOT NULL
) STRICT;

CREATE TABLE turn_results (
  id INTEGER PRIMARY KEY,
  call_id TEXT NOT NULL,
  result TEXT NOT NULL
) STRICT;

-- tool_name, success, error_code and path are taken out of the event's fields, to be asked by.
CREATE TABLE audit_events (
  workspace INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  event_id TEXT NOT NULL,
  name TEXT NOT NULL,
  at INTEGER NOT NULL,
  session_id TEXT,
  conversation_id TEXT,
  turn_id TEXT,
  tool_call_id TEXT,
  call_id TEXT,
  attempt INTEGER,
  user_id TEXT,
  client_id TEXT,
  tool_name TEXT,
  success INTEGER,
  error_code TEXT,
  path TEXT,
  fields TEXT NOT NULL,
  PRIMARY KEY (workspace, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX audit_session ON audit_events (workspace, session_id, seq);
CREATE INDEX audit_turn ON audit_events (workspace, turn_id, seq);
`;
