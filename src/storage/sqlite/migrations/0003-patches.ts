/** Patch batches as JSON, found by their own id and by those of their file patches and changes. */
export const PATCHES_SCHEMA = `
ALTER TABLE turn_results ADD COLUMN edited_arguments TEXT;
CREATE TABLE patch_batches (
  id INTEGER PRIMARY KEY,
  workspace INTEGER NOT NULL,
  batch_id TEXT NOT NULL UNIQUE,
  session_id TEXT NOT NULL,
  turn_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  record TEXT NOT NULL
) STRICT;
CREATE INDEX patch_batches_by_age ON patch_batches (created_at);
CREATE TABLE patch_parts (
  part_id TEXT PRIMARY KEY,
  batch INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX patch_parts_by_batch ON patch_parts (batch);
`;
