// Work that grows with what is sent: many open requests of one kind, long lists in one event, turns whose calls all fail.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { MIB, sha256, times } from '../attack-fixture.mjs';

/** @typedef {import('../attacks.mjs').Attack} Attack */

/** RE2 folds each letter of the range, so 130 bytes take some 40 ms to compile. */
const SLOW_TO_COMPILE = '[B-\u{1ffff}]'.repeat(16);
const many = (count, make) => Array.from({ length: count }, (_, n) => make(n));
const manyFiles = (fixture, count) =>
  fixture.files(
    many(count, (n) => `many/${'d'.repeat(80)}/${n}.txt`),
    Buffer.from('x'),
  );

/** Sessions, events and some open turns, a file with as many versions, and a patch of 20,000 changes; the pages and records to ask for. */
async function manyRecords(fixture, count) {
  for (let n = 0; n < count; n += 1) {
    if (n < 50)
      await fixture.turn([
        { name: 'workspace_create_file', arguments: { path: `t/${n}.txt`, content: 'x' } },
      ]);
    await fixture.file('versions.txt', `${n}`);
    await fixture.post(`${fixture.home}/sessions`, {});
  }
  const { files } = (await fixture.get(`${fixture.home}/files?prefix=versions`)).json();
  const changes = [{ operation: 'insert', afterLine: 0, newLines: ['x'] }];
  const patches = many(5_000, (n) => ({ docPath: `p/${n}.txt`, originalSha256: 'a'.repeat(64), changes }));
  const turn = await fixture.turn([{ name: 'workspace_write_patch', arguments: { files: patches } }]);
  const { toolCalls } = turn.json().result;
  return [
    ...[`/files/${files[0].fileId}/versions?limit=1000`, '/sessions?limit=500', '/turns?limit=500'],
    ...['/audit?limit=500', '/tools', `/sessions/${fixture.session}/context`, '/members'],
    ...(toolCalls[0]?.batch ? [`/patches/${toolCalls[0].batch.batchId}`] : []),
  ];
}

/** A client that has taken as many calls of a turn, and gives what it would say of each in a resume. */
async function journal(fixture, clientId, count) {
  const socket = await fixture.socket({ clientId });
  const entries = [];
  socket.on('tool:call', ({ turnId, callId, attempt }, acknowledge) => {
    acknowledge({ ok: true });
    entries.push({ turnId, callId, attempt, state: 'running' });
  });
  await fixture.say(socket, 'client:resume', []);
  const create = (n) => ({ name: 'workspace_create_file', arguments: { path: `r/${n}.txt`, content: 'x' } });
  await fixture.turn(many(count, create));
  await sleep(500);
  socket.disconnect();
  return entries;
}

/** A patch of which nothing fits: each block that it expects is almost everywhere in the file. */
const failingPatch = (docPath, bytes) => {
  const expectedOriginalLines = [...new Array(49).fill('a'), 'b'];
  const changes = many(20, (n) => ({
    ...{ operation: 'replace', startLine: n * 50 + 1, endLine: n * 50 + 50, expectedOriginalLines },
    newLines: ['new'],
  }));
  return {
    name: 'workspace_write_patch',
    arguments: { files: [{ docPath, originalSha256: sha256(bytes), changes }] },
  };
};

/** Of each tool a call that fails. */
const FAILING_CALLS = [
  { name: 'no_such_tool', arguments: {} },
  { name: 'read', arguments: { path: '/r/nothing.txt' } },
  { name: 'read', arguments: { path: 7, more: 'x' } },
  { name: 'ls', arguments: { path: '/many/nothing' } },
  { name: 'edit', arguments: { path: '/patched.txt', oldString: 'nowhere', newString: 'x' } },
  { name: 'grep', arguments: { pattern: '(' } },
  { name: 'glob', arguments: { pattern: '[' } },
  { name: 'mv', arguments: { from: '/nothing.txt', to: '/other.txt' } },
  { name: 'workspace_read_file', arguments: { docPath: 'r/nothing.txt' } },
  { name: 'workspace_create_file', arguments: { path: '../x', content: 'x' } },
];

