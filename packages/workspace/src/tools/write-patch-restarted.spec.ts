import * as disk from 'node:fs/promises';
import { join } from 'node:path';

import { openDiskJournal } from '@patchbay/client/home';

import { approval, KilledScene, NAMES, NEW, OLD, statuses } from './write-patch-killed.sample.js';

describe('a client that was killed while it ran a patch batch', () => {
  const scene = new KilledScene();
  const { carryOn, contents, delivery, hold, home, restart, warnings, write } = scene;
  const { killedAfterAll, killedBefore, killedBeforeItCouldSay, killedTakingBack } = scene;
  beforeEach(() => scene.open());
  afterEach(() => scene.close());

  it('takes back what it wrote where a file that was still to be written has changed, which stays', async () => {
    await killedBefore('d');
    expect(await contents()).toEqual([NEW[0], 'b\n', NEW[2], 'd\n']);
    await write('d', 'mine\n');
    const journal = await restart();
    const result = await carryOn(journal);
    expect(journal.entries()).toMatchObject([{ state: 'failed', approval }]);
    expect(statuses(result)).toEqual(['skipped', 'rejected', 'skipped', 'conflict']);
    expect(result.files[3]!.message).toContain('The client was stopped');
    expect(await contents()).toEqual(['a\n', 'b\n', 'c\n', 'mine\n']);
    expect((await disk.readdir(scene.root)).sort()).toEqual(NAMES);
  });

  it('takes back what it wrote where a file is gone', async () => {
    await killedBefore('d');
    await disk.rm(join(scene.root, 'd'));
    const result = await carryOn(await restart());
    expect(result.files[3]).toMatchObject({ status: 'failed', errorCode: 'NOT_FOUND' });
    expect((await disk.readdir(scene.root)).sort()).toEqual(['a', 'b', 'c']);
    expect(await disk.readFile(join(scene.root, 'a'), 'utf8')).toBe('a\n');
  });

  it('leaves what someone changed after it was written, and says so', async () => {
    await killedBefore('d');
    await write('c', 'mine\n');
    const result = await carryOn(await restart());
    expect(statuses(result)).toEqual(['skipped', 'rejected', 'conflict', 'skipped']);
    expect(await contents()).toEqual(['a\n', 'b\n', 'mine\n', 'd\n']);
  });

  it('does not write a second time what someone put back', async () => {
    await killedAfterAll();
    expect(await contents()).toEqual(NEW);
    await write('a', 'a\n');
    const result = await carryOn(await restart());
    expect([result.success, statuses(result)]).toEqual([true, ['applied', 'rejected', 'applied', 'applied']]);
    expect(await contents()).toEqual(['a\n', 'b\n', NEW[2], NEW[3]]);
    expect((await disk.readdir(scene.root)).sort()).toEqual(NAMES);
  });

  it('writes nothing where a file has changed before the first was written', async () => {
    await killedBefore('a');
    await write('c', 'mine\n');
    // What was found stays, through another kill and whatever becomes of the file.
    await (await restart()).close();
    await write('c', 'c\n');
    const result = await carryOn(await restart());
    expect(statuses(result)).toEqual(['skipped', 'rejected', 'conflict', 'skipped']);
    expect(result.files[2]!.message).toContain('The client was stopped');
    expect(await contents()).toEqual(OLD);
  });

  it('takes the rest back where someone has put back what it wrote, and writes that no second time', async () => {
    await killedBefore('d');
    await write('a', 'a\n');
    const result = await carryOn(await restart());
    expect(statuses(result)).toEqual(['conflict', 'rejected', 'skipped', 'skipped']);
    expect(await contents()).toEqual(OLD);
  });

  it('takes the rest back, too, where they did so with the second name of the original', async () => {
    await killedBefore('d');
    for (const name of await disk.readdir(scene.root)) {
      const path = join(scene.root, name);
      if (name.startsWith('.patchbay-') && (await disk.readFile(path, 'utf8')) === OLD[0])
        await disk.rename(path, join(scene.root, 'a'));
    }
    const result = await carryOn(await restart());
    expect(statuses(result)).toEqual(['conflict', 'rejected', 'skipped', 'skipped']);
    expect(await contents()).toEqual(OLD);
  });

  it('names all that stays of a batch that it takes back', async () => {
    await killedBefore('d');
    await write('a', 'mine\n');
    await write('c', 'mine\n');
    const result = await carryOn(await restart());
    expect(statuses(result)).toEqual(['conflict', 'rejected', 'applied', 'skipped']);
    expect(result.files[2]!.message).toContain('could not be restored');
    expect(await contents()).toEqual(['mine\n', 'b\n', 'mine\n', 'd\n']);
  });

  it('goes on taking back what it was taking back', async () => {
    await killedTakingBack('a');
    expect(await contents()).toEqual([NEW[0], 'b\n', 'c\n', 'd\n']);
    const result = await carryOn(await restart());
    expect(statuses(result)).toEqual(['skipped', 'rejected', 'skipped', 'failed']);
    expect(result.files[3]!.errorCode).toBe('WriteFailed');
    expect(await contents()).toEqual(OLD);
  });

  it('has written a batch that was done, whatever became of its files before it could say so', async () => {
    await killedBeforeItCouldSay();
    await write('a', 'mine\n');
    const result = await carryOn(await restart());
    expect([result.success, await contents()]).toEqual([true, ['mine\n', 'b\n', NEW[2], NEW[3]]]);
  });

  it('leaves what shows the end of a batch until that is in the journal', async () => {
    await killedBefore('d');
    await write('d', 'mine\n');
    const traces = async () =>
      (await disk.readdir(scene.root)).filter((name) => name.startsWith('.patchbay-'));
    const journal = hold(await openDiskJournal(home()));
    const seen: number[] = [];
    const noted = async () => void seen.push((await traces()).length);
    const context = { writeLog: journal.writeLog('c1'), ended: noted, notRun: noted };
    await scene.tool().settle(delivery(), context, journal.get('c1')!);
    expect([seen.length, seen[0]! > 0, await traces()]).toEqual([1, true, []]);
  });

  it('makes a temp file again that was lost', async () => {
    await killedBefore('d');
    for (const name of await disk.readdir(scene.root)) {
      const path = join(scene.root, name);
      if (name.startsWith('.patchbay-') && (await disk.readFile(path, 'utf8')) === NEW[3])
        await disk.rm(path);
    }
    const result = await carryOn(await restart());
    expect([result.success, await contents()]).toEqual([true, NEW]);
  });

  it('is not undecided about anything through a second kill, right after the restart', async () => {
    await killedBefore('c');
    await (await restart()).close();
    const journal = await restart();
    expect(journal.get('c1')).toMatchObject({ state: 'running', settled: { result: { success: true } } });
    const result = await carryOn(journal);
    expect([result.success, await contents()]).toEqual([true, NEW]);
  });

  it('keeps what it found through a second kill, whatever becomes of the files meanwhile', async () => {
    await killedBefore('d');
    await write('d', 'mine\n');
    await (await restart()).close();
    await write('d', 'd\n');
    const result = await carryOn(await restart());
    expect(statuses(result)).toEqual(['skipped', 'rejected', 'skipped', 'conflict']);
    expect(await contents()).toEqual(OLD);
  });

  it('has nothing to settle for calls that had not started, and cannot where the delivery had no batch', async () => {
    const first = hold(await openDiskJournal(home()));
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
