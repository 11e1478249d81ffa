/** The folders of a workspace by their docPaths, and the clients of its users with what they last announced. */
export const ROOTS_SCHEMA = `
CREATE TABLE roots (
  id INTEGER PRIMARY KEY,
  workspace INTEGER NOT NULL,
  doc_path TEXT NOT NULL,
  name TEXT NOT NULL,
  root_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  claimed_at INTEGER NOT NULL,
  UNIQUE (workspace, doc_path)
) STRICT;

CREATE TABLE clients (
  id INTEGER PRIMARY KEY,
  workspace INTEGER NOT NULL,
  user_id TEXT NOT NULL,
  client_id TEXT NOT NULL,
  name TEXT NOT NULL,
  connection_id TEXT NOT NULL,
  node TEXT NOT NULL,
  connected_at INTEGER NOT NULL,
  left_at INTEGER,
  until INTEGER NOT NULL,
  roots TEXT NOT NULL,
  statuses TEXT NOT NULL,
  UNIQUE (workspace, user_id, client_id)
) STRICT;
CREATE INDEX clients_of_node ON clients (node) WHERE left_at IS NULL;
`;
