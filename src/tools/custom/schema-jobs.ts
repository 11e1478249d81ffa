import { type Json, JsonCount, type JsonSchema, shortText } from '@patchbay/protocol';
import { defineJob } from '../../jobs/job.js';
import { readArguments } from '../parsed-texts.js';
import type { SchemaFault } from '../tool-schemas.js';
import { ForeignSchemas } from './foreign-schemas.js';

/* Work with the schemas of clients: always on a worker, under the budget of a job. */

const ON_A_WORKER = 0;
/** Longest message of a fault, in characters: a schema may have long values. */
const MAX_MESSAGE = 500;

/** A JSON text and the schema that it has to fit. */
export interface ForeignCheck {
  /** Identifies the schema. */
  key: string;
  schema: JsonSchema;
  text: string;
}

/** Arguments after their check; `text` is their JSON if texts in them were parsed. */
export interface ForeignArguments {
  faults: SchemaFault[];
  parsed: string[];
  text: string | null;
}

const schemas = new ForeignSchemas();

/** Why each schema is refused; null if it is not. */
export const COMPILE_SCHEMAS = defineJob(
  'compile-schemas',
  (given: readonly JsonSchema[]): (string | null)[] =>
    given.map((schema) => {
      const fault = schemas.faultOf(schema);
      return fault === null ? null : shortText(fault, MAX_MESSAGE);
    }),
  ON_A_WORKER,
);

/** The faults of a value. */
export const CHECK_VALUE = defineJob(
  'check-value',
  ({ key, schema, text }: ForeignCheck): SchemaFault[] => faultsOf(key, schema, JSON.parse(text) as Json),
  ON_A_WORKER,
);

/** Checks arguments, and parses JSON texts in them if that mends them. */
export const READ_ARGUMENTS = defineJob(
  'read-arguments',
  ({ key, schema, text }: ForeignCheck): ForeignArguments => {
    const given = JSON.parse(text) as Json;
    const check = (args: Json): SchemaFault[] => faultsOf(key, schema, args);
    const { args, faults, parsed } = readArguments(check, schema, given, new JsonCount());
    return { faults, parsed, text: args === given ? null : JSON.stringify(args) };
  },
  ON_A_WORKER,
);

function faultsOf(key: string, schema: JsonSchema, value: Json): SchemaFault[] {
  try {
    const faults = schemas.checkOf(key, schema).faultsOf(value);
    return faults.map(({ message, ...fault }) => ({ ...fault, message: shortText(message, MAX_MESSAGE) }));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return [{ path: '', code: 'depth', message: 'nests too deep for its schema' }];
  }
}
