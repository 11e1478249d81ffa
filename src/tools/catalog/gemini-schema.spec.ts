import { writePatch } from '@patchbay/protocol';
import { geminiSchema } from './gemini-schema.js';

/** All keywords in schema positions. */
function keywordsOf(schema: unknown, found = new Set<string>()): Set<string> {
  for (const [key, value] of Object.entries(schema as object)) {
    found.add(key);
    if (key === 'properties') Object.values(value as object).forEach((one) => keywordsOf(one, found));
    else if (key === 'anyOf') (value as object[]).forEach((one) => keywordsOf(one, found));
    else if (key === 'items') keywordsOf(value, found);
  }
  return found;
}

describe('A schema for Gemini', () => {
  it('keeps structure and descriptions, and renders a constant as a one-value enum', () => {
    const operation = { type: 'string', const: 'insert', description: 'What.' };
    const schema = { type: 'object', properties: { operation, pattern: { type: 'string', minLength: 1 } } };
    expect(geminiSchema(schema)).toEqual({
      type: 'object',
      properties: {
        operation: { type: 'string', enum: ['insert'], description: 'What.' },
        pattern: { type: 'string' },
      },
    });
  });

  it('of the largest tool contains only keywords that Gemini supports', () => {
    const known = [
      ...['type', 'description', 'properties', 'required', 'additionalProperties', 'items', 'anyOf'],
      ...['enum', 'minItems', 'maxItems', 'minimum', 'maximum'],
    ];
    for (const keyword of keywordsOf(geminiSchema(writePatch.requestSchema)))
      expect(known).toContain(keyword);
  });
});
