import { auditToolName, type ToolContract } from '@patchbay/protocol';
import { Ajv } from 'ajv';
import { CatalogService } from '../../../src/tools/catalog/catalog.service.js';
import { suiteFixture } from '../../support/fixtures.js';
import { startTestServer } from '../../support/server.js';

/** In their order, which a prompt that names them depends on. */
const EXPECTED = [
  ...['ls', 'read', 'write', 'edit', 'rm', 'mv', 'mkdir', 'glob', 'grep'],
  ...['workspace_read_file', 'workspace_list_files', 'workspace_list_active_files', 'code_hash_normalized'],
  ...['get_patch_change', 'workspace_create_file', 'workspace_write_patch'],
];

/** Every schema inside a schema, itself included. */
function* schemasIn(value: unknown): Generator<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield value as Record<string, unknown>;
  for (const child of Object.values(value)) yield* schemasIn(child);
}

describe('The catalog', () => {
  const server = suiteFixture(() => startTestServer());
  let tools: ToolContract[];
  beforeAll(async () => {
    tools = (await server.app.get(CatalogService, { strict: false }).toolset(null)).contracts;
  });

  const each = (check: (tool: ToolContract) => void): void => {
    expect(tools.length).toBeGreaterThan(0);
    for (const tool of tools) {
      try {
        check(tool);
      } catch (error) {
        throw new Error(`${tool.name}: ${(error as Error).message}`, { cause: error });
      }
    }
  };

  it('has no schema with a reference to another, which Gemini would lose', () =>
    each(({ requestSchema, responseSchema }) =>
      expect([...schemasIn([requestSchema, responseSchema])].filter((schema) => '$ref' in schema)).toEqual(
        [],
      ),
    ));

  it('has the documented tools in order, under names that every provider accepts', () => {
    const names = tools.map(({ name }) => name);
    expect(names.filter((name) => EXPECTED.includes(name))).toEqual(EXPECTED);
    each(({ name }) => expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/));
  });

  it('gives every tool audit events of its own [AUDIT-5]', () => {
    const events = tools.map(({ name, category }) => auditToolName(name, category));
    expect(new Set(events).size).toBe(events.length);
    each(({ name, category }) => expect(auditToolName(name, category)).toMatch(/^[A-Z][A-Za-z0-9]+$/));
  });

  it('describes every tool, in its description and under its name in the guidance', () => {
    each(({ name, description, guidance, category }) => {
      expect(category).toMatch(/^[a-z]+$/);
      expect(description.trim().length).toBeGreaterThan(30);
      expect(description).not.toContain('\n');
      expect(guidance.startsWith(`# ${name}\n\n`)).toBe(true);
      expect(guidance.trim().length).toBeGreaterThan(200);
      // What stands side by side in one prompt must not close or open what is around it.
      expect(guidance.match(/^# /gm)).toHaveLength(1);
      expect((guidance.match(/^```/gm) ?? []).length % 2).toBe(0);
    });
  });

  it('mentions only existing tools in its guidance', () => {
    const names = new Set(tools.map(({ name }) => name));
    each(({ guidance, description }) => {
      for (const [name] of `${guidance} ${description}`.matchAll(/\b(workspace|code)_[a-z_]+\b/g)) {
        expect(names).toContain(name);
      }
    });
  });

  it('has schemas that compile under strict rules, for objects whose properties are all known', () => {
    each(({ requestSchema, responseSchema }) => {
      const ajv = new Ajv({ strict: true, allowUnionTypes: true, allErrors: true });
      for (const schema of [requestSchema, responseSchema]) {
        ajv.compile(schema);
        expect(ajv.validateSchema(schema)).toBe(true);
        expect(schema.type).toBe('object');
        expect(JSON.parse(JSON.stringify(schema))).toEqual(schema);
      }
      for (const { type, properties, required } of schemasIn(requestSchema)) {
        if (type !== 'object' || properties === undefined) continue;
        expect(Object.keys(properties as object)).toEqual(
          expect.arrayContaining((required ?? []) as string[]),
        );
      }
      expect(requestSchema.additionalProperties).toBe(false);
    });
  });

  it('describes every argument', () => {
    each(({ requestSchema }) => {
      for (const [name, schema] of Object.entries(
        (requestSchema.properties ?? {}) as Record<string, unknown>,
      )) {
        const described = [...schemasIn(schema)].some(({ description }) => typeof description === 'string');
        if (!described) throw new Error(`${name} has no description`);
      }
    });
  });
});
