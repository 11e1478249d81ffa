import type { JsonSchema } from '@patchbay/protocol';

/** Keywords of JSON Schema that Gemini knows, and that say nothing of schemas further down. */
const KEPT = new Set([
  ...['type', 'format', 'title', 'description', 'enum', 'required'],
  ...['minItems', 'maxItems', 'minimum', 'maximum'],
]);

/**
 * A schema of arguments in the part of JSON Schema that Gemini knows. What it can't say (lengths, patterns) is left out:
 * the arguments are held against the whole schema when the call comes.
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
