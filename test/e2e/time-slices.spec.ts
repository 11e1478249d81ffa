import { jest } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { sha256 } from '@patchbay/protocol/hash';
import { Tool } from '../../src/tools/catalog/tool.js';
import { loopTurn } from '../../src/common/loop-turn.js';
import { INSPECT_PATCHES } from '../../src/patches/patch-jobs.js';
import { type Stores, storesOf } from '../contract/backends.js';
import { FakeClient } from '../support/fake-client.js';
import { suiteFixture } from '../support/fixtures.js';
import { RelayFixture } from '../support/relay-fixture.js';
import type { TestUser } from '../support/server.js';

const STEP_MS = 6;
/** Two steps are more than a slice of 10 ms; one more may have begun before. */
const MOST_STEPS = 3;

function work(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

/** Makes each call of a method take 6 ms, and gives how many there were in each turn of the event loop. */
function slowed<T extends object>(object: T, method: keyof T & string): Map<number, number> {
  const turns = new Map<number, number>();
  const methods = object as Record<string, (...args: unknown[]) => unknown>;
  const real = methods[method]!;
  jest.spyOn(methods, method).mockImplementation(function (this: unknown, ...args) {
    turns.set(loopTurn(), (turns.get(loopTurn()) ?? 0) + 1);
    work(STEP_MS);
    return real.apply(this, args);
  });
  return turns;
}

const many = <T>(count: number, make: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => make(n));
const most = (turns: Map<number, number>): number => Math.max(...turns.values());
const total = (turns: Map<number, number>): number => [...turns.values()].reduce((sum, n) => sum + n, 0);

describe('a burst of requests of one user', () => {
  const fixture = suiteFixture(() => RelayFixture.start());
  let stores: Stores;
  let fileId: string;
  let home: string;
  let bytes: Buffer;
  beforeAll(async () => {
    stores = storesOf(fixture.server.app);
    home = `/workspaces/${fixture.workspaceId}`;
    bytes = Buffer.from('one\ntwo\n');
    await fixture.user.post(`${home}/tools`, {
      tool: 'write',
      args: { path: '/a.txt', content: bytes.toString() },
    });
    const { body } = await fixture.user.get<{ files: { fileId: string }[] }>(`${home}/files`);
    fileId = body.files[0]!.fileId;
  });
  afterEach(() => jest.restoreAllMocks());

  const LISTS: [string, keyof Stores, string, () => string][] = [
    ['pages of files', 'files', 'page', () => '/files?limit=1000'],
    ['pages of versions', 'files', 'versionsOf', () => `/files/${fileId}/versions?limit=1000`],
    ['pages of sessions', 'sessions', 'ofUser', () => '/sessions?limit=500'],
    ['pages of the audit trail', 'audit', 'page', () => '/audit?limit=500'],
    ['clients', 'clients', 'ofUser', () => '/clients'],
    ['files that are not there', 'files', 'below', () => '/contents/none.txt'],
  ];
  it.each(LISTS)('is done in slices of time: %s', async (_, store, method, path) => {
    const turns = slowed(stores[store], method as never);
    await Promise.all(many(30, () => fixture.user.get(`${home}${path()}`)));
    expect(total(turns)).toBeGreaterThanOrEqual(30);
    expect(most(turns)).toBeLessThanOrEqual(MOST_STEPS);
  });

  it('is done in slices of time: journals that several clients resume with', async () => {
    const clients = await Promise.all(
      many(5, (n) => FakeClient.connect(fixture.clientOptions({ clientId: `resumes-${n}` }))),
    );
    fixture.clients.push(...clients);
    const turns = slowed(stores.turns, 'ofCall');
    const entries = () =>
      many(10, () => ({ turnId: 't', callId: randomUUID(), attempt: 1, state: 'running' as const }));
    const answers = await Promise.all(clients.map((client) => client.resume(entries())));
    expect(answers.every(({ ok }) => ok)).toBe(true);
    expect(total(turns)).toBe(50);
    expect(most(turns)).toBeLessThanOrEqual(MOST_STEPS);
  });

  it('is done in slices of time: small events of a client beyond the first of a burst', async () => {
    const client = await fixture.client({ clientId: 'bursts' });
    const turns = slowed(stores.turns, 'ofCall');
    const status = { turnId: 't', attempt: 1, status: 'running' };
    await Promise.all(many(150, () => client.send('tool:status', { ...status, callId: randomUUID() })));
    expect(total(turns)).toBe(150);
    expect(most(turns)).toBeLessThanOrEqual(32 + MOST_STEPS);
  });

  it('is done in slices of time: the patches of a turn, none of which fits', async () => {
    const turns = slowed(INSPECT_PATCHES, 'run');
    const changes = [
      { operation: 'replace', startLine: 1, endLine: 1, expectedOriginalLines: ['x'], newLines: ['y'] },
    ];
    const files = [{ docPath: 'a.txt', originalSha256: sha256(bytes), changes }];
    const calls = many(40, (n) => ({
      toolCallId: `p${n}`,
      name: 'workspace_write_patch',
      arguments: { files },
    }));
    const { body } = await fixture.post(calls);
    expect(body.result.toolResults.map(({ error }) => error?.code)).toEqual(many(40, () => 'LINES_MISMATCH'));
    expect(total(turns)).toBe(40);
    // The first eight calls of a turn stand in no line.
    expect([...turns.values()].sort((a, b) => b - a)[1]).toBeLessThanOrEqual(MOST_STEPS);
  });

  it('is done in slices of time: the calls of a turn, all with arguments that are at fault', async () => {
    const turns = slowed(Tool.prototype, 'readArguments');
    const names = ['read', 'ls', 'grep', 'edit', 'workspace_create_file'];
    const calls = many(50, (n) => ({ toolCallId: `f${n}`, name: names[n % 5], arguments: { none: n } }));
    const { body } = await fixture.post(calls);
    expect(body.result.toolResults.map(({ error }) => error?.code)).toEqual(
      many(50, () => 'INVALID_ARGUMENTS'),
    );
    expect(total(turns)).toBe(50);
    // The first eight calls of a turn stand in no line.
    expect([...turns.values()].sort((a, b) => b - a)[1]).toBeLessThanOrEqual(MOST_STEPS);
  });

  it('is refused before it is done: more rejectedChangeIds than the call has changes', async () => {
    const [call] = await callsOf(1);
    const rejectedChangeIds = many(100_000, () => randomUUID());
    const approval = { decision: 'deny', by: 'x', at: new Date().toISOString() };
    for (const ids of [rejectedChangeIds, [...rejectedChangeIds, randomUUID()], [7], ['x'], {}]) {
      const result = {
        toolCallId: call!.toolCallId,
        result: null,
        approval: { ...approval, rejectedChangeIds: ids },
      };
      const answer = await fixture.postResults(call!.turnId, [result]);
      expect([answer.status, Object.keys((answer.body as { fields?: object }).fields ?? {})]).toEqual([
        400,
        [expect.stringContaining('rejectedChangeIds')],
      ]);
    }
  });

  async function callsOf(count: number): Promise<{ toolCallId: string; turnId: string }[]> {
    const args = (n: number) => ({ path: `c/${n}.txt`, content: 'x' });
    const calls = many(count, (n) => ({
      toolCallId: `c${n}`,
      name: 'workspace_create_file',
      arguments: args(n),
    }));
    const { body } = await fixture.post(calls);
    return calls.map(({ toolCallId }) => ({ toolCallId, turnId: body.result.turnId }));
  }

  it('does not delay others: a push is answered while most of 200 requests are open', async () => {
    const other: TestUser = await fixture.server.register();
    const { id } = await other.createWorkspace();
    const content = Buffer.from('x');
    const blob = sha256(content);
    await other.post(`/workspaces/${id}/tools`, { tool: 'write', args: { path: '/x.txt', content: 'x' } });
    const turns = slowed(stores.files, 'below');
    let open = 200;
    const requests = many(open, (n) =>
      fixture.user.get(`${home}/contents/none-${n}.txt`).finally(() => (open -= 1)),
    );
    while (total(turns) < 5) await new Promise((resolve) => setTimeout(resolve, 1));
    const files = many(100, (n) => ({ path: `pushed/${n}.txt`, sha256: blob, baseSha256: null }));
    const pushed = await other.post(`/workspaces/${id}/files/commit`, { files });
    expect(pushed.status).toBe(200);
    expect(open).toBeGreaterThan(100);
    await Promise.all(requests);
  });
});
