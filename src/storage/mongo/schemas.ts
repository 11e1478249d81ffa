import { Schema } from 'mongoose';

export interface Index {
  name: string;
  key: { [path: string]: 1 | -1 };
  unique?: true;
}

export interface Collection {
  name: string;
  schema: Schema;
  /** Beside that of `_id`. */
  indexes: readonly Index[];
}

// An empty text is a text.
Schema.Types.String.checkRequired((value) => typeof value === 'string');

export const text = { type: String, required: true };
export const number = { type: Number, required: true };
export const textOrNull = { type: String, default: null };
export const numberOrNull = { type: Number, default: null };

/** What a schema does not name is refused, in a document as well as in a filter. */
export function schemaOf(fields: { [name: string]: unknown }): Schema {
  return new Schema(
    { _id: text, ...fields },
    { strict: 'throw', strictQuery: 'throw', versionKey: false, minimize: false, id: false },
  );
}

/** A list of parts that have no `_id`. */
export const list = (fields: { [name: string]: unknown }) => [
  new Schema(fields, { _id: false, strict: 'throw' }),
];
