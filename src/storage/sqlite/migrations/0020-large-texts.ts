/**
 * Large arguments and results in parts: a column of a turn refers to one as `@id:bytes`, which no JSON begins with. A text
 * is staged until what refers to it is stored; the key of a part is its text's, times 65,536, and its place.
 */
export const LARGE_TEXTS_SCHEMA = `
CREATE TABLE staged_texts (
  id INTEGER PRIMARY KEY AUTOINCREMENT
) STRICT;
CREATE TABLE text_parts (
  id INTEGER PRIMARY KEY,
  bytes BLOB NOT NULL
) STRICT;
`;
