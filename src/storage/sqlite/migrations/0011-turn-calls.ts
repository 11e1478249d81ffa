/**
 * A turn's calls are rows of their own, so that a save writes those that have changed; the key is that of the arguments.
 * What an error says beside its message is stored with the result. How many calls a turn has is counted while it is open.
 * A turn from before may still have 16 MiB of results; what ran without a lease is ended by the clock.
 */
export const TURN_CALLS_SCHEMA = `
CREATE TABLE turn_calls (
  id INTEGER PRIMARY KEY,
  call_id TEXT NOT NULL,
  state TEXT NOT NULL
) STRICT;
INSERT INTO turn_calls (id, call_id, state)
  SELECT turns.id * 65536 + call.key, json_extract(call.value, '$.callId'), json(call.value) FROM turns, json_each(turns.state, '$.calls') AS call;
CREATE INDEX turn_calls_call ON turn_calls (call_id);

ALTER TABLE turn_results ADD COLUMN details TEXT;
INSERT INTO turn_results (id, call_id, result, details)
  SELECT c.id, c.call_id, 'null', json(json_extract(c.state, '$.error.details')) FROM turn_calls c
  WHERE json_type(c.state, '$.error.details') IN ('object', 'array')
    AND NOT EXISTS (SELECT 1 FROM turn_results r WHERE r.id = c.id);
UPDATE turn_results SET details = (
    SELECT json(json_extract(c.state, '$.error.details')) FROM turn_calls c WHERE c.id = turn_results.id)
  WHERE details IS NULL AND (
    SELECT json_type(c.state, '$.error.details') FROM turn_calls c WHERE c.id = turn_results.id) IN ('object', 'array');
UPDATE turn_calls SET state = json_remove(state, '$.error.details')
  WHERE json_type(state, '$.error.details') IN ('object', 'array');

ALTER TABLE turns ADD COLUMN calls INTEGER NOT NULL DEFAULT 0;
UPDATE turns SET
  calls = json_array_length(state, '$.calls'),
  due_at = CASE WHEN status = 'open' AND json_extract(state, '$.lease') IS NULL AND EXISTS (
      SELECT 1 FROM json_each(state, '$.calls') WHERE json_extract(value, '$.status') = 'executing')
    THEN 0 ELSE due_at END;
UPDATE turns SET state = json_set(json_remove(state, '$.calls'), '$.resultRoom', 16777216);
UPDATE turns SET state = json_set(state, '$.lease', json('{"owner":"","until":0}')) WHERE status = 'open' AND due_at = 0;
DROP INDEX turns_open;
CREATE INDEX turns_open ON turns (workspace, user_id, accepted_at, calls) WHERE status = 'open';
CREATE INDEX turns_open_user ON turns (user_id, calls) WHERE status = 'open';
`;
