/**
 * Each index is a page of the log for every turn, and each page is waited for. Turns of a session are looked for by
 * their last client alone (`turns_used`); what is open of a user is counted workspace by workspace (`turns_open`).
 */
export const FEWER_TURN_INDEXES_SCHEMA = `
DROP INDEX turns_session;
DROP INDEX turns_open_user;
`;
