// Schemas of custom tools that cost more than they weigh, when they are compiled or when they check a value.
import { repeated, times } from '../attack-fixture.mjs';

/** @typedef {import('../attacks.mjs').Attack} Attack */

const toolOf = (n, schema) => ({
  ...{ name: `tool_${n}`, description: 'hostile' },
  requestSchema: { type: 'object', ...schema },
});

/** Offers these tools from a client, and calls the first of them some times. */
const schemas = (name, schemaOf, { count = 64, args = {}, calls = 0 } = {}) => ({
  ...{ name, isQuick: true },
  async run(fixture) {
    const socket = await fixture.socket({ tools: [] });
    const customTools = Array.from({ length: count }, (_, n) => toolOf(n, schemaOf(n)));
    const changed = fixture.say(socket, 'tools:changed', { customTools });
    if (calls === 0) return changed;
    await changed;
    await fixture.say(socket, 'client:resume', []);
    return times(calls, () => fixture.turn([{ name: 'tool_0', arguments: args }]));
  },
});

const tower = (keyword, depth) =>
  depth === 0
    ? { type: 'object', required: ['x'] }
    : { [keyword]: Array.from({ length: 3 }, () => tower(keyword, depth - 1)) };

/** `$defs` where each one refers to the next twice: 2^30 paths. */
const doubling = () => ({
  $ref: '#/$defs/d0',
  $defs: Object.fromEntries(
    Array.from({ length: 30 }, (_, n) => [
      `d${n}`,
      n === 29
        ? { required: ['x'] }
        : { oneOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] },
    ]),
  ),
});

/** @type {Attack[]} */
export const SCHEMAS = [
  schemas('64 schemas of patterns that backtrack', (n) => ({
    properties: { a: { type: 'string', pattern: `${repeated('(a+)+', 400)}$` }, [`b${n}`]: {} },
  })),
  schemas('64 schemas of patterns that repeat repetitions', (n) => ({
    properties: { a: { pattern: '((a{1,30}){1,30}){1,30}' }, [`b${n}`]: {} },
  })),
  schemas('64 schemas whose references go round in circles', (n) => ({
    allOf: [{ $ref: '#/$defs/a' }],
    $defs: { a: { anyOf: [{ $ref: '#/$defs/b' }] }, b: { $ref: '#/$defs/a' }, [`c${n}`]: {} },
  })),
  schemas('64 towers of oneOf', (n) => ({ title: `t${n}`, ...tower('oneOf', 6) })),
  schemas('schemas that double 30 times, called', doubling, { count: 1, calls: 8, args: { y: 1 } }),
  schemas(
    '64 schemas of 1,500 properties',
    (n) => ({
      properties: Object.fromEntries(Array.from({ length: 1_500 }, (_, p) => [`p${n}_${p}`, {}])),
    }),
    { count: 16 },
  ),
  schemas(
    '20,000 items that have to be unique',
    () => ({ properties: { a: { type: 'array', uniqueItems: true } } }),
    { count: 1, calls: 8, args: { a: Array.from({ length: 20_000 }, (_, n) => ({ n })) } },
  ),
  schemas('a recursive schema and a deep value', () => ({ properties: { a: { $ref: '#' } } }), {
    ...{ count: 1, calls: 8 },
    args: JSON.parse(`${'{"a":'.repeat(200)}{}${'}'.repeat(200)}`),
  }),
];
