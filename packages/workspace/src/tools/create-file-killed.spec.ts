import * as disk from 'node:fs/promises';
import { join } from 'node:path';

import { type Journal, type WriteLog } from '@patchbay/client/relay';
import type { CreateFileResult, Json, ToolCallDelivery } from '@patchbay/protocol';
import { contentHash } from '@patchbay/protocol/hash';

import { executeCreateFile } from '../create-file/execute-create-file.js';
import { sha256ToReplace } from '../create-file/preview-create-file.js';
import { type FileSystem } from '../disk/file-system.js';
import { WorkspaceRoots } from '../disk/workspace-roots.js';
import { CreateFileTool } from './create-file-tool.js';
import { death, KilledClient } from './killed-client.sample.js';
import { allow } from './tool-fixture.sample.js';

class KilledCreate extends KilledClient {
  constructor() {
    super('workspace_create_file', allow);
  }

  readonly tool = () => new CreateFileTool(this.context, this.person);
  protected readonly execute = async (
    call: ToolCallDelivery,
    fs: FileSystem,
    log: WriteLog,
  ): Promise<Json> => ({
    ...(await executeCreateFile({ ...this.context, fs }, call.arguments, log)),
  });

  /** Runs a create until its disk stops answering. */
  readonly killed = async (
    args: ToolCallDelivery['arguments'],
    fs: Partial<FileSystem>,
    killed: Promise<void>,
  ) => {
    const seen = await sha256ToReplace(this.context, args);
    await this.runUntilKilled(this.deliveryOf({ arguments: args }), { ...this.real, ...fs }, killed, {
      seen,
    });
  };
  readonly carryOn = (journal: Journal) => this.recover(journal);
}

