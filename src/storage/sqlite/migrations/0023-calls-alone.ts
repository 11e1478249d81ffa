/** Events of calls that are in no turn. Those of a turn lie under it, and cost nothing here. */
export const CALLS_ALONE_SCHEMA = `
CREATE INDEX audit_call ON audit_events (workspace, call_id, seq) WHERE call_id IS NOT NULL AND turn_id IS NULL;
`;
