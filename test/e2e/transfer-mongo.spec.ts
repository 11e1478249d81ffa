import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { admin } from '../support/admin.js';
import { aDatabaseOn, describeOnMongo, MONGO_SERVER } from '../support/mongo-server.js';
import type { RelayFixture } from '../support/relay-fixture.js';
import { containing, killedImport, lookAt, serverOn, trailerOf } from '../support/transfers.js';
import { usedWorkspace } from '../support/used-workspace.js';

import.meta.jest.setTimeout(180_000);

describeOnMongo('patchbay-admin export and import of a MongoDB', () => {
  let directory: string;
  let data: string;
  let file: string;
  let database: ReturnType<typeof aDatabaseOn>;
  let fixture: RelayFixture;
  let before: Record<string, unknown>;
  const path = (name: string): string => join(directory, name);
  const inDirectory = (...args: string[]) => admin(args, { PATCHBAY_DATA_DIR: data });
  const inDatabase = (...args: string[]) => admin(args, { PATCHBAY_MONGODB_URI: database.uri });

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'patchbay-transfer-'));
    [data, file] = [path('data'), path('embedded.ndjson')];
    database = aDatabaseOn(MONGO_SERVER!);
    const server = await serverOn(data, null);
    fixture = await usedWorkspace(server);
    await server.close();
    before = await lookAt(fixture, data, null);
    await inDirectory('export', file);
  });
  afterAll(async () => {
    await database.drop();
    await rm(directory, { recursive: true, force: true });
  });

  it('leaves the database empty when the file is damaged', async () => {
    const bad = path('bad.ndjson');
    const whole = await readFile(file, 'utf8');
    await writeFile(bad, whole.slice(0, whole.lastIndexOf('{"kind":"end"')));
    const refused = await inDatabase('import', bad);
    expect(refused).toMatchObject({ code: 1, said: containing('cut off') });
    expect(await inDatabase('export', path('nothing.ndjson'))).toMatchObject({
      code: 1,
      said: containing('The database holds nothing'),
    });
  });

  it('rejects servers and imports after a kill, until the database is dropped', async () => {
    const other = aDatabaseOn(MONGO_SERVER!);
    const env = { PATCHBAY_MONGODB_URI: other.uri };
    await killedImport(file, [], env);
    await expect(serverOn(path('nothing'), other.uri)).rejects.toThrow('is not complete');
    for (const args of [['import', file], ['export', path('half.ndjson')], ['check']])
      expect(await admin(args, env)).toMatchObject({ code: 1, said: containing('dropDatabase') });
    await other.drop();
    expect(await admin(['import', file], env)).toMatchObject({ code: 0 });
    await other.drop();
  });

  it('moves a store from a directory into a database and back with the same answers and records', async () => {
    expect(Object.keys(before).length).toBeGreaterThan(100);
    expect(Object.entries(before).filter(([, answer]) => (answer as [number])[0] > 202)).toEqual([]);
    const all = JSON.stringify(before);
    const shown = ['File.ConflictStored', '"decision":"edit"', '"denied"', '"applied"', 'not in the cloud'];
    for (const text of shown) expect(all).toContain(text);

    expect(await inDatabase('import', file)).toMatchObject({
      code: 0,
      said: containing('verified 1 workspaces, '),
    });
    expect(await inDatabase('export', path('mongo.ndjson'))).toMatchObject({ code: 0 });
    expect((await trailerOf(path('mongo.ndjson'))).kinds).toEqual((await trailerOf(file)).kinds);
    expect(await lookAt(fixture, path('nothing'), database.uri)).toEqual(before);

    await inDatabase('export', path('used.ndjson'));
    const back = path('back');
    expect(await inDirectory('import', path('used.ndjson'), '--data-dir', back)).toMatchObject({ code: 0 });
    expect((await readdir(back)).sort()).toEqual(['patchbay.db', 'patchbay.lock']);
    await inDirectory('export', path('back.ndjson'), '--data-dir', back);
    expect((await trailerOf(path('back.ndjson'))).kinds).toEqual(
      (await trailerOf(path('used.ndjson'))).kinds,
    );
    expect(await lookAt(fixture, back, null)).toEqual(before);
  });

  it('does not import into a database with data, and prints no password', async () => {
    expect(await inDatabase('import', file)).toMatchObject({
      code: 1,
      said: containing('holds something already'),
    });
    const uri = 'mongodb://u:hunter2@127.0.0.1:1/d?serverSelectionTimeoutMS=300';
    for (const args of [
      ['import', file],
      ['export', path('unreached.ndjson')],
    ]) {
      const unreached = await admin(args, { PATCHBAY_MONGODB_URI: uri });
      expect(unreached).toMatchObject({ code: 1, said: containing('127.0.0.1:1') });
      expect(unreached.said).not.toContain('hunter2');
    }
  });
});
