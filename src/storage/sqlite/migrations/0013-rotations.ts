/**
 * What the newest refresh token was made of and when, in the place of the time until which the one before was good: that
 * is good until the newest was used. Of what was there before nothing was noted: it is made anew where it is asked for.
 */
export const ROTATIONS_SCHEMA = `
ALTER TABLE logins ADD COLUMN seed TEXT;
ALTER TABLE logins ADD COLUMN rotated_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE logins DROP COLUMN grace_until;
`;
