import type { Stats } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha256 } from '@patchbay/protocol/hash';
import { ClientLockedError } from '@patchbay/client/home';
import { stampOf } from './file-stamp.js';
import { SyncState } from './sync-state.js';

const PAIR = { url: 'http://one', workspaceId: 'w', directory: '/project', rootName: 'project' };
const stamp = (more: Partial<Stats> = {}) =>
  stampOf({ size: 3, mtimeMs: 1000.5, ctimeMs: 1000.25, ino: 7, ...more } as Stats);
const [SHA, OLD, NEW] = [sha256('sha'), sha256('old'), sha256('new')];

describe('what is remembered of a folder', () => {
  let home: string;
  beforeEach(async () => void (home = await mkdtemp(join(tmpdir(), 'patchbay-state-'))));
  afterEach(() => rm(home, { recursive: true }));

  const open = (more: Partial<typeof PAIR> = {}) => SyncState.open(home, { ...PAIR, ...more });
  const file = async () => {
    const [key] = await readdir(join(home, 'sync'));
    return join(home, 'sync', key!, 'state');
  };

  it('is there again after a kill, from the last save on', async () => {
    const killed = await open();
    killed.noteContent('project/a', stamp(), SHA);
    killed.noteContent('project/logo', stamp(), null);
    killed.noteBase('project/a', SHA);
    await killed.save();
    killed.noteBase('project/b', NEW);
    await killed['lock'].release();
    const state = await open();
    expect(state.contentOf('project/a', stamp())).toBe(SHA);
    expect(state.contentOf('project/logo', stamp())).toBeNull();
    expect(state.baseOf('project/a')).toBe(SHA);
    expect([...state.bases()]).toEqual([['project/a', SHA]]);
    await state.close();
  });

  it('knows the content of a file only while nothing of its stamp has changed', async () => {
    const state = await open();
    state.noteContent('project/a', stamp(), SHA);
    for (const change of [{ size: 4 }, { mtimeMs: 1000.6 }, { ctimeMs: 1001 }, { ino: 8 }]) {
      expect(state.contentOf('project/a', stamp(change))).toBeUndefined();
    }
    expect(state.contentOf('project/b', stamp())).toBeUndefined();
    await state.close();
  });

  it('does not trust a stamp that is so fresh that another change would not show in it', async () => {
    const state = await open();
    state.noteContent('project/a', stamp({ mtimeMs: 10_000 }), SHA, 10_500);
    state.noteContent('project/b', stamp({ ctimeMs: 10_000 }), SHA, 10_500);
    expect(state.contentOf('project/a', stamp({ mtimeMs: 10_000 }))).toBeUndefined();
    expect(state.contentOf('project/b', stamp({ ctimeMs: 10_000 }))).toBeUndefined();
    await state.close();
  });

  it('forgets a base when neither side has the file', async () => {
    const state = await open();
    state.noteBase('project/a', SHA);
    state.noteBase('project/a', null);
    expect([state.baseOf('project/a'), state.baseCount]).toEqual([null, 0]);
    await state.close();
    const again = await open();
    expect([...again.bases()]).toEqual([]);
    await again.close();
  });

  it('keeps the base apart from what the file holds, in whatever order they come', async () => {
    const state = await open();
    state.noteContent('project/a', stamp(), OLD);
    state.noteBase('project/a', OLD);
    state.noteContent('project/a', stamp({ ino: 8 }), NEW);
    state.noteBase('project/b', OLD);
    state.noteContent('project/b', stamp(), OLD);
    state.noteContent('project/b', stamp({ ino: 8 }), null);
    await state.close();
    const again = await open();
    expect([...again.bases()]).toEqual([
      ['project/a', OLD],
      ['project/b', OLD],
    ]);
    expect(again.contentOf('project/a', stamp({ ino: 8 }))).toBe(NEW);
    expect(again.contentOf('project/b', stamp({ ino: 8 }))).toBeNull();
    await again.close();
  });

  it('has one line a file once many have been replaced', async () => {
    const state = await open();
    for (let n = 0; n < 200; n += 1) state.noteContent('project/a', stamp({ ino: n }), sha256(`${n}`));
    state.noteBase('project/b', SHA);
    state.noteBase('project/b', null);
    await state.close();
    expect((await readFile(await file(), 'utf8')).trim().split('\n')).toHaveLength(1);
    const again = await open();
    expect(again.contentOf('project/a', stamp({ ino: 199 }))).toBe(sha256('199'));
    await again.close();
  });

  it('is not spoilt by a line that a kill tore, wherever it did', async () => {
    const state = await open();
    state.noteBase('project/a', SHA);
    state.noteContent('project/b', stamp(), OLD);
    state.noteBase('project/b', NEW);
    await state.close();
    const whole = await readFile(await file(), 'utf8');
    const torn = whole.split('\n').at(-2)!;
    for (let cut = 0; cut < torn.length; cut += 1) {
      await writeFile(await file(), whole.slice(0, whole.length - 1 - torn.length + cut));
      const again = await open();
      again.noteBase('project/c', SHA);
      await again.save();
      // A kill before the file could be put in order.
      await again['lock'].release();
      const third = await open();
      expect(new Map(third.bases()).get('project/b') ?? null).toBeNull();
      expect([third.baseOf('project/a'), third.baseOf('project/c')]).toEqual([SHA, SHA]);
      await third.close();
    }
  });

  it('is not spoilt by a hole that a power failure left', async () => {
    const state = await open();
    for (const name of ['a', 'b', 'c']) state.noteBase(`project/${name}`, SHA);
    await state.close();
    const bytes = await readFile(await file());
    const [first] = bytes.toString().split('\n');
    bytes.fill(0, 20, first!.length + 5);
    await writeFile(await file(), bytes);
    const again = await open();
    expect([...again.bases()]).toEqual([['project/c', SHA]]);
    await again.close();
  });

  it('does not remember a name that would be taken for two lines', async () => {
    const state = await open();
    state.noteBase('project/a\nproject/b', SHA);
    state.noteBase('project/a\tb', SHA);
    await state.close();
    const again = await open();
    expect([...again.bases()]).toEqual([]);
    await again.close();
  });

  it('does not write what it knows already', async () => {
    const state = await open();
    state.noteBase('project/a', SHA);
    state.noteBase('project/a', SHA);
    await state.close();
    expect((await readFile(await file(), 'utf8')).trim().split('\n')).toHaveLength(1);
  });

  it('is another for each server, workspace, folder and name', async () => {
    const states = await Promise.all(
      [{}, { url: 'http://two' }, { workspaceId: 'v' }, { directory: '/other' }, { rootName: 'other' }].map(
        open,
      ),
    );
    states[0]!.noteBase('project/a', SHA);
    expect(states.map((state) => state.baseOf('project/a'))).toEqual([SHA, null, null, null, null]);
    expect(new Set(states.map(({ key }) => key)).size).toBe(5);
    for (const state of states) await state.close();
  });

  it('belongs to one process at a time', async () => {
    const state = await open();
    await expect(open()).rejects.toThrow(ClientLockedError);
    await expect(open()).rejects.toThrow(/is syncing \/project/);
    await state.close();
    await (await open()).close();
  });
});
