import type { AuditPage, CloudFilePage, CloudFileVersionPage, SessionPage } from '@patchbay/protocol';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkInvariants } from '../support/invariants.js';
import { aDatabaseOn, describeOnMongo, MONGO_SERVER } from '../support/mongo-server.js';
import { TestProcess } from '../support/processes.js';
import type { RelayScene } from '../support/relay-scene.js';
import { startTestServer, type TestServer } from '../support/server.js';
import { usedWorkspace } from '../support/used-workspace.js';

import.meta.jest.setTimeout(120_000);

const ADMIN = fileURLToPath(new URL('../../dist/admin.js', import.meta.url));
const JWT_SECRET = 'a secret that both servers have, long enough to be one';

describeOnMongo('patchbay-admin migrate', () => {
  let directory: string;
  let [data, back] = ['', ''];
  let database: ReturnType<typeof aDatabaseOn>;
  let scene: RelayScene;
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
    for (const path of ['', '/members', '/turns']) await get(`${base}${path}`);
    const { sessions } = await get<SessionPage>(`${base}/sessions`);
    for (const { sessionId } of sessions)
      for (const path of ['', '/context?format=json']) await get(`${base}/sessions/${sessionId}${path}`);
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
      for (const { fields } of page.events)
        if (typeof fields.batchId === 'string')
          for (const path of ['', '/diff']) await get(`${base}/patches/${fields.batchId}${path}`);
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
    scene = await usedWorkspace(server);
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
    const all = JSON.stringify(before);
    for (const shown of [
      'File.ConflictStored',
      '"decision":"edit"',
      '"denied"',
      '"applied"',
      'not in the cloud',
    ])
      expect(all).toContain(shown);

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
