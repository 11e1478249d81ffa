/**
 * What a batch is asked for without its contents: the files that it is about; and whether it is loose, which is what it
 * is until the sweep has seen that its turn was stored.
 */
export const BATCHES_SCHEMA = `
ALTER TABLE patch_batches ADD COLUMN doc_paths TEXT NOT NULL DEFAULT '[]';
UPDATE patch_batches SET doc_paths =
  (SELECT json_group_array(json_extract(value, '$.docPath')) FROM json_each(record, '$.batch.files'));
ALTER TABLE patch_batches ADD COLUMN loose INTEGER NOT NULL DEFAULT 1;
DROP INDEX patch_batches_by_age;
CREATE INDEX patch_batches_loose ON patch_batches (created_at) WHERE loose = 1;
`;
