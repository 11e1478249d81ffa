/** Bytes of turns that each user has added in each workspace, by the hour (counted from the epoch). */
export const TURN_BYTES_SCHEMA = `
CREATE TABLE turn_bytes (
  user_id TEXT NOT NULL,
  hour INTEGER NOT NULL,
  workspace INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  PRIMARY KEY (user_id, hour, workspace)
) STRICT, WITHOUT ROWID;
CREATE INDEX turn_bytes_of_workspace ON turn_bytes (workspace, hour);
`;
