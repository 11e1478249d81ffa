import { closeSync, openSync } from 'node:fs';
import { cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Libsql from 'libsql';
import { admin, ADMIN, type Ended, openAdmin } from '../support/admin.js';
import { describeEmbedded } from '../support/backend.js';
import { TestProcess } from '../support/processes.js';
import type { RelayFixture } from '../support/relay-fixture.js';
import type { TestServer } from '../support/server.js';
import { containing, killedImport, lookAt, serverOn, trailerOf } from '../support/transfers.js';
import { usedWorkspace } from '../support/used-workspace.js';

import.meta.jest.setTimeout(180_000);

describeEmbedded('patchbay-admin export and import of a data directory', () => {
  let directory: string;
  let data: string;
  let file: string;
  let server: TestServer;
  let fixture: RelayFixture;
  let exported: Ended;
  const path = (name: string): string => join(directory, name);
  const run = (...args: string[]) => admin(args, { PATCHBAY_DATA_DIR: data });
  let lines: string[];

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'patchbay-transfer-'));
    [data, file] = [path('data'), path('export.ndjson')];
    server = await serverOn(data, null);
    fixture = await usedWorkspace(server);
    exported = await run('export', file);
    lines = (await readFile(file, 'utf8')).split(/(?<=\n)/);
  });
  afterAll(async () => {
    await server.close();
    await rm(directory, { recursive: true, force: true });
  });

  it('writes one private file beside a running server and reports its contents', async () => {
    expect(exported).toMatchObject({ code: 0, said: containing('exported 1 workspaces, ') });
    expect(exported.said).toMatch(/^exported \d+ audit events$/m);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await readdir(directory)).sort()).toEqual(['data', 'export.ndjson']);
    expect((await readdir(data)).filter((name) => name.includes('copy'))).toEqual([]);
    expect(JSON.parse(lines[0]!)).toEqual({
      ...{ format: 'patchbay-export', version: 1, store: 'embedded' },
      ...{ schemaVersion: expect.any(Number) as number, createdAt: expect.any(String) as string },
    });
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(700_000);
    const { kinds } = await trailerOf(file);
    expect(kinds.users!.records).toBe(3);
    expect(Object.entries(kinds).filter(([, { records }]) => records === 0)).toEqual([]);
  });

  it('creates a store with the same answers, which exports the same records', async () => {
    const copy = path('copy');
    const imported = await run('import', file, '--data-dir', copy);
    expect(imported).toMatchObject({
      code: 0,
      said: containing('copy: imported and verified 1 workspaces, '),
    });
    expect(imported.said).toMatch(/^verified \d+ audit events$/m);
    expect((await readdir(copy)).sort()).toEqual(['patchbay.db', 'patchbay.lock']);
    expect((await stat(join(copy, 'patchbay.db'))).mode & 0o777).toBe(0o600);
    expect((await run('export', path('again.ndjson'), '--data-dir', copy)).code).toBe(0);
    expect((await trailerOf(path('again.ndjson'))).kinds).toEqual((await trailerOf(file)).kinds);
    await server.close();
    const before = await lookAt(fixture, data, null);
    expect(Object.keys(before).length).toBeGreaterThan(100);
    expect(await lookAt(fixture, copy, null)).toEqual(before);
    server = await serverOn(data, null);
    fixture = fixture.movedTo(server);
  });

  it('exports the state of one moment while a server writes', async () => {
    let isOver = false;
    const writes = (async () => {
      for (let n = 0; !isOver; n += 1)
        await fixture.user.post(`/workspaces/${fixture.workspaceId}/tools`, {
          ...{ tool: 'write', args: { path: `busy/${n}.txt`, content: 'x'.repeat(10_000) } },
        });
    })();
    const busy = await run('export', path('busy.ndjson'));
    isOver = true;
    await writes;
    expect(busy.code).toBe(0);
    expect((await run('import', path('busy.ndjson'), '--data-dir', path('busy'))).code).toBe(0);
    expect((await run('check', '--data-dir', path('busy'))).said).toContain('nothing is wrong');
  });

  it('exports to stdout and imports from stdin with -', async () => {
    const [from, to] = [openAdmin(['export', '-'], { PATCHBAY_DATA_DIR: data }), path('piped')];
    const into = openAdmin(['import', '-'], { PATCHBAY_DATA_DIR: to });
    from.stdout.pipe(into.stdin);
    const code = await new Promise((resolve) => into.once('close', resolve));
    expect(code).toBe(0);
    expect(await readdir(to)).toContain('patchbay.db');
  });

  it('overwrites no file, and leaves none when the disk is full or it is stopped', async () => {
    expect(await run('export', file)).toEqual({
      code: 1,
      said: containing(`${file} exists already; choose another name`),
    });
    const own = await run('export', join(data, 'patchbay.db-journal'));
    expect(own).toMatchObject({ code: 1, said: containing("data directory's own") });
    const full = openSync('/dev/full', 'w');
    const command = new TestProcess('export', ADMIN, ['export', '-'], { PATCHBAY_DATA_DIR: data }, full);
    expect((await command.exited).code).toBe(1);
    closeSync(full);
    expect(command.stderr).toMatch(/stdout can't be written: ENOSPC: no space left on device/);
    const stopped = openAdmin(['export', '-'], { PATCHBAY_DATA_DIR: data });
    const ended = new Promise((resolve) => stopped.once('close', resolve));
    await new Promise((resolve) => stopped.stdout.once('readable', resolve));
    stopped.kill('SIGTERM');
    stopped.stdout.resume();
    expect(await ended).toBe(1);
    expect((await readdir(data)).filter((name) => name.includes('copy'))).toEqual([]);
  });

  it('reports the schema version of a data directory of another release', async () => {
    const other = path('other');
    await cp(path('copy'), other, { recursive: true });
    const database = new Libsql(join(other, 'patchbay.db'));
    database.exec('PRAGMA user_version=99');
    database.close();
    expect(await run('export', path('other.ndjson'), '--data-dir', other)).toMatchObject({
      code: 1,
      said: containing(`The data directory ${other} has schema version 99`),
    });
  });

  it('reports that there is nothing to export, and lists the commands', async () => {
    expect(await run('export', path('none.ndjson'), '--data-dir', path('none'))).toMatchObject({
      code: 1,
      said: containing('holds no data'),
    });
    for (const args of [
      ['migrate'],
      ['export'],
      ['import'],
      ['export', 'a', 'b'],
      ['import', 'a', '--repair'],
    ])
      expect((await run(...args)).code).toBe(2);
    expect(await run('import', path('none.ndjson'), '--data-dir', path('none'))).toMatchObject({
      code: 1,
      said: containing('ENOENT'),
    });
  });

  it('does not import into a directory that has data or is in use', async () => {
    const { code, said } = await run('import', file);
    expect(code).toBe(1);
    expect(said).toMatch(/in use by another Patchbay server/);
    expect(await run('import', file, '--data-dir', path('copy'))).toMatchObject({
      code: 1,
      said: containing('holds data already'),
    });
  });

  it('starts again after a kill, and no server starts before it is done', async () => {
    const broken = path('broken');
    await killedImport(file, ['--data-dir', broken], {});
    expect(await readdir(broken)).not.toContain('patchbay.db');
    await expect(serverOn(broken, null)).rejects.toThrow(/import into the data directory .* is not complete/);
    expect(await run('import', file, '--data-dir', broken)).toMatchObject({ code: 0 });
    expect((await readdir(broken)).sort()).toEqual(['patchbay.db', 'patchbay.lock']);
  });

  describe('refuses a file and leaves nothing of it', () => {
    const line = (start: string): number => lines.findIndex((one) => one.startsWith(start));
    const without = (at: number): string[] => lines.filter((_, index) => index !== at);
    const altered = (at: number, from: string | RegExp, to: string): string[] => {
      const changed = lines[at]!.replace(from, to);
      expect(changed).not.toBe(lines[at]);
      return lines.with(at, changed);
    };
    const CASES: [what: string, content: () => string[] | string, said: RegExp][] = [
      ['that is empty', () => '', /The export is empty/],
      ['that is something else', () => 'something else\n', /This is not an export of Patchbay/],
      ['that is other JSON', () => '{"format":"other"}\n', /This is not an export of Patchbay/],
      ['that is cut off after its header', () => lines[0]!, /Line 1: .*cut off.*damaged/],
      ['that is cut off between lines', () => lines.slice(0, -1), /cut off/],
      ['that is cut off in a line', () => lines.join('').slice(0, -10), /not a line of an export/],
      ['that has lost a user', () => without(line('{"kind":"users"')), /users differ.*\(2 of 3/],
      [
        'that has lost a workspace',
        () => without(line('{"kind":"workspaces"')),
        /damaged|cannot be stored|no such workspace/,
      ],
      [
        'that has lost bytes',
        () => without(line('{"kind":"blobs","bytes"')),
        /bytes of .* (missing|do not match its hash)/,
      ],
      [
        'with other bytes',
        () => altered(line('{"kind":"blobs","bytes"'), /"bytes":"../, '"bytes":"AA'),
        /do not match its hash/,
      ],
      [
        'with another name',
        () => altered(line('{"kind":"users"'), /"createdAt":\d/, '"createdAt":9'),
        /users differ from what was exported/,
      ],
      [
        'with another event',
        () => altered(line('{"kind":"events"'), /"at":\d/, '"at":9'),
        /audit events differ/,
      ],
      [
        'with a line twice',
        () => lines.toSpliced(line('{"kind":"users"'), 0, lines[line('{"kind":"users"')]!),
        /cannot be stored|differ from/,
      ],
      [
        'with a line of no kind',
        () => lines.toSpliced(2, 0, '{"kind":"others","record":{}}\n'),
        /others is not expected here/,
      ],
      [
        'with lines in another order',
        () => [lines[0]!, ...lines.slice(1, -1).reverse(), lines.at(-1)!],
        /is not expected here|damaged/,
      ],
      [
        'with another header',
        () => altered(0, /"createdAt":"2/, '"createdAt":"3'),
        /not as they were written/,
      ],
      [
        'with another trailer',
        () => altered(lines.length - 1, /"users":\{"records":3/, '"users":{"records":4'),
        /users differ.*\(3 of 4/,
      ],
      ['with something behind its end', () => [...lines, lines[1]!], /there is data after its end/],
      [
        'of a newer format',
        () => altered(0, '"version":1', '"version":2'),
        /format version 2, and this Patchbay reads version 1/,
      ],
    ];

    it.each(CASES)('%s', async (_what, content, said) => {
      const [bad, target] = [path('bad.ndjson'), path('bad')];
      await writeFile(bad, [content()].flat().join(''));
      const refused = await run('import', bad, '--data-dir', target);
      expect(refused).toMatchObject({ code: 1, said: expect.stringMatching(said) as string });
      expect(await readdir(target)).toEqual(['patchbay.lock']);
    });
  });

  it('uses constant memory', async () => {
    const base = `/workspaces/${fixture.workspaceId}`;
    for (let n = 0; n < 30; n += 1)
      await fixture.user.post(`${base}/tools`, {
        ...{ tool: 'write', args: { path: `large/${n}.txt`, content: `${n}`.repeat(3_000_000) } },
      });
    const large = path('large.ndjson');
    const limited = { NODE_OPTIONS: '--max-old-space-size=64' };
    expect(await admin(['export', large], { PATCHBAY_DATA_DIR: data, ...limited })).toMatchObject({
      code: 0,
    });
    expect((await stat(large)).size).toBeGreaterThan(100_000_000);
    expect(await admin(['import', large], { PATCHBAY_DATA_DIR: path('many'), ...limited })).toMatchObject({
      code: 0,
    });
  });
});
