/** Room for the parts of one large text: integer keys from its own times this. */
export const PARTS_MAX = 65_536;

/** Removes what was staged by a process that ended before it was referred to; when the database is opened. */
export const DROP_STAGED = `
DELETE FROM text_parts WHERE id IN (
  SELECT p.id FROM staged_texts s JOIN text_parts p ON p.id >= s.id * ${PARTS_MAX} AND p.id < (s.id + 1) * ${PARTS_MAX});
DELETE FROM staged_texts;`;
