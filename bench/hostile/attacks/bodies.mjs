// Bodies that cost more than they weigh: numbers, items, keys, depth, combining marks.
import { MIB, repeated, times } from '../attack-fixture.mjs';

/** @typedef {import('../attacks.mjs').Attack} Attack */

/** A turn whose one call has these arguments, as JSON text. */
const turnOf = (name, json) =>
  `{"waitMs":0,"toolCalls":[{"toolCallId":"c","name":"${name}","arguments":${json}}]}`;
const turns = (fixture) => `${fixture.home}/sessions/${fixture.session}/turns`;
const list = (item, bytes) => `[${repeated(item, bytes, ',')}]`;
const patchOf = (files) => `{"files":${files}}`;

/** An attack that sends one body some times at once. */
const bodies = (name, count, path, make, more = {}) => ({
  ...{ name, isQuick: true, prepare: async (fixture) => make(fixture) },
  run: (fixture, body) => times(count, () => fixture.post(path(fixture), body)),
  ...more,
});

/** One that is much like another, so it is not tried each time. */
const large = (...given) => ({ ...bodies(...given), isQuick: false });

/** @type {Attack[]} */
export const BODIES = [
  bodies('2 MB of zeros as files of a patch', 4, turns, () =>
    turnOf('workspace_write_patch', patchOf(list('0', 2 * MIB))),
  ),
  large('9 MB of empty files of a patch', 2, turns, () =>
    turnOf('workspace_write_patch', patchOf(list('{}', 9 * MIB))),
  ),
  bodies('10,000 faulty files of a patch', 4, turns, () =>
    turnOf('workspace_write_patch', patchOf(list('{"docPath":7,"changes":[{"a":1},{"b":2}]}', MIB * 0.4))),
  ),
  bodies('a patch of one file with 200,000 changes', 2, turns, () => {
    const change = '{"operation":"insert","afterLine":1,"newLines":["x"]}';
    return turnOf(
      'workspace_write_patch',
      patchOf(
        `[{"docPath":"a/b.txt","originalSha256":"${'a'.repeat(64)}","changes":${list(change, 11 * MIB)}}]`,
      ),
    );
  }),
  bodies('4 MB of 1e1 as numbers', 8, turns, () =>
    turnOf('write', `{"path":"/a","content":${list('1e1', 4 * MIB)}}`),
  ),
  large('15 MB of long numbers', 3, turns, () =>
    turnOf('write', `{"path":"/a","content":${list('12345678901234567', 15 * MIB)}}`),
  ),
  bodies('100 bodies of 240,000 empty lists', 100, turns, () =>
    turnOf('write', `{"path":"/a","content":${list('[]', 0.7 * MIB)}}`),
  ),
  bodies('40 bodies of 49,000 names, each 300 long', 40, turns, () => {
    const keys = Array.from({ length: 49_000 }, (_, n) => `"${(n * 7919) % 49_999}${'k'.repeat(295)}":1`);
    return turnOf('write', `{"path":"/a","content":{${keys.join(',')}}}`);
  }),
  bodies('40 patches of 19,000 changes', 40, turns, () => {
    const change = (n) => `{"operation":"insert","afterLine":${n},"newLines":["${'x'.repeat(60)}"]}`;
    const changes = Array.from({ length: 19_000 }, (_, n) => change(n)).join(',');
    const file = `{"docPath":"a/b.txt","originalSha256":"${'a'.repeat(64)}","changes":[${changes}]}`;
    return turnOf('workspace_write_patch', patchOf(`[${file}]`));
  }),
  bodies('40 turns of 1,000 calls that are at fault', 40, turns, () => {
    const call = (n) =>
      `{"toolCallId":"${n}","name":"edit","arguments":{"path":7,"b":[1,{"c":2}],"oldString":[]}}`;
    return `{"waitMs":0,"toolCalls":[${Array.from({ length: 1000 }, (_, n) => call(n)).join(',')}]}`;
  }),
  bodies('15 MB of empty lists', 3, turns, () =>
    turnOf('write', `{"path":"/a","content":${list('[]', 15 * MIB)}}`),
  ),
  large('15 MB of lists 200 deep', 3, turns, () =>
    turnOf('write', `{"path":"/a","content":${list('['.repeat(200) + ']'.repeat(200), 15 * MIB)}}`),
  ),
  bodies('600,000 keys of one object', 3, turns, () => {
    const keys = Array.from({ length: 600_000 }, (_, n) => `"${(n * 7919) % 600_011}k":1`).join(',');
    return turnOf('ls', `{"path":"/",${keys}}`);
  }),
  large('600,000 unknown properties of a request', 3, turns, () => {
    const keys = Array.from({ length: 600_000 }, (_, n) => `"k${n}":1`).join(',');
    return `{"toolCalls":[],${keys}}`;
  }),
  large('15 MB of escapes', 4, turns, () =>
    turnOf('write', `{"path":"/a","content":"${repeated('\\u0041', 15 * MIB)}"}`),
  ),
  large('8,000,000 zeros as tool calls', 2, turns, () => `{"toolCalls":${list('0', 16 * MIB - 100)}}`),
  bodies(
    '8,000,000 zeros as Active Files',
    2,
    (fixture) => `${fixture.home}/sessions/${fixture.session}/active-files`,
    () => `{"activeFiles":${list('0', 16 * MIB - 100)}}`,
    {
      run: (fixture, body) =>
        times(2, () => fixture.ask('PUT', `${fixture.home}/sessions/${fixture.session}/active-files`, body)),
    },
  ),
  large(
    '8,000,000 zeros as files of a commit',
    2,
    (fixture) => `${fixture.home}/files/commit`,
    () => `{"files":${list('0', 16 * MIB - 100)}}`,
  ),
  large(
    '8,000,000 zeros as hashes',
    2,
    (fixture) => `${fixture.home}/blobs/missing`,
    () => `{"sha256s":${list('0', 16 * MIB - 100)}}`,
  ),
  bodies('1,000 calls of tools that there are not, with names of 16 KB', 2, turns, () => {
    const name = 'x'.repeat(15_000);
    const calls = Array.from(
      { length: 1000 },
      (_, n) => `{"toolCallId":"${n}","name":"${name}","arguments":{}}`,
    );
    return `{"toolCalls":[${calls.join(',')}]}`;
  }),
  bodies('64 bodies of 15 MB at once', 64, turns, () =>
    turnOf('write', `{"path":"/a","content":"${'a'.repeat(15 * MIB)}"}`),
  ),
  {
    name: 'a path of 200 KB of combining marks',
    isQuick: true,
    run: (fixture) => times(4, () => fixture.tool('read', { path: `/a${'\u0315\u0300'.repeat(50_000)}` })),
  },
  {
    name: 'Active Files with 1,000 paths of combining marks',
    isQuick: true,
    prepare: async () =>
      Array.from({ length: 1000 }, (_, n) => {
        const docPath = `${n}a${'\u0315\u0300'.repeat(500)}`;
        return { docPath, displayPath: docPath, sha256: 'a'.repeat(64), sizeBytes: 1, isDirty: false };
      }),
    run: (fixture, activeFiles) =>
      times(4, () =>
        fixture.ask('PUT', `${fixture.home}/sessions/${fixture.session}/active-files`, { activeFiles }),
      ),
  },
  {
    name: '10,000 docPaths of combining marks in a patch',
    isQuick: true,
    prepare: async () => {
      const changes = [{ operation: 'insert', afterLine: 0, newLines: ['x'] }];
      const marks = '\u0315\u0300'.repeat(300);
      return Array.from({ length: 8_000 }, (_, n) => ({
        ...{ docPath: `r/${n}a${marks}`, originalSha256: 'a'.repeat(64), changes },
      }));
    },
    run: (fixture, files) =>
      times(2, () => fixture.turn([{ name: 'workspace_write_patch', arguments: { files } }])),
  },
  {
    name: 'a folder’s name of 1 MB of combining marks in a handshake',
    isQuick: true,
    async run(fixture) {
      const name = 'a\u0315\u0300'.repeat(200_000);
      const rootId = '0196e9a0-0000-7000-8000-000000000001';
      await times(4, () => fixture.socket({ roots: [{ name, rootId, docPath: name }] }));
    },
  },
  {
    name: '15,000 commas in If-Match',
    isQuick: true,
    run: (fixture) =>
      times(40, () =>
        fixture.ask('PUT', `${fixture.home}/contents/a.txt`, 'x', {
          headers: { 'if-match': `"a"${', '.repeat(7_000)}x`, 'content-type': 'application/octet-stream' },
        }),
      ),
  },
  {
    name: 'query strings of 10,000 parameters',
    run: (fixture) => times(100, () => fixture.get(`${fixture.home}/files?${repeated('a=1', 14_000, '&')}`)),
  },
];