describe('a client that was killed during a create', () => {
  const client = new KilledCreate();
  const { carryOn, restart, tree } = client;
  beforeEach(() => client.open());
  afterEach(() => client.close());

  const at = (path: string) => join(client.root, path);
  const read = (path: string) => disk.readFile(at(path), 'utf8');
  const write = (path: string, text: string) => disk.writeFile(at(path), text);
  const isSettled = (journal: Journal) => journal.get('c1')!.settled !== null;
  const result = (journal: Journal) => {
    const { settled, result } = journal.get('c1')!;
    return (settled?.result ?? result) as unknown as CreateFileResult;
  };

  it.each([
    ['a new file', false, null],
    ['a replacement', true, 'old'],
    ['a replacement by the same', true, 'new'],
  ])('takes effect once, whatever the moment: %s', async (_what, overwrite, before) => {
    let moments = 0;
    for (const doesIt of [false, true]) {
      for (let moment = 0; moment < 60; moment++) {
        await disk.rm(client.home(), { recursive: true, force: true });
        await disk.rm(client.root, { recursive: true });
        await disk.mkdir(at('d'), { recursive: true });
        const path = before === null ? 'd/e/f' : 'd/f';
        if (before !== null) await write(path, before);
        const dying = client.dyingDisk(moment, doesIt, {}, ['lstat', 'mkdir']);
        await client.killed({ path, content: 'new', overwrite }, dying.fs, dying.killed);
        if (!dying.wasKilled()) break;
        moments++;

        const journal = await restart();
        if (before !== 'new') {
          expect([moment, isSettled(journal)]).toEqual([moment, dying.effects.count === 1]);
        }
        await carryOn(journal);
        expect(result(journal)).toEqual({
          success: true,
          message: overwrite ? 'File overwritten.' : 'File created.',
          path,
          docPath: `root/${path}`,
          sizeBytes: 3,
          hash: contentHash('new'),
          created: !overwrite,
          overwritten: overwrite,
          errorCode: null,
        });
        expect(journal.entries()).toMatchObject([{ callId: 'c1', state: 'succeeded', approval: allow }]);
        expect(await read(path)).toBe('new');
        expect(await tree()).toEqual(before === null ? ['d', 'd/e', 'd/e/f'] : ['d', 'd/f']);
        await client.bury();
      }
    }
    expect(moments).toBeGreaterThan(15);
  });

  const killedBefore = async (step: 'link' | 'rename' | 'open', args: ToolCallDelivery['arguments']) => {
    const { killed, die } = death();
    const open: FileSystem['open'] = (path, flags, mode) =>
      path.endsWith('.tmp') ? die() : client.real.open(path, flags, mode);
    await client.killed(args, step === 'open' ? { open } : { [step]: die }, killed);
  };

  it('keeps a file that was changed since, and reports that nothing was written', async () => {
    await write('f', 'old');
    await killedBefore('rename', { path: 'f', content: 'new', overwrite: true });
    await write('f', 'mine');
    const journal = await restart();
    expect(result(journal)).toMatchObject({ success: false, errorCode: 'WriteFailed' });
    expect(result(journal).message).toContain('nothing was written, and the file has changed since');
    expect([await read('f'), await tree()]).toEqual(['mine', ['f']]);
  });

  it('does not repeat a create whose file was written and then removed', async () => {
    const { killed, die } = death();
    const unlink: FileSystem['unlink'] = (path) => client.real.unlink(path).then(die);
    await client.killed({ path: 'f', content: 'new' }, { unlink }, killed);
    await disk.unlink(at('f'));
    const journal = await restart();
    await carryOn(journal);
    expect(journal.entries()).toMatchObject([
      { state: 'failed', result: { success: false, errorCode: 'WriteFailed' } },
    ]);
    expect(await tree()).toEqual([]);
  });

  it('repeats an unfinished create after a second kill', async () => {
    await killedBefore('link', { path: 'f', content: 'new' });
    await (await restart()).close();
    const journal = await restart();
    expect([isSettled(journal), await tree()]).toEqual([false, []]);
    await carryOn(journal);
    expect(result(journal)).toMatchObject({ success: true, created: true });
  });

  it('keeps the found result through a second kill, whatever happens to the file', async () => {
    const { killed, die } = death();
    await client.killed({ path: 'f', content: 'new' }, { unlink: die }, killed);
    await (await restart()).close();
    await write('f', 'mine');
    const journal = await restart();
    await carryOn(journal);
    expect(result(journal)).toMatchObject({ success: true, created: true, hash: contentHash('new') });
    expect([await read('f'), await tree()]).toEqual(['mine', ['f']]);
  });

  it('keeps the temp file until the journal has the result', async () => {
    await killedBefore('link', { path: 'f', content: 'new' });
    const journal = await client.openJournal();
    const seen: string[][] = [];
    const noted = async () => void seen.push(await tree());
    const context = { writeLog: journal.writeLog('c1'), ended: noted, notRun: noted };
    await client.tool().settle(client.deliveryOf({ arguments: {} }), context, journal.get('c1')!);
    expect([seen, await tree()]).toEqual([[[expect.stringMatching(/^\.patchbay-/)]], []]);
  });

  it('does not run the create in another folder than the approved one', async () => {
    await killedBefore('open', { path: 'f', content: 'new' });
    await disk.mkdir(join(client.base, 'other'));
    client.context = { roots: await WorkspaceRoots.open([{ directory: join(client.base, 'other') }]) };
    const journal = await restart();
    expect(result(journal).message).toContain('no longer connected');
  });

  it('reveals nothing about a file that is hidden now [RELAY-25]', async () => {
    await killedBefore('link', { path: 'f', content: 'new' });
    await write('f', 'private');
    await write('.gitignore', 'f\n');
    const journal = await restart();
    expect(result(journal)).toMatchObject({ success: false, errorCode: 'FORBIDDEN' });
    expect(result(journal).message).not.toContain('changed');
  });

  it('reports a failure if a parent has become a link', async () => {
    await disk.mkdir(at('d'));
    await killedBefore('link', { path: 'd/f', content: 'new' });
    await disk.rename(at('d'), join(client.base, 'was-d'));
    await disk.symlink(join(client.base, 'was-d'), at('d'));
    const journal = await restart();
    expect(result(journal)).toMatchObject({
      success: false,
      path: 'd/f',
      errorCode: 'WriteFailed',
      hash: '',
    });
    expect(result(journal).message).not.toContain(client.base);
  });

  it('settles no call that has not started or is of another tool', async () => {
    const first = await client.openJournal();
    await first.receive(client.deliveryOf({ arguments: { path: 'f', content: 'new' } }));
    await first.receive({
      ...client.deliveryOf({ arguments: {} }),
      ...{ callId: 'c2', name: 'workspace_write_patch' },
    });
    await first.start('c2', allow);
    const journal = await restart();
    expect(journal.all().map(({ state }) => state)).toEqual(['acknowledged', 'running']);
    expect(await tree()).toEqual([]);
  });
});
