import type { Table } from '../records/declaration.js';
import { RECORDS } from '../records/records.js';
import { type Collection, type Index, number, numberOrNull, schemaOf, text, textOrNull } from './schemas.js';

const TYPES = {
  ...{ text, 'text?': textOrNull, integer: number, 'integer?': numberOrNull },
  ...{ json: text, 'json?': textOrNull },
} as const;

/** One collection per declaration; the `_id` of a document is the key of its record. */
export const RECORD_COLLECTIONS: readonly Collection[] = RECORDS.map(
  ({ name, fields, unique = [], indexes = [] }: Table) => ({
    name,
    schema: schemaOf(Object.fromEntries(Object.entries(fields).map(([field, type]) => [field, TYPES[type]]))),
    indexes: [
      ...unique.map((group): Index => ({ ...indexOf(group), unique: true })),
      ...indexes.map(indexOf),
    ],
  }),
);

function indexOf(fields: readonly string[]): Index {
  return { name: fields.join('_'), key: Object.fromEntries(fields.map((field) => [field, 1])) };
}