/** @type {Attack[]} */
export const LOOP = [
  {
    name: 'loop: 10 greps with a pattern that is slow to compile',
    isQuick: true,
    prepare: (fixture) => fixture.file('a.txt', 'a line\n'),
    async run(fixture) {
      const args = { pattern: SLOW_TO_COMPILE, ignoreCase: true, path: '/' };
      await times(10, () => fixture.tool('grep', args));
      await times(2, () => fixture.turn(many(100, () => ({ name: 'grep', arguments: args }))));
    },
  },
  {
    name: 'loop: 50 pages of 1,000 files at once',
    isQuick: true,
    prepare: (fixture) => manyFiles(fixture, 3_000),
    run: (fixture) => times(50, () => fixture.get(`${fixture.home}/files?limit=1000`)),
  },
  {
    name: 'loop: 200 pages of versions, sessions, turns, events and other lists at once',
    isQuick: true,
    prepare: (fixture) => manyRecords(fixture, 500),
    run: (fixture, lists) => times(200, (n) => fixture.get(`${fixture.home}${lists[n % lists.length]}`)),
  },
  {
    name: 'loop: 200 open requests for files that are not there',
    isQuick: true,
    prepare: (fixture) =>
      fixture.files(
        many(5_000, (n) => `root-${n % 64}/${'d'.repeat(80)}/${n}.txt`),
        Buffer.from('x'),
      ),
    // Each looks for what is near: below every folder of the root, everywhere, and in each folder of the path.
    run: (fixture) =>
      times(200, (n) => fixture.get(`${fixture.home}/contents/${'a/'.repeat(400)}nothing-${n}.txt`)),
  },
  {
    name: 'loop: 20 resumes of 1,000 entries at once',
    isQuick: true,
    async prepare(fixture) {
      const entries = await journal(fixture, 'journal', 500);
      const unknown = () => ({
        ...{ turnId: 'none', callId: randomUUID(), attempt: 1, state: 'succeeded', executionMs: 1 },
        result: { success: true, message: 'x' },
        approval: { decision: 'allow', by: 'x', at: new Date().toISOString() },
      });
      const sockets = await Promise.all(many(20, (n) => fixture.socket({ clientId: `resumes-${n}` })));
      return sockets.map((socket) => ({ socket, entries: [...entries, ...many(500, unknown)] }));
    },
    run: (fixture, resumes) =>
      times(20, (n) => fixture.say(resumes[n].socket, 'client:resume', resumes[n].entries)),
  },
  {
    name: 'loop: 100,000 rejectedChangeIds in each of 8 results, and in 4 entries of a resume',
    isQuick: true,
    prepare: async (fixture) => {
      const entries = await journal(fixture, 'rejects', 10);
      const socket = await fixture.socket({ clientId: 'rejects' });
      await fixture.say(socket, 'client:resume', entries);
      const rejectedChangeIds = many(100_000, () => randomUUID());
      const approval = { decision: 'deny', by: 'x', at: new Date().toISOString(), rejectedChangeIds };
      return {
        socket,
        entries: entries.map((entry) => ({ ...entry, executionMs: 1, result: null, approval })),
      };
    },
    async run(fixture, { socket, entries }) {
      await times(entries.length, (n) => {
        const { turnId, callId, attempt, executionMs, result, approval } = entries[n];
        return fixture.say(socket, 'tool:result', { turnId, callId, attempt, executionMs, result, approval });
      });
      const ended = entries.slice(0, 4).map((entry) => ({ ...entry, state: 'denied' }));
      await fixture.say(await fixture.socket({ clientId: 'rejects' }), 'client:resume', ended);
    },
  },
  {
    name: 'loop: 20 lists of 1,000 Active Files, changes and results that are all at fault',
    isQuick: true,
    run: (fixture) =>
      times(60, (n) => {
        const at = `${fixture.home}/sessions/${fixture.session}`;
        const activeFiles = many(1_000, (m) => ({
          ...{ docPath: `a/${m}.txt`, displayPath: `a/${m}.txt`, sha256: 'a'.repeat(64), sizeBytes: -1 },
          isDirty: false,
        }));
        const results = many(1_000, (m) => ({ toolCallId: `c${m}`, result: { n: m }, executionMs: m }));
        if (n % 3 === 0) return fixture.ask('PUT', `${at}/active-files`, { activeFiles });
        if (n % 3 === 1) return fixture.post(`${at}/turns/nothing/results`, { results });
        const files = many(1_000, (m) => ({ path: `../${m}`, sha256: 'a'.repeat(64), baseSha256: null }));
        return fixture.post(`${fixture.home}/files/commit`, { files });
      }),
  },
  {
    name: 'loop: a log on a full disk, and 400 requests that are logged',
    isQuick: true,
    server: { stdout: '/dev/full', logLevel: 'trace' },
    run: (fixture) =>
      times(400, (n) => fixture.get(`${fixture.home}/files/${n % 2 ? 'no-id' : randomUUID()}/versions`)),
  },
  {
    name: 'loop: 4 turns of 100 patches that fail',
    isQuick: true,
    async prepare(fixture) {
      const bytes = Buffer.from('a\n'.repeat(25_000));
      await fixture.file('patched.txt', bytes);
      return bytes;
    },
    run: (fixture, bytes) =>
      times(4, () => fixture.turn(many(100, () => failingPatch('patched.txt', bytes)))),
  },
  {
    name: 'loop: a turn of 1,000 calls that fail, of each tool',
    isQuick: true,
    async prepare(fixture) {
      await manyFiles(fixture, 2_000);
      await fixture.file('patched.txt', 'a line\n'.repeat(MIB / 16));
    },
    async run(fixture) {
      for (const call of FAILING_CALLS)
        await fixture.turn(
          many(1_000, () => call),
          { waitMs: 1_000 },
        );
    },
  },
];
