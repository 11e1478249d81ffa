import type { CloudFilePage, FileCommitAnswer, Session } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { ask, asker, decided, deliveredAs, write } from './approval-desk.js';
import { aRoot } from './fake-client.js';
import { PatchDesk, patchCall, TEXT } from './patch-desk.js';
import { RelayScene } from './relay-scene.js';
import type { TestServer } from './server.js';
import { waitFor } from './wait-for.js';

const DONE = { waitMs: 5_000 };
const PATCHED = 'repo/src/patched.txt';

/** A user's workspace in which there is some of everything that a store keeps; two turns of it wait for a client. */
export async function usedWorkspace(server: TestServer): Promise<RelayScene> {
  const scene = await RelayScene.on(server, await server.register());
  await haveMembers(scene);
  await haveFiles(scene);
  await haveTurns(scene);
  await haveDecisions(scene);
  await havePatch(scene);
  await haveUpload(scene);
  await haveContext(scene);
  await haveNames(scene);
  // These wait for a client.
  await scene.post([patchCall()]);
  await scene.post([
    { toolCallId: 'o', name: 'workspace_create_file', arguments: { path: 'x', content: 'x' } },
  ]);
  return scene;
}

const baseOf = ({ workspaceId }: RelayScene): string => `/workspaces/${workspaceId}`;

/** Another one, and one who was removed. */
async function haveMembers(scene: RelayScene): Promise<void> {
  const [member, gone] = [await scene.server.register(), await scene.server.register()];
  await scene.user.addMember(scene.workspaceId, member);
  await scene.user.addMember(scene.workspaceId, gone);
  await scene.user.request('DELETE', `${baseOf(scene)}/members/${gone.id}`);
}

/** Many versions, a large one, deleted and restored ones, an empty folder, and bytes that nothing refers to. */
async function haveFiles(scene: RelayScene): Promise<void> {
  const base = baseOf(scene);
  const last = new Map<string, string>();
  /** Puts the bytes, and commits them on what was committed last, unless it is on something else. */
  const save = async (path: string, content: string, on = last.get(path) ?? null, more = {}) => {
    const hash = sha256(content);
    const bytes = {
      'content-type': 'application/octet-stream',
      authorization: `Bearer ${scene.user.token}`,
    };
    await scene.server.request('PUT', `${base}/blobs/${hash}`, Buffer.from(content), bytes);
    const files = [{ path, sha256: hash, baseSha256: on, ...more }];
    const { body } = await scene.user.post<FileCommitAnswer>(`${base}/files/commit`, { files });
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
  const { files } = (await scene.user.get<CloudFilePage>(`${base}/files`)).body;
  const restored = files.find(({ path }) => path.endsWith('/gone.txt'))!;
  const tool = (name: string, args: object) => scene.user.post(`${base}/tools`, { tool: name, args });
  await tool('rm', { path: '/Repo/gone.txt' });
  await scene.user.post(`${base}/files/${restored.fileId}/restore`, {});
  await tool('rm', { path: '/repo/deep/er/c.txt' });
  await tool('mkdir', { path: '/Made/Empty' });
  // Refused, so nothing refers to its bytes.
  expect(await save('Repo/b.txt', 'loose', sha256('nothing that it ever was'))).toHaveProperty(
    'error.code',
    'STALE',
  );
}

async function haveTurns(scene: RelayScene): Promise<void> {
  await scene.post([write('w1', '/Repo/w1.txt', 'y'.repeat(600_000)), write('w2', '/Repo/w2.txt')], DONE);
  await scene.post([{ toolCallId: 'r1', name: 'read', arguments: { path: '/Repo/w1.txt' } }], DONE);
  for (let n = 0; n < 30; n += 1) await scene.post([write(`n${n}`, `/Repo/n${n}.txt`)], DONE);
}

/** Calls that a person has allowed, edited, in a few words and in many, and denied. */
async function haveDecisions(scene: RelayScene): Promise<void> {
  await ask(scene, ['write']);
  const client = await asker(scene);
  const edit = (text: string) =>
    decided('edit', { editedArguments: { path: '/Repo/edited.txt', content: { text } } });
  const reports = {
    allowed: decided('allow', { note: 'Go on.' }),
    edited: edit('as a person has it'),
    rewritten: edit('edited '.repeat(40_000)),
    denied: decided('deny', { note: 'Not this one.' }),
  };
  for (const [id, report] of Object.entries(reports)) {
    const { turnId } = (await scene.post([write(id, `/Repo/${id}.txt`)])).body.result;
    await waitFor(() => deliveredAs(client, id) !== undefined, `${id} to be asked for`);
    expect(await client.report(deliveredAs(client, id), report)).toEqual({ ok: true });
    await scene.untilCall(turnId, id, id === 'denied' ? 'denied' : 'succeeded');
  }
  client.close();
  await ask(scene, []);
}

/** One that a client has carried out. */
async function havePatch(scene: RelayScene): Promise<void> {
  const client = await scene.client({ tools: ['workspace_write_patch'] });
  const desk = Object.assign(new PatchDesk(() => scene.server), { scene, client });
  const { turnId } = (await scene.post([patchCall([{ docPath: PATCHED }], { batchKey: 'carried-out' })])).body
    .result;
  await desk.carryOut(await client.delivery(), { [PATCHED]: TEXT });
  await scene.untilCall(turnId, 'p1', 'succeeded');
  client.close();
}

/** With a version that came too late. */
async function haveUpload(scene: RelayScene): Promise<void> {
  const client = await scene.client();
  for (const [content, on] of [
    ['up', null],
    ['up 2', 'up'],
    ['late', 'up'],
  ] as const)
    await client.socket.timeout(5_000).emitWithAck('files:put', {
      ...{ docPath: 'repo/up.txt', path: '/Repo/up.txt', content: Buffer.from(content) },
      ...{ sha256: sha256(content), baseSha256: on === null ? null : sha256(on) },
    });
  client.close();
}

/** A session with a choice of tools and open files. */
async function haveContext({ user, workspaceId }: RelayScene): Promise<void> {
  const sessions = `/workspaces/${workspaceId}/sessions`;
  const { body } = await user.post<Session>(sessions, { tools: ['read', 'write'] });
  const activeFiles = ['repo/b.txt', 'repo/not in the cloud.txt'].map((docPath) => {
    return { docPath, displayPath: docPath, sha256: sha256(docPath), sizeBytes: 5, isDirty: true };
  });
  const { status } = await user.request('PUT', `${sessions}/${body.sessionId}/active-files`, { activeFiles });
  expect(status).toBeLessThan(300);
}

/** A folder's name that is taken, and a turn that an Idempotency-Key names. */
async function haveNames(scene: RelayScene): Promise<void> {
  const root = aRoot('Repo');
  const client = await scene.client({ clientId: 'with-a-folder', tools: [], roots: [root] });
  client.close();
  const headers = { authorization: `Bearer ${scene.user.token}`, 'idempotency-key': 'once' };
  const body = { toolCalls: [write('keyed', '/Repo/keyed.txt')], ...DONE };
  expect((await scene.server.request('POST', scene.base, body, headers)).status).toBeLessThan(300);
}
