import { Schema } from 'mongoose';

export interface Index {
  name: string;
  key: { [path: string]: 1 | -1 };
  unique?: true;
}

export interface Collection {
  name: string;
  schema: Schema;
  /** In addition to that of `_id`. */
  indexes: readonly Index[];
}

// Mongoose would reject an empty string as missing.
Schema.Types.String.checkRequired((value) => typeof value === 'string');

export const text = { type: String, required: true };
export const number = { type: Number, required: true };
export const textOrNull = { type: String, default: null };
export const numberOrNull = { type: Number, default: null };

/** A strict schema: unknown fields are refused in documents and filters. */
export function schemaOf(fields: { [name: string]: unknown }): Schema {
  return new Schema(
    { _id: text, ...fields },
    { strict: 'throw', strictQuery: 'throw', versionKey: false, minimize: false, id: false },
  );
}

/** A list of subdocuments without `_id`. */
export const list = (fields: { [name: string]: unknown }) => [
  new Schema(fields, { _id: false, strict: 'throw' }),
];
