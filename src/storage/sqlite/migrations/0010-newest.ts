/**
 * Which of a client's connections is the newer, whatever the clocks of their nodes say; and the turns of a session that
 * know of a client, so that the newest of these is found among many that know of none.
 */
export const NEWEST_SCHEMA = `
ALTER TABLE clients ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
CREATE INDEX turns_used ON turns (workspace, session_id, accepted_at) WHERE last_client_id IS NOT NULL;
`;
