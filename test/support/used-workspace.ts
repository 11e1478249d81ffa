import type { CloudFilePage, FileCommitAnswer, Session } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { ask, asker, decided, deliveredAs, write } from './approval-fixture.js';
import { aRoot } from './fake-client.js';
import { PatchFixture, patchCall, TEXT } from './patch-fixture.js';
import { RelayFixture } from './relay-fixture.js';
import type { TestServer } from './server.js';
import { waitFor } from './wait-for.js';

const DONE = { waitMs: 20_000 };
const PATCHED = 'repo/src/patched.txt';

/** A user's workspace in which there is some of everything that a store keeps; two turns of it wait for a client. */
export async function usedWorkspace(server: TestServer): Promise<RelayFixture> {
  const fixture = await RelayFixture.on(server, await server.register());
  await haveMembers(fixture);
  await haveFiles(fixture);
  await haveTurns(fixture);
  await haveDecisions(fixture);
  await havePatch(fixture);
  await haveUpload(fixture);
  await haveContext(fixture);
  await haveNames(fixture);
  // These wait for a client.
  await fixture.post([patchCall()]);
  await fixture.post([
    { toolCallId: 'o', name: 'workspace_create_file', arguments: { path: 'x', content: 'x' } },
  ]);
  return fixture;
}

const baseOf = ({ workspaceId }: RelayFixture): string => `/workspaces/${workspaceId}`;

/** Another one, and one who was removed. */
async function haveMembers(fixture: RelayFixture): Promise<void> {
  const [member, gone] = [await fixture.server.register(), await fixture.server.register()];
  await fixture.user.addMember(fixture.workspaceId, member);
  await fixture.user.addMember(fixture.workspaceId, gone);
  await fixture.user.request('DELETE', `${baseOf(fixture)}/members/${gone.id}`);
}

/** Many versions, a large one, deleted and restored ones, an empty folder, and bytes that nothing refers to. */
async function haveFiles(fixture: RelayFixture): Promise<void> {
  const base = baseOf(fixture);
  const last = new Map<string, string>();
  /** Puts the bytes, and commits them on what was committed last, unless it is on something else. */
  const save = async (path: string, content: string, on = last.get(path) ?? null, more = {}) => {
    const hash = sha256(content);
    const bytes = {
      'content-type': 'application/octet-stream',
      authorization: `Bearer ${fixture.user.token}`,
    };
    await fixture.server.request('PUT', `${base}/blobs/${hash}`, Buffer.from(content), bytes);
    const files = [{ path, sha256: hash, baseSha256: on, ...more }];
    const { body } = await fixture.user.post<FileCommitAnswer>(`${base}/files/commit`, { files });
    last.set(path, hash);
    return body.files[0]!;
  };
  await save('Repo/src/A.txt', TEXT);
  await save('Repo/src/Patched.txt', TEXT);
  await save('repo/deep/er/c.txt', 'c');
  for (let n = 0; n < 40; n += 1) expect(await save('Repo/b.txt', `b${n}`)).toHaveProperty('versionId');
  await save('Repo/large.txt', 'x\n'.repeat(1_000_000));
  await save('Repo/gone.txt', 'gone');
  await save('Repo/run.sh', 'run', null, { isExecutable: true });
  const { files } = (await fixture.user.get<CloudFilePage>(`${base}/files`)).body;
  const restored = files.find(({ path }) => path.endsWith('/gone.txt'))!;
  const tool = (name: string, args: object) => fixture.user.post(`${base}/tools`, { tool: name, args });
  await tool('rm', { path: '/Repo/gone.txt' });
  await fixture.user.post(`${base}/files/${restored.fileId}/restore`, {});
  await tool('rm', { path: '/repo/deep/er/c.txt' });
  await tool('mkdir', { path: '/Made/Empty' });
  // Refused, so nothing refers to its bytes.
  expect(await save('Repo/b.txt', 'loose', sha256('nothing that it ever was'))).toHaveProperty(
    'error.code',
    'STALE',
  );
}

