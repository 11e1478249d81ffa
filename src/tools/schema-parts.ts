import type { JsonSchema } from '@patchbay/protocol';

/** An object that has these properties and no others; all of them are required unless `required` says less. */
export function objectSchema(
  properties: { [name: string]: JsonSchema },
  required: readonly string[] = Object.keys(properties),
): JsonSchema {
  return { type: 'object', properties, required: [...required], additionalProperties: false };
}

/** The path of a Cloud file or folder, as the tools take it. */
export function cloudPath(description: string): JsonSchema {
  return { type: 'string', minLength: 1, description };
}

/** The same where it may be left out. */
export function optional(schema: JsonSchema): JsonSchema {
  return { ...schema, type: [schema.type, 'null'] };
}

export const SHA256: JsonSchema = { type: 'string', pattern: '^[0-9a-f]{64}$' };
export const COUNT: JsonSchema = { type: 'integer', minimum: 0 };
export const TEXT: JsonSchema = { type: 'string' };
export const TIME: JsonSchema = { type: 'string', description: 'ISO 8601, UTC.' };
export const UUID: JsonSchema = {
  type: 'string',
  pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
};

/** How every tool that takes a Cloud path explains it. */
export const PATH_RULES =
  'Paths start at the workspace root, with forward slashes; the leading slash may be left out. ' +
  'Upper and lower case name the same file. No `..`, no backslash; nothing is unescaped.';
