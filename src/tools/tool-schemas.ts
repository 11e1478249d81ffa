import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { Json, JsonSchema } from '@patchbay/protocol';
import { DomainError, type FieldFaults, throwIfAny } from '../common/domain-error.js';

/** One thing wrong with a value: where (a JSON Pointer, "" is the value itself), which rule, and how to mend it. */
export type SchemaFault = { path: string; code: string; message: string };

/** Longest argument name that a refusal repeats, in characters. */
const MAX_FIELD_NAME = 64;

/** Most faults that one answer names. */
const MAX_FAULTS = 20;

/**
 * A JSON Schema, compiled once, when it is first needed: gives the faults of a value, none where it fits. The value is
 * never changed.
 */
export class SchemaCheck {
  private static readonly ajv = new Ajv({
    allErrors: true,
    strict: true,
    allowUnionTypes: true,
    verbose: true,
  });
  private compiled: ValidateFunction | null = null;

  constructor(private readonly schema: JsonSchema) {}

  faultsOf(value: Json): SchemaFault[] {
    const validate = (this.compiled ??= this.compile());
    if (validate(value)) return [];
    const faults = (validate.errors ?? []).filter(({ keyword }) => keyword !== 'if').map(toFault);
    return faults.slice(0, MAX_FAULTS);
  }

  private compile(): ValidateFunction {
    const { ajv } = SchemaCheck;
    const validate = ajv.compile(this.schema);
    // Ajv would keep it for as long as the process runs; this object is where it is kept.
    ajv.removeSchema(this.schema);
    return validate;
  }
}

function toFault(error: ErrorObject): SchemaFault {
  const {
    keyword,
    instancePath: path,
    params,
    message = 'is not valid',
  } = error as ErrorObject & {
    params: {
      missingProperty?: string;
      additionalProperty?: string;
      allowedValues?: Json[];
      allowedValue?: Json;
    };
  };
  switch (keyword) {
    case 'required':
      return { path: `${path}/${params.missingProperty}`, code: keyword, message: 'is required' };
    case 'additionalProperties':
      return {
        path: `${path}/${cut(params.additionalProperty)}`,
        code: keyword,
        message: 'is not a known property',
      };
    case 'enum':
      return { path, code: keyword, message: `must be one of ${JSON.stringify(params.allowedValues)}` };
    case 'const':
      return { path, code: keyword, message: `must be ${JSON.stringify(params.allowedValue)}` };
    default:
      return { path, code: keyword, message: withActual(message, keyword, error.data) };
  }
}

function withActual(message: string, keyword: string, data: unknown): string {
  return keyword === 'type'
    ? `${message}, is ${data === null ? 'null' : Array.isArray(data) ? 'array' : typeof data}`
    : message;
}

function cut(name = ''): string {
  return name.length > 100 ? `${name.slice(0, 100)}…` : name;
}

/** The faults that a check throws by argument name; none where it throws nothing. */
export function faultsFrom(check: () => unknown): SchemaFault[] {
  try {
    check();
    return [];
  } catch (error) {
    const fields = error instanceof DomainError ? error.extras.fields : undefined;
    if (fields === undefined) throw error;
    return Object.entries(fields).map(([name, message]) => ({ path: `/${name}`, code: 'content', message }));
  }
}

/** The faults as one sentence, for a message. */
export function describeFaults(faults: readonly SchemaFault[]): string {
  return faults.map(({ path, message }) => `${path === '' ? 'the value' : path} ${message}`).join('; ');
}

/** Refuses a direct call whose arguments have faults: VALIDATION_ERROR, by bare argument name. */
export function throwIfFaulty(faults: readonly SchemaFault[]): void {
  // Without a prototype, so that `__proto__` is a name like any other.
  const fields = Object.create(null) as FieldFaults;
  for (const { path, message } of faults) fields[argumentName(path)] ??= message;
  throwIfAny(fields);
}

/** `/activeFiles/0/docPath` as `activeFiles[0].docPath`; the arguments themselves are `args`. */
function argumentName(pointer: string): string {
  if (pointer === '') return 'args';
  const name = pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part, at) => (/^\d+$/.test(part) ? `[${part}]` : at === 0 ? part : `.${part}`))
    .join('');
  return name.length > MAX_FIELD_NAME ? `${name.slice(0, MAX_FIELD_NAME)}…` : name;
}
