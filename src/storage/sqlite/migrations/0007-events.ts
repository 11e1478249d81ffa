/** Events that belong to no turn are found by their id, so that one that is recorded again is known. */
export const EVENTS_SCHEMA = `
CREATE INDEX audit_no_turn ON audit_events (event_id) WHERE turn_id IS NULL;
`;
