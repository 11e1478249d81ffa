import type { Json, ToolContract } from '@patchbay/protocol';
import { suiteFixture } from '../../support/fixtures.js';
import { startTestServer } from '../../support/server.js';

/** Every `pattern` in a schema, at whatever depth. */
function patternsIn(schema: Json): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const own = !Array.isArray(schema) && typeof schema.pattern === 'string' ? [schema.pattern] : [];
  return [...own, ...Object.values(schema).flatMap(patternsIn)];
}

/** Quantifiers without an upper bound; what stands in a class of characters, or behind a backslash, is none. */
function unbounded(pattern: string): string[] {
  const rest = pattern.replace(/\\./g, 'x').replace(/\[[^\]]*\]/g, 'x');
  return rest.match(/[*+]|\{\d+,\}/g) ?? [];
}

describe('the patterns in contracts', () => {
  const server = suiteFixture(() => startTestServer());

  it('take linear time: each has at most one unbounded repetition', async () => {
    const ada = await server.register();
    const { id } = await ada.createWorkspace();
    const { body } = await ada.get<{ tools: ToolContract[] }>(`/workspaces/${id}/tools`);
    const patterns = body.tools.flatMap(({ requestSchema, responseSchema }) =>
      patternsIn([requestSchema, responseSchema] as Json),
    );
    expect(patterns.length).toBeGreaterThan(5);
    expect(patterns.filter((pattern) => unbounded(pattern).length > 1)).toEqual([]);
    expect(unbounded('^(a+)+$')).toHaveLength(2);
  });
});