async function haveTurns(fixture: RelayFixture): Promise<void> {
  await fixture.post([write('w1', '/Repo/w1.txt', 'y'.repeat(600_000)), write('w2', '/Repo/w2.txt')], DONE);
  await fixture.post([{ toolCallId: 'r1', name: 'read', arguments: { path: '/Repo/w1.txt' } }], DONE);
  for (let n = 0; n < 30; n += 1) await fixture.post([write(`n${n}`, `/Repo/n${n}.txt`)], DONE);
}

/** Calls that a person has allowed, edited, in a few words and in many, and denied. */
async function haveDecisions(fixture: RelayFixture): Promise<void> {
  await ask(fixture, ['write']);
  const client = await asker(fixture);
  const edit = (text: string) =>
    decided('edit', { editedArguments: { path: '/Repo/edited.txt', content: { text } } });
  const reports = {
    allowed: decided('allow', { note: 'Go on.' }),
    edited: edit('as a person has it'),
    rewritten: edit('edited '.repeat(40_000)),
    denied: decided('deny', { note: 'Not this one.' }),
  };
  for (const [id, report] of Object.entries(reports)) {
    const { turnId } = (await fixture.post([write(id, `/Repo/${id}.txt`)])).body.result;
    await waitFor(() => deliveredAs(client, id) !== undefined, `${id} to be asked for`);
    expect(await client.report(deliveredAs(client, id), report)).toEqual({ ok: true });
    await fixture.untilCall(turnId, id, id === 'denied' ? 'denied' : 'succeeded');
  }
  client.close();
  await ask(fixture, []);
}

/** One that a client has carried out. */
async function havePatch(fixture: RelayFixture): Promise<void> {
  const client = await fixture.client({ tools: ['workspace_write_patch'] });
  const setup = Object.assign(new PatchFixture(() => fixture.server), { fixture, client });
  const { turnId } = (await fixture.post([patchCall([{ docPath: PATCHED }], { batchKey: 'carried-out' })]))
    .body.result;
  await setup.carryOut(await client.delivery(), { [PATCHED]: TEXT });
  await fixture.untilCall(turnId, 'p1', 'succeeded');
  client.close();
}

/** With a version that came too late. */
async function haveUpload(fixture: RelayFixture): Promise<void> {
  const client = await fixture.client();
  for (const [content, on] of [
    ['up', null],
    ['up 2', 'up'],
    ['late', 'up'],
  ] as const)
    await client.socket.timeout(20_000).emitWithAck('files:put', {
      ...{ docPath: 'repo/up.txt', path: '/Repo/up.txt', content: Buffer.from(content) },
      ...{ sha256: sha256(content), baseSha256: on === null ? null : sha256(on) },
    });
  client.close();
}

/** A session with a choice of tools and open files. */
async function haveContext({ user, workspaceId }: RelayFixture): Promise<void> {
  const sessions = `/workspaces/${workspaceId}/sessions`;
  const { body } = await user.post<Session>(sessions, { tools: ['read', 'write'] });
  const activeFiles = ['repo/b.txt', 'repo/not in the cloud.txt'].map((docPath) => {
    return { docPath, displayPath: docPath, sha256: sha256(docPath), sizeBytes: 5, isDirty: true };
  });
  const { status } = await user.request('PUT', `${sessions}/${body.sessionId}/active-files`, { activeFiles });
  expect(status).toBeLessThan(300);
}

/** A folder's name that is taken, and a turn that an Idempotency-Key names. */
async function haveNames(fixture: RelayFixture): Promise<void> {
  const root = aRoot('Repo');
  const client = await fixture.client({ clientId: 'with-a-folder', tools: [], roots: [root] });
  client.close();
  const headers = { authorization: `Bearer ${fixture.user.token}`, 'idempotency-key': 'once' };
  const body = { toolCalls: [write('keyed', '/Repo/keyed.txt')], ...DONE };
  expect((await fixture.server.request('POST', fixture.base, body, headers)).status).toBeLessThan(300);
}
