import type { JsonSchema } from '@patchbay/protocol';

/** An object schema without additional properties; all properties are required unless `required` lists fewer. */
export function objectSchema(
  properties: { [name: string]: JsonSchema },
  required: readonly string[] = Object.keys(properties),
): JsonSchema {
  return { type: 'object', properties, required: [...required], additionalProperties: false };
}

/** Schema of a Cloud path argument. */
export function cloudPath(description: string): JsonSchema {
  return { type: 'string', minLength: 1, description };
}

/** The same, optional. */
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

/** The explanation of Cloud paths in tool descriptions. */
export const PATH_RULES =
  'Paths start at the workspace root, with forward slashes; the leading slash is optional. ' +
  'Case is ignored. No `..`, no backslashes; escapes are taken literally.';
