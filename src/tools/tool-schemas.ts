import type { ErrorObject } from 'ajv';
import { type Json, shortText } from '@patchbay/protocol';
import { DomainError, type FieldFaults, throwIfAny } from '../common/domain-error.js';

/** One fault of a value: a JSON Pointer ("" is the value itself), the broken rule, and how to fix it. */
export type SchemaFault = { path: string; code: string; message: string };

/** Longest argument name that an error repeats, in characters. */
const MAX_FIELD_NAME = 64;

/** Longest unknown property that a fault repeats, in characters. */
export const MAX_NAME = 100;

/** Faults that one answer names. */
export const MAX_FAULTS = 20;

/** Longest path that a fault repeats, in characters. */
const MAX_PATH = 500;

/** Converts an Ajv error to a fault. */
export function toFault(error: ErrorObject, value: Json): SchemaFault {
  const { keyword, params, message = 'is not valid' } = error as ErrorObject & { params: FaultParams };
  const path = cut(error.instancePath, MAX_PATH);
  switch (keyword) {
    case 'required':
      return { path: `${path}/${params.missingProperty}`, code: keyword, message: 'is required' };
    case 'additionalProperties':
      return {
        path: `${path}/${cut(params.additionalProperty, MAX_NAME)}`,
        code: keyword,
        message: 'is not a known property',
      };
    case 'enum':
      return { path, code: keyword, message: `must be one of ${JSON.stringify(params.allowedValues)}` };
    case 'const':
      return { path, code: keyword, message: `must be ${JSON.stringify(params.allowedValue)}` };
    case 'type':
      return { path, code: keyword, message: `${message}, is ${typeAt(error.instancePath, value)}` };
    default:
      return { path, code: keyword, message };
  }
}

interface FaultParams {
  missingProperty?: string;
  additionalProperty?: string;
  allowedValues?: Json[];
  allowedValue?: Json;
}

/** The JSON type of the value at a JSON Pointer. */
function typeAt(pointer: string, value: Json): string {
  const found = pointerParts(pointer).reduce<unknown>(
    (holder, part) => (holder as { [key: string]: unknown } | null | undefined)?.[part],
    value,
  );
  return found === null ? 'null' : Array.isArray(found) ? 'array' : typeof found;
}

function pointerParts(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function cut(name = '', most: number): string {
  return shortText(name, most);
}

/** The faults that a check throws, by argument name; none if it does not throw. */
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

/** Refuses a direct call with invalid arguments: VALIDATION_ERROR, by bare argument name. */
export function throwIfFaulty(faults: readonly SchemaFault[]): void {
  // Without a prototype, so that `__proto__` is an ordinary name.
  const fields = Object.create(null) as FieldFaults;
  for (const { path, message } of faults) fields[argumentName(path)] ??= message;
  throwIfAny(fields);
}

/** `/activeFiles/0/docPath` as `activeFiles[0].docPath`; the arguments themselves are `args`. */
function argumentName(pointer: string): string {
  if (pointer === '') return 'args';
  const name = pointerParts(pointer)
    .map((part, at) => (/^\d+$/.test(part) ? `[${part}]` : at === 0 ? part : `.${part}`))
    .join('');
  return shortText(name, MAX_FIELD_NAME);
}
