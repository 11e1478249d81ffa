/**
 * An Idempotency-Key is a row of its own, which names its turn. A turn knows the client that its session used last, and
 * who runs its server calls: a turn from before has no such node, so nobody runs them.
 */
export const TURNS_SCHEMA = `
CREATE TABLE idempotency_keys (
  workspace INTEGER NOT NULL,
  user_id TEXT NOT NULL,
  key TEXT NOT NULL,
  session_id TEXT NOT NULL,
  turn_id TEXT NOT NULL,
  claimed_at INTEGER NOT NULL,
  PRIMARY KEY (workspace, user_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_keys_age ON idempotency_keys (claimed_at);
INSERT INTO idempotency_keys
  SELECT workspace, user_id, idempotency_key, session_id, turn_id, accepted_at FROM turns
  WHERE idempotency_key IS NOT NULL;
DROP INDEX turns_key;
ALTER TABLE turns DROP COLUMN idempotency_key;
ALTER TABLE turns ADD COLUMN last_client_id TEXT;
UPDATE turns SET
  last_client_id = (
    SELECT client_id FROM audit_events e INDEXED BY audit_turn
    WHERE e.workspace = turns.workspace AND e.turn_id = turns.turn_id AND e.session_id = turns.session_id
      AND e.name GLOB 'Tool.*.Forwarded' ORDER BY seq DESC LIMIT 1),
  state = json_set(state, '$.lease', NULL);
CREATE INDEX turns_session ON turns (workspace, session_id, accepted_at);
`;
