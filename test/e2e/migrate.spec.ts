import type { AuditPage, CloudFilePage, CloudFileVersionPage, FileCommitAnswer } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkInvariants } from '../support/invariants.js';
import { aDatabaseOn, describeOnMongo, MONGO_SERVER } from '../support/mongo-server.js';
import { patchCall, TEXT } from '../support/patch-desk.js';
import { TestProcess } from '../support/processes.js';
import { RelayScene } from '../support/relay-scene.js';
import { startTestServer, type TestServer, type TestUser } from '../support/server.js';

import.meta.jest.setTimeout(120_000);

const ADMIN = fileURLToPath(new URL('../../dist/admin.js', import.meta.url));
const JWT_SECRET = 'a secret that both servers have, long enough to be one';

describeOnMongo('patchbay-admin migrate', () => {
  let directory: string;
  let [data, back] = ['', ''];
  let database: ReturnType<typeof aDatabaseOn>;
  let scene: RelayScene;
  let member: TestUser;
  let before: Record<string, unknown>;

  const on = (dataDir: string, mongodbUri: string | null): Promise<TestServer> =>
    startTestServer({ config: { dataDir, mongodbUri, jwtSecret: JWT_SECRET, deliveryMs: 3_600_000 } });
  const command = (...args: string[]) =>
    new TestProcess('patchbay-admin', ADMIN, args, { PATCHBAY_DATA_DIR: data });
  const admin = async (...args: string[]) => {
    const running = command(...args);
    const { code } = await running.exited;
    return { code, said: running.stdout + running.stderr };
  };

  /** All that the API answers about the workspace. */
  const look = async (of: RelayScene): Promise<Record<string, unknown>> => {
    const answers: Record<string, unknown> = {};
    const { workspaceId, user } = of;
    const get = async <T>(path: string): Promise<T> => {
      const { status, body } = await user.get<T>(path);
      answers[path] = [status, body];
      return body;
    };
    const base = `/workspaces/${workspaceId}`;
    await get('/workspaces');
    for (const path of ['', '/members', '/sessions', '/turns', `/sessions/${of.session.sessionId}`])
      await get(`${base}${path}`);
    for (const deleted of [false, true]) {
      const { files } = await get<CloudFilePage>(`${base}/files?deleted=${deleted}`);
      for (const { fileId } of files) {
        const { versions } = await get<CloudFileVersionPage>(`${base}/files/${fileId}/versions`);
        for (const { versionId } of versions)
          await get(`${base}/files/${fileId}/versions/${versionId}/content`);
      }
    }
    for (let cursor = ''; ;) {
      const page = await get<AuditPage>(`${base}/audit?limit=20${cursor}`);
      for (const { turnId, sessionId } of page.events)
        if (turnId !== null && sessionId !== null) await get(`${base}/sessions/${sessionId}/turns/${turnId}`);
      if (page.nextCursor === null) break;
      cursor = `&cursor=${encodeURIComponent(page.nextCursor)}`;
    }
    return answers;
  };
  const lookAt = async (dataDir: string, mongodbUri: string | null): Promise<Record<string, unknown>> => {
    const server = await on(dataDir, mongodbUri);
    try {
      const there = scene.movedTo(server);
      await checkInvariants(there.user, there.workspaceId);
      return await look(there);
    } finally {
      await server.close();
    }
  };

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'patchbay-migrate-'));
    [data, back] = [join(directory, 'data'), join(directory, 'back')];
    database = aDatabaseOn(MONGO_SERVER!);
    const server = await on(data, null);
    scene = await RelayScene.on(server, await server.register());
    member = await server.register();
    const gone = await server.register();
    const base = `/workspaces/${scene.workspaceId}`;
    await scene.user.addMember(scene.workspaceId, member);
    await scene.user.addMember(scene.workspaceId, gone);
    await scene.user.request('DELETE', `${base}/members/${gone.id}`);
    /** Puts the bytes, and commits them on what was committed last, unless it is on something else. */
    const save = async (path: string, content: string, on = last.get(path) ?? null) => {
      const hash = sha256(content);
      const bytes = {
        'content-type': 'application/octet-stream',
        authorization: `Bearer ${scene.user.token}`,
      };
      await server.request('PUT', `${base}/blobs/${hash}`, Buffer.from(content), bytes);
      const files = [{ path, sha256: hash, baseSha256: on }];
      const { body } = await scene.user.post<FileCommitAnswer>(`${base}/files/commit`, { files });
      last.set(path, hash);
      return body.files[0]!;
    };
    const last = new Map<string, string>();
    await save('Repo/src/A.txt', TEXT);
    await save('repo/deep/er/c.txt', 'c');
    for (let n = 0; n < 40; n += 1) expect(await save('Repo/b.txt', `b${n}`)).toHaveProperty('versionId');
    await save('Repo/large.txt', 'x\n'.repeat(1_000_000));
    await save('Repo/gone.txt', 'gone');
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
    const write = (toolCallId: string, content: string) => ({
      ...{ toolCallId, name: 'write', arguments: { path: `/Repo/${toolCallId}.txt`, content } },
    });
    await scene.post([write('w1', 'y'.repeat(600_000)), write('w2', 'small')], { waitMs: 5_000 });
    await scene.post([{ toolCallId: 'r1', name: 'read', arguments: { path: '/Repo/w1.txt' } }], {
      waitMs: 5_000,
    });
    for (let n = 0; n < 30; n += 1) await scene.post([write(`n${n}`, `${n}`)], { waitMs: 5_000 });
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
    // These wait for a client.
    await scene.post([patchCall()]);
    await scene.post([
      { toolCallId: 'o', name: 'workspace_create_file', arguments: { path: 'x', content: 'x' } },
    ]);
    await server.close();
    before = await lookAt(data, null);
  });
  afterAll(async () => {
    await database.drop();
    await rm(directory, { recursive: true, force: true });
  });

  it('takes a directory with real use into a database and back: each answers as the one before', async () => {
    expect(Object.keys(before).length).toBeGreaterThan(100);
    expect(Object.entries(before).filter(([, answer]) => (answer as [number])[0] > 202)).toEqual([]);
    expect(JSON.stringify(before).includes('File.ConflictStored')).toBe(true);

    // Broken off at several points, it goes on.
    for (const point of [
      /moved \d+ of \d+ users/,
      /moved \d+ of \d+ blobs/,
      /moved \d+ of \d+ turns/,
      /verified/,
    ]) {
      const broken = command('migrate', '--to', database.uri);
      await broken.says(point);
      await broken.kill();
      await expect(on(join(directory, 'nothing'), database.uri)).rejects.toThrow('is not complete');
    }
    const there = await admin('migrate', '--to', database.uri);
    expect(there).toMatchObject({
      code: 0,
      said: expect.stringContaining('moved and verified; 3 users, ') as string,
    });
    expect(there.said).toMatch(/^verified (\d+) of \1 audit events$/m);
    expect(await lookAt(join(directory, 'nothing'), database.uri)).toEqual(before);

    for (const point of [/moved \d+ of \d+ versions/, /moved \d+ of \d+ turns/, /verified/]) {
      const broken = command('migrate', '--from', database.uri, '--data-dir', back);
      await broken.says(point);
      await broken.kill();
      expect(await readdir(back)).not.toContain('patchbay.db');
    }
    const again = await admin('migrate', '--from', database.uri, '--data-dir', back);
    expect(again).toMatchObject({ code: 0 });
    expect((await readdir(back)).sort()).toEqual(['patchbay.db', 'patchbay.lock']);
    expect(await lookAt(back, null)).toEqual(before);
    // What was moved is what there is.
    const counts = (said: string) => said.slice(said.indexOf('moved and verified'));
    expect(counts(again.said)).toBe(counts(there.said));
  });

  it('is refused where it would mix or hurt data, and says why without the password', async () => {
    const other = aDatabaseOn(MONGO_SERVER!);
    try {
      const running = await on(data, null);
      const used = await admin('migrate', '--to', other.uri);
      await running.close();
      expect(used).toMatchObject({ code: 1, said: expect.stringContaining('in use by another') as string });
      const filled = await on(join(directory, 'nothing'), other.uri);
      await filled.register();
      const atWork = await RelayScene.on(filled, await filled.register());
      await atWork.post([{ toolCallId: 'w', name: 'write', arguments: { path: '/a', content: 'a' } }], {
        waitMs: 5_000,
      });
      const empty = join(directory, 'empty');
      await mkdir(empty);
      expect(await admin('migrate', '--from', other.uri, '--data-dir', empty)).toMatchObject({
        code: 1,
        said: expect.stringContaining('A server is at work on the database') as string,
      });
      await filled.close();
      expect(await admin('migrate', '--to', other.uri)).toMatchObject({
        code: 1,
        said: expect.stringContaining('holds something already') as string,
      });
      expect(await admin('migrate', '--from', other.uri)).toMatchObject({
        code: 1,
        said: expect.stringContaining('holds data already') as string,
      });
    } finally {
      await other.drop();
    }
    const refused = [
      ['migrate'],
      ['migrate', '--to', 'mongodb://u:hunter2@h/d', '--from', 'mongodb://u:hunter2@h/d'],
      ['migrate', '--to', 'http://u:hunter2@h/d'],
      ['migrate', '--to', '-'],
      ['backup', 'a', '--to', 'mongodb://u:hunter2@h/d'],
    ].map((args) => admin(...args));
    for (const { code, said } of await Promise.all(refused)) {
      expect(code).toBe(2);
      expect(said).not.toContain('hunter2');
    }
    const unreached = await admin(
      'migrate',
      '--to',
      'mongodb://u:hunter2@127.0.0.1:1/d?serverSelectionTimeoutMS=300',
    );
    expect(unreached).toMatchObject({ code: 1, said: expect.stringContaining('127.0.0.1:1') as string });
    expect(unreached.said).not.toContain('hunter2');
  });
});
