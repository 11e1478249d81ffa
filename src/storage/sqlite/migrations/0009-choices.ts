/**
 * What a session offers, as a JSON list of names and words; null: every tool. The tools of whose calls a workspace wants
 * to be asked, as a JSON list of names.
 */
export const CHOICES_SCHEMA = `
ALTER TABLE sessions ADD COLUMN tools TEXT;
ALTER TABLE workspaces ADD COLUMN approvals TEXT NOT NULL DEFAULT '[]';
`;
