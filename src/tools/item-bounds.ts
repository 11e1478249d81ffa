import type { Json, JsonSchema } from '@patchbay/protocol';
import type { SchemaFault } from './tool-schemas.js';

/**
 * The first list that exceeds its schema's `maxItems`, among lists nested only in objects. Checked first, since other
 * list rules may run before the length check.
 */
export function tooManyIn(schema: JsonSchema, value: Json, path = ''): SchemaFault | null {
  const { maxItems, properties } = schema as { maxItems?: number; properties?: Record<string, JsonSchema> };
  if (Array.isArray(value)) {
    if (maxItems === undefined || value.length <= maxItems) return null;
    const message = `must NOT have more than ${maxItems} items, has ${value.length}`;
    return { path, code: 'maxItems', message };
  }
  if (typeof value !== 'object' || value === null) return null;
  for (const [name, ofProperty] of Object.entries(properties ?? {})) {
    if (!Object.hasOwn(value, name)) continue;
    const fault = tooManyIn(ofProperty, value[name]!, `${path}/${name}`);
    if (fault) return fault;
  }
  return null;
}
