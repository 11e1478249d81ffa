/** Range of the integer keys of one large text's parts: they start at the text's key times this. */
export const PARTS_MAX = 65_536;

/** Removes texts staged by a process that died before they were referenced; runs when the database is opened. */
export const DROP_STAGED = `
DELETE FROM text_parts WHERE id IN (
  SELECT p.id FROM staged_texts s JOIN text_parts p ON p.id >= s.id * ${PARTS_MAX} AND p.id < (s.id + 1) * ${PARTS_MAX});
DELETE FROM staged_texts;`;
