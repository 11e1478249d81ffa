type Scalar = string | number | null;

/** A record as a backend stores it: JSON is a text. */
export type Row = Readonly<Record<string, Scalar>>;

/** `?` allows null. */
type FieldType = 'text' | 'text?' | 'integer' | 'integer?' | 'json' | 'json?';

/** The field type of a value: anything but text and numbers is JSON. */
type FieldTypeOf<Value> = [Value] extends [string]
  ? 'text'
  : [Value] extends [string | null]
    ? 'text?'
    : [Value] extends [number]
      ? 'integer'
      : [Value] extends [number | null]
        ? 'integer?'
        : null extends Value
          ? 'json?'
          : 'json';

/** The fields that a record can be found by. */
type ScalarField<R> = { [F in keyof R & string]: R[F] extends Scalar ? F : never }[keyof R & string];
export type TextField<R> = { [F in keyof R & string]: R[F] extends string ? F : never }[keyof R & string];

/** A declaration without its record type: what a backend builds a table or collection from. */
export interface Table {
  readonly name: string;
  readonly fields: { readonly [field: string]: FieldType };
  readonly key: readonly string[];
  readonly unique?: readonly (readonly string[])[];
  readonly indexes?: readonly (readonly string[])[];
  /** Short-lived: left out of exports. */
  readonly isTransient?: boolean;
  /** Text fields: reads by exactly these are frequent, and a backend with a single writer remembers them. */
  readonly remember?: readonly string[];
}

/** A kind of record, declared once for all backends. A record with a `workspaceId` belongs to an existing workspace. */
export interface RecordDeclaration<R, Key extends TextField<R> = TextField<R>> extends Table {
  readonly fields: { readonly [F in keyof R & string]-?: FieldTypeOf<R[F]> };
  /** At most one record has these values. They are immutable. */
  readonly key: readonly Key[];
  /** Further fields, or groups of fields, that are unique. */
  readonly unique?: readonly (readonly ScalarField<R>[])[];
  /** Indexes: the fields of the condition, then those of the order. */
  readonly indexes?: readonly (readonly ScalarField<R>[])[];
  readonly remember?: readonly TextField<R>[];
}

/** All must hold: a field equals the value, or is below it. */
export type Where<R> = {
  readonly [F in ScalarField<R>]?: R[F] | { readonly below: NonNullable<R[F]> };
};
export type Condition = Scalar | { readonly below: string | number };
export type Conditions = Readonly<Record<string, Condition>>;

/** The order of a list, and which part of it. */
export interface Listing<R> {
  by: readonly ScalarField<R>[];
  descending?: boolean;
  /** Only records after this one in the order. */
  after?: R;
  limit?: number;
}

/** Encodes a record, or some of its fields, as a row. Other properties are left out. */
export function toRow({ fields }: Table, record: object): Row {
  const row: Record<string, Scalar> = {};
  for (const [field, type] of Object.entries(fields)) {
    const value = (record as Record<string, unknown>)[field];
    if (value === undefined) continue;
    const isJson = type === 'json' || (type === 'json?' && value !== null);
    row[field] = isJson ? JSON.stringify(value) : (value as Scalar);
  }
  return row;
}

/** Decodes the record of a row. */
export function fromRow<R>(table: RecordDeclaration<R>, row: Row): R {
  const { fields }: Table = table;
  const record: Record<string, unknown> = { ...row };
  for (const field in fields) {
    const value = row[field];
    if (typeof value === 'string' && fields[field]!.startsWith('json')) record[field] = JSON.parse(value);
  }
  return record as R;
}

/** The values of the key. */
export function keyIn({ key }: Table, row: Conditions): string[] {
  return key.map((field) => row[field] as string);
}
