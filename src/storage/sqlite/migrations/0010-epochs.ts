/** Which of a client's connections is the newer, whatever the clocks of their nodes say. */
export const EPOCHS_SCHEMA = `
ALTER TABLE clients ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
`;
