import * as disk from 'node:fs/promises';
import { join } from 'node:path';

import { approval, KilledPatch, NAMES, NEW, OLD, statuses } from './write-patch-killed.sample.js';

describe('a client that was killed during a patch batch', () => {
  const client = new KilledPatch();
  const { carryOn, contents, delivery, restart, warnings, write } = client;
  const { killedAfterAll, killedBefore, killedBeforeResult, killedRollingBack } = client;
  beforeEach(() => client.open());
  afterEach(() => client.close());

  it('rolls back if a file that was not written yet has changed, and keeps the change', async () => {
    await killedBefore('d');
    expect(await contents()).toEqual([NEW[0], 'b\n', NEW[2], 'd\n']);
    await write('d', 'mine\n');
    const journal = await restart();
    const result = await carryOn(journal);
    expect(journal.entries()).toMatchObject([{ state: 'failed', approval }]);
    expect(statuses(result)).toEqual(['skipped', 'rejected', 'skipped', 'conflict']);
    expect(result.files[3]!.message).toContain('The client was stopped');
    expect(await contents()).toEqual(['a\n', 'b\n', 'c\n', 'mine\n']);
    expect((await disk.readdir(client.root)).sort()).toEqual(NAMES);
  });

  it('rolls back if a file is gone', async () => {
    await killedBefore('d');
    await disk.rm(join(client.root, 'd'));
    const result = await carryOn(await restart());
    expect(result.files[3]).toMatchObject({ status: 'failed', errorCode: 'NOT_FOUND' });
    expect((await disk.readdir(client.root)).sort()).toEqual(['a', 'b', 'c']);
    expect(await disk.readFile(join(client.root, 'a'), 'utf8')).toBe('a\n');
  });

  it('does not write a file again that someone has restored', async () => {
    await killedAfterAll();
    expect(await contents()).toEqual(NEW);
    await write('a', 'a\n');
    const result = await carryOn(await restart());
    expect([result.success, statuses(result)]).toEqual([true, ['applied', 'rejected', 'applied', 'applied']]);
    expect(await contents()).toEqual(['a\n', 'b\n', NEW[2], NEW[3]]);
    expect((await disk.readdir(client.root)).sort()).toEqual(NAMES);
  });

  it('writes nothing if a file has changed before the first write', async () => {
    await killedBefore('a');
    await write('c', 'mine\n');
    // The decision is kept through another kill, although the file changes back.
    await (await restart()).close();
    await write('c', 'c\n');
    const result = await carryOn(await restart());
    expect(statuses(result)).toEqual(['skipped', 'rejected', 'conflict', 'skipped']);
    expect(result.files[2]!.message).toContain('The client was stopped');
    expect(await contents()).toEqual(OLD);
  });

  it('rolls back if someone has restored a written file from its second name', async () => {
    await killedBefore('d');
    for (const name of await disk.readdir(client.root)) {
      const path = join(client.root, name);
      if (name.startsWith('.patchbay-') && (await disk.readFile(path, 'utf8')) === OLD[0])
        await disk.rename(path, join(client.root, 'a'));
    }
    const result = await carryOn(await restart());
    expect(statuses(result)).toEqual(['conflict', 'rejected', 'skipped', 'skipped']);
    expect(await contents()).toEqual(OLD);
  });

  it.each<[string, Record<string, string>, string[], string[]]>([
    [
      'keeps and reports a file that was changed after it was written',
      { c: 'mine\n' },
      ['skipped', 'rejected', 'conflict', 'skipped'],
      ['a\n', 'b\n', 'mine\n', 'd\n'],
    ],
    [
      'rolls back if someone has restored a written file',
      { a: 'a\n' },
      ['conflict', 'rejected', 'skipped', 'skipped'],
      OLD,
    ],
    [
      'names all files that a rollback could not restore',
      { a: 'mine\n', c: 'mine\n' },
      ['conflict', 'rejected', 'applied', 'skipped'],
      ['mine\n', 'b\n', 'mine\n', 'd\n'],
    ],
  ])('%s', async (_what, changes, expected, left) => {
    await killedBefore('d');
    for (const [name, text] of Object.entries(changes)) await write(name, text);
    const result = await carryOn(await restart());
    expect([statuses(result), await contents()]).toEqual([expected, left]);
    const applied = result.files.filter(({ status }) => status === 'applied');
    for (const { message } of applied) expect(message).toContain('could not be restored');
  });

  it('continues an interrupted rollback', async () => {
    await killedRollingBack('a');
    expect(await contents()).toEqual([NEW[0], 'b\n', 'c\n', 'd\n']);
    const result = await carryOn(await restart());
    expect(statuses(result)).toEqual(['skipped', 'rejected', 'skipped', 'failed']);
    expect(result.files[3]!.errorCode).toBe('WriteFailed');
    expect(await contents()).toEqual(OLD);
  });

  it('reports a completed batch as written, whatever happened to its files since', async () => {
    await killedBeforeResult();
    await write('a', 'mine\n');
    const result = await carryOn(await restart());
    expect([result.success, await contents()]).toEqual([true, ['mine\n', 'b\n', NEW[2], NEW[3]]]);
  });

  it('keeps the temp files until the journal has the result', async () => {
    await killedBefore('d');
    await write('d', 'mine\n');
    const traces = async () =>
      (await disk.readdir(client.root)).filter((name) => name.startsWith('.patchbay-'));
    const journal = await client.openJournal();
    const seen: number[] = [];
    const noted = async () => void seen.push((await traces()).length);
    const context = { writeLog: journal.writeLog('c1'), ended: noted, notRun: noted };
    await client.tool().settle(delivery(), context, journal.get('c1')!);
    expect([seen.length, seen[0]! > 0, await traces()]).toEqual([1, true, []]);
  });

  it('recreates a lost temp file', async () => {
    await killedBefore('d');
    for (const name of await disk.readdir(client.root)) {
      const path = join(client.root, name);
      if (name.startsWith('.patchbay-') && (await disk.readFile(path, 'utf8')) === NEW[3])
        await disk.rm(path);
    }
    const result = await carryOn(await restart());
    expect([result.success, await contents()]).toEqual([true, NEW]);
  });

  it('keeps its decision through a second kill right after the restart', async () => {
    await killedBefore('c');
    await (await restart()).close();
    const journal = await restart();
    expect(journal.get('c1')).toMatchObject({ state: 'running', settled: { result: { success: true } } });
    const result = await carryOn(journal);
    expect([result.success, await contents()]).toEqual([true, NEW]);
  });

  it('keeps its decision through a second kill, whatever happens to the files', async () => {
    await killedBefore('d');
    await write('d', 'mine\n');
    await (await restart()).close();
    await write('d', 'd\n');
    const result = await carryOn(await restart());
    expect(statuses(result)).toEqual(['skipped', 'rejected', 'skipped', 'conflict']);
    expect(await contents()).toEqual(OLD);
  });

  it('settles no call that has not started, and warns about a delivery without a batch', async () => {
    const first = await client.openJournal();
    await first.receive(delivery());
    await first.receive({ ...delivery(), callId: 'c2', batch: null });
    await first.start('c2', approval);
    const journal = await restart();
    expect(journal.all().map(({ state }) => state)).toEqual(['acknowledged', 'running']);
    expect(warnings.splice(0)).toEqual([
      'Call c2 of workspace_write_patch, which was interrupted, could not be settled: The delivery of call c2 has no patch batch.',
    ]);
    expect(await contents()).toEqual(OLD);
  });
});
