import type { AuditPage, InvokeResult, Session, TurnResult } from '@patchbay/protocol';
import { mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Libsql from 'libsql';
import { describeEmbedded } from '../support/backend.js';
import { checkInvariants } from '../support/invariants.js';
import { freePort, ServerProcess, TestProcess } from '../support/processes.js';
import { registerUser, TestUser } from '../support/test-user.js';

import.meta.jest.setTimeout(60_000);

const ADMIN = fileURLToPath(new URL('../../dist/admin.js', import.meta.url));

describeEmbedded('patchbay-admin', () => {
  let directory: string;
  let dataDir: string;
  let server: ServerProcess;
  let user: TestUser;
  let workspaceId: string;
  let turnPath: string;
  const servers: ServerProcess[] = [];

  const startServer = async (data = dataDir): Promise<ServerProcess> => {
    servers.push(await ServerProcess.start(data, await freePort(), { PATCHBAY_BASE_PATH: '' }));
    return servers.at(-1)!;
  };
  /** Runs the command to its end. */
  const admin = async (args: string[], env: Record<string, string> = {}) => {
    const command = new TestProcess('patchbay-admin', ADMIN, args, { PATCHBAY_DATA_DIR: dataDir, ...env });
    const { code } = await command.exited;
    return { code, said: command.stdout + command.stderr };
  };
  const write = (of: TestUser, path: string, content: string) =>
    of.post(`/workspaces/${workspaceId}/tools`, { tool: 'write', args: { path, content } });
  const read = async (of: TestUser, path: string) =>
    (await of.get(`/workspaces/${workspaceId}/contents/${path}`)).body;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'patchbay-backup-'));
    dataDir = join(directory, 'data');
    server = await startServer();
    user = await registerUser(server);
    workspaceId = (await user.createWorkspace()).id;
    const { body } = await user.post<Session>(`/workspaces/${workspaceId}/sessions`, {});
    const turns = `/workspaces/${workspaceId}/sessions/${body.sessionId}/turns`;
    turnPath = `${turns}/t1`;
    const call = { toolCallId: 'c1', name: 'write', arguments: { path: 'a.txt', content: 'by a turn' } };
    await user.post(turns, { turnId: 't1', toolCalls: [call] });
  });
  afterAll(async () => {
    await Promise.all(servers.map((one) => one.kill()));
    await rm(directory, { recursive: true, force: true });
  });

  it('backs up the commits of a running server, and a restore has the turn, the file and the trail', async () => {
    const copy = join(directory, 'copy.db');
    let running = true;
    let written = 0;
    const writes = (async () => {
      for (; running; written += 1)
        expect((await write(user, `n${written}.txt`, 'x'.repeat(10_000))).status).toBe(200);
    })();
    const made = await admin(['backup', copy]);
    running = false;
    await writes;
    expect(made).toMatchObject({ code: 0, said: expect.stringContaining('copy.db: whole; ') as string });
    expect(written).toBeGreaterThan(0);
    expect((await stat(copy)).mode & 0o777).toBe(0o600);
    expect((await readdir(directory)).sort()).toEqual(['copy.db', 'data']);
    await write(user, 'after.txt', 'not in the copy');

    const restored = join(directory, 'restored');
    expect((await admin(['restore', copy, '--data-dir', restored])).code).toBe(0);
    const second = await startServer(restored);
    const again = await second.request<TestUser['credentials']>('POST', '/auth/login', {
      email: user.email,
      password: 'correct horse battery',
    });
    const same = new TestUser(second, again.body);
    const turn = (await same.get<InvokeResult<TurnResult>>(turnPath)).body.result;
    expect(turn).toEqual((await user.get<InvokeResult<TurnResult>>(turnPath)).body.result);
    expect(await read(same, 'a.txt')).toBe(await read(user, 'a.txt'));
    expect((await same.get(`/workspaces/${workspaceId}/contents/after.txt`)).status).toBe(404);
    const trail = (of: TestUser) => of.get<AuditPage>(`/workspaces/${workspaceId}/audit?turnId=t1`);
    expect((await trail(same)).body).toEqual((await trail(user)).body);
    await checkInvariants(same, workspaceId);
  });

  it('overwrites no file without --force, and never the data itself', async () => {
    const copy = join(directory, 'once.db');
    await writeFile(copy, 'something else');
    expect(await admin(['backup', copy])).toMatchObject({
      code: 1,
      said: `patchbay-admin: ${copy} exists already; choose another name, or --force\n`,
    });
    expect(await readFile(copy, 'utf8')).toBe('something else');
    expect((await admin(['backup', copy, '--force'])).code).toBe(0);
    expect((await admin(['check', copy])).code).toBe(0);
    const own = await admin(['backup', join(dataDir, 'patchbay.db'), '--force']);
    expect(own).toMatchObject({ code: 1, said: expect.stringContaining("data directory's own") as string });
  });

  it('restores neither under a running server nor over data without --force, which moves the data aside', async () => {
    const copy = join(directory, 'early.db');
    await admin(['backup', copy]);
    expect(await admin(['restore', copy, '--force'])).toMatchObject({
      code: 1,
      said: expect.stringContaining('in use by another Patchbay server') as string,
    });
    await write(user, 'late.txt', 'late');
    // Killed, so that what was committed last is in the log alone.
    await server.kill();
    expect(await admin(['restore', copy])).toMatchObject({
      code: 1,
      said: expect.stringContaining('contains data already') as string,
    });
    const { code, said } = await admin(['restore', copy, '--force']);
    expect(code).toBe(0);
    const aside = /the previous data is now (\S+)/.exec(said)![1]!;
    server = await startServer();
    user = new TestUser(server, user.credentials);
    expect((await user.get(`/workspaces/${workspaceId}/contents/late.txt`)).status).toBe(404);
    await server.kill();
    await admin(['restore', aside, '--force']);
    server = await startServer();
    user = new TestUser(server, user.credentials);
    expect(await read(user, 'late.txt')).toBe('late');
  });

  it('backs up the data of a killed server and leaves the directory unchanged', async () => {
    await write(user, 'last.txt', 'last');
    await server.kill();
    const [copy, elsewhere] = [join(directory, 'stopped.db'), join(directory, 'elsewhere')];
    expect((await admin(['backup', copy])).code).toBe(0);
    expect((await admin(['restore', copy], { PATCHBAY_DATA_DIR: elsewhere })).code).toBe(0);
    server = await startServer();
    user = new TestUser(server, user.credentials);
    expect(await read(user, 'last.txt')).toBe('last');
  });

  it('reports a damaged backup and does not restore it', async () => {
    const copy = join(directory, 'damaged.db');
    await admin(['backup', copy]);
    await truncate(copy, Math.floor((await stat(copy)).size / 2));
    const message = expect.stringMatching(/damaged/) as string;
    expect(await admin(['check', copy])).toMatchObject({ code: 1, said: message });
    expect(await admin(['restore', copy, '--data-dir', join(directory, 'none')])).toMatchObject({
      code: 1,
      said: message,
    });
    await writeFile(copy, 'no database, but text of some length that is none');
    expect(await admin(['check', copy])).toMatchObject({ code: 1, said: message });
  });

  it('reports a damaged backup whose tables can all be read', async () => {
    const copy = join(directory, 'incomplete.db');
    await admin(['backup', copy]);
    const about = "FROM sqlite_schema WHERE name = 'files_id'";
    const inCopy = <T>(work: (database: Libsql.Database) => T): T => {
      const database = new Libsql(copy);
      database.exec('PRAGMA writable_schema = ON');
      try {
        return work(database);
      } finally {
        database.close();
      }
    };
    const index = inCopy((database) => {
      const found = database.prepare(`SELECT * ${about}`).raw().get([]) as [
        string,
        string,
        string,
        number,
        string,
      ];
      database.exec(`DELETE ${about}`);
      return found;
    });
    // An index that has files which the table lacks.
    inCopy((database) => void database.exec('DELETE FROM files'));
    inCopy(
      (database) => void database.prepare('INSERT INTO sqlite_schema VALUES (?, ?, ?, ?, ?)').run(index),
    );
    expect(await admin(['check', copy])).toMatchObject({
      code: 1,
      said: expect.stringMatching(/damaged/) as string,
    });
  });

  it('creates the folder of a backup; folder and file are readable by their owner only', async () => {
    const folder = join(directory, 'back', 'ups');
    const copy = join(folder, 'today.db');
    expect(await admin(['backup', copy])).toMatchObject({ code: 0 });
    const modes = await Promise.all(
      [join(directory, 'back'), folder, copy].map(async (path) => (await stat(path)).mode & 0o777),
    );
    expect(modes).toEqual([0o700, 0o700, 0o600]);
    expect(await admin(['backup', copy, '--force'])).toMatchObject({ code: 0 });
    expect((await stat(copy)).mode & 0o777).toBe(0o600);
  });

  it('reports a missing file, missing data and a missing folder', async () => {
    expect(await admin(['check', join(directory, 'nothing.db')])).toMatchObject({
      code: 1,
      said: expect.stringContaining('is not there') as string,
    });
    const empty = join(directory, 'empty');
    expect(await admin(['backup', join(directory, 'e.db'), '--data-dir', empty])).toMatchObject({
      code: 1,
      said: expect.stringContaining('holds no data') as string,
    });
    const below = join(directory, 'a-file', 'all.db');
    await writeFile(join(directory, 'a-file'), '');
    expect(await admin(['backup', below])).toMatchObject({
      code: 1,
      said: expect.stringMatching(/a-file can't be made \((ENOTDIR|EEXIST)\)/) as string,
    });
  });

  it('checks the health of the server that the variables name', async () => {
    const { port } = new URL(server.url);
    expect(await admin(['health'], { PORT: port })).toEqual({
      code: 0,
      said: '{"status":"ready","checks":{"server":"ok","storage":"ok"}}\n',
    });
    expect(await admin(['health'], { PORT: String(await freePort()) })).toMatchObject({ code: 1 });
  });

  it('refuses to back up MongoDB, and touches no directory that was not named', async () => {
    const onMongo = { PATCHBAY_MONGODB_URI: 'mongodb://secret:word@127.0.0.1:1/patchbay' };
    const copy = join(directory, 'not-mongo.db');
    const refused = await admin(['backup', copy], onMongo);
    expect(refused).toMatchObject({ code: 1, said: expect.stringContaining('mongodump') as string });
    expect(refused.said).not.toContain('word@');
    expect(await readdir(directory)).not.toContain('not-mongo.db');
    expect(await admin(['backup', copy, '--data-dir', dataDir], onMongo)).toMatchObject({ code: 0 });
    expect(await admin(['restore', copy, '--force'], onMongo)).toMatchObject({
      code: 1,
      said: expect.stringContaining('mongorestore') as string,
    });
    expect(await admin(['check', copy], onMongo)).toMatchObject({ code: 0 });
  });

  it('prints its help', async () => {
    expect((await admin(['--help'])).said).toMatch(/^Usage: patchbay-admin <command>/);
    const wrong = [['backups'], ['backup', 'a', 'b'], ['check', '--no-such']].map((args) => admin(args));
    for (const answer of await Promise.all(wrong))
      expect(answer).toMatchObject({ code: 2, said: expect.stringContaining('--help') as string });
  });
});
