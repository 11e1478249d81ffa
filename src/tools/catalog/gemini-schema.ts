import type { JsonSchema } from '@patchbay/protocol';

/** JSON Schema keywords that Gemini supports and that contain no subschemas. */
const KEPT = new Set([
  ...['type', 'format', 'title', 'description', 'enum', 'required'],
  ...['minItems', 'maxItems', 'minimum', 'maximum'],
]);

/**
 * Reduces an argument schema to what Gemini supports. Dropped keywords (lengths, patterns) are still checked when the
 * call arrives.
 */
export function geminiSchema(schema: JsonSchema): JsonSchema {
  return Object.fromEntries(Object.entries(schema).flatMap(([key, value]) => entriesOf(key, value)));
}

function entriesOf(keyword: string, value: unknown): [string, unknown][] {
  switch (keyword) {
    case 'const':
      return [['enum', [value]]];
    case 'items':
    case 'additionalProperties':
      return [[keyword, typeof value === 'boolean' ? value : geminiSchema(value as JsonSchema)]];
    case 'properties':
      return [[keyword, mapValues(value as { [name: string]: JsonSchema })]];
    case 'anyOf':
    case 'oneOf':
      return [['anyOf', (value as JsonSchema[]).map(geminiSchema)]];
    default:
      return KEPT.has(keyword) ? [[keyword, value]] : [];
  }
}

function mapValues(properties: { [name: string]: JsonSchema }): { [name: string]: JsonSchema } {
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, geminiSchema(schema)]));
}
