import type { Stats } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha256 } from '@patchbay/protocol/hash';
import { ClientLockedError } from '@patchbay/client/home';
import { stampOf } from './file-stamp.js';
import { FolderState } from './folder-state.js';

const PAIR = { url: 'http://one', workspaceId: 'w', directory: '/project', rootName: 'project' };
const stamp = (more: Partial<Stats> = {}) =>
  stampOf({ size: 3, mtimeMs: 1000.5, ctimeMs: 1000.25, ino: 7, ...more } as Stats);
const [SHA, OLD, NEW] = [sha256('sha'), sha256('old'), sha256('new')];

describe('a folder state', () => {
  let home: string;
  beforeEach(async () => void (home = await mkdtemp(join(tmpdir(), 'patchbay-state-'))));
  afterEach(() => rm(home, { recursive: true }));

  const open = (more: Partial<typeof PAIR> = {}) => FolderState.open(home, { ...PAIR, ...more });
  /** All lines but the first, which identifies the file. */
  const linesOf = async () => (await readFile(await file(), 'utf8')).trim().split('\n').slice(1);
  const file = async () => {
    const [key] = await readdir(join(home, 'sync'));
    return join(home, 'sync', key!, 'state');
  };

  it('records whether the base was executable', async () => {
    const [plain, executable] = [stamp(), stamp({ mode: 0o100755 })];
    const state = open();
    state.noteContent('project/a', executable, SHA);
    state.noteBase('project/a', SHA);
    expect(state.isUnchanged('project/a', executable)).toBe(false);
    state.noteBase('project/a', SHA, true);
    state.noteBase('project/b', OLD, true);
    await state.save();
    const again = open();
    expect([again.baseOf('project/a'), again.baseOf('project/b')]).toEqual([SHA, OLD]);
    expect([again.wasExecutable('project/a'), again.wasExecutable('project/b')]).toEqual([true, true]);
    expect(again.isUnchanged('project/a', executable)).toBe(true);
    expect(again.isUnchanged('project/a', plain)).toBe(false);
    again.noteBase('project/b', null);
    again.noteBase('project/b', NEW);
    expect(again.wasExecutable('project/b')).toBe(false);
  });

  it('names its file in an error', async () => {
    open();
    const path = await file();
    await mkdir(path);
    expect(open).toThrow(expect.objectContaining({ code: 'EISDIR', path }) as Error);
  });

  it('survives a kill from the last save on', async () => {
    const killed = open();
    killed.noteContent('project/a', stamp(), SHA);
    killed.noteContent('project/logo', stamp(), null);
    killed.noteBase('project/a', SHA);
    await killed.save();
    killed.noteBase('project/b', NEW);
    const state = open();
    expect(state.contentOf('project/a', stamp())).toBe(SHA);
    expect(state.contentOf('project/logo', stamp())).toBeNull();
    expect(state.baseOf('project/a')).toBe(SHA);
    expect([...state.bases()]).toEqual([['project/a', SHA]]);
  });

  it('returns a content only while the stamp is unchanged', async () => {
    const state = open();
    state.noteContent('project/a', stamp(), SHA);
    for (const change of [{ size: 4 }, { mtimeMs: 1000.6 }, { ctimeMs: 1001 }, { ino: 8 }]) {
      expect(state.contentOf('project/a', stamp(change))).toBeUndefined();
    }
    expect(state.contentOf('project/b', stamp())).toBeUndefined();
  });

  it('does not trust a stamp in whose clock tick a change could go unnoticed', async () => {
    const state = open();
    state.noteContent('project/a', stamp({ mtimeMs: 10_000 }), SHA, 10_500);
    state.noteContent('project/b', stamp({ ctimeMs: 10_000 }), SHA, 10_500);
    expect(state.contentOf('project/a', stamp({ mtimeMs: 10_000 }))).toBeUndefined();
    expect(state.contentOf('project/b', stamp({ ctimeMs: 10_000 }))).toBeUndefined();
  });

  it('drops a base when neither side has the file', async () => {
    const state = open();
    state.noteBase('project/a', SHA);
    state.noteBase('project/a', null);
    expect([state.baseOf('project/a'), state.baseCount]).toEqual([null, 0]);
    await state.save();
    const again = open();
    expect([...again.bases()]).toEqual([]);
  });

  it('keeps base and content apart, in any order of their records', async () => {
    const state = open();
    state.noteContent('project/a', stamp(), OLD);
    state.noteBase('project/a', OLD);
    state.noteContent('project/a', stamp({ ino: 8 }), NEW);
    state.noteBase('project/b', OLD);
    state.noteContent('project/b', stamp(), OLD);
    state.noteContent('project/b', stamp({ ino: 8 }), null);
    await state.save();
    const again = open();
    expect([...again.bases()]).toEqual([
      ['project/a', OLD],
      ['project/b', OLD],
    ]);
    expect(again.contentOf('project/a', stamp({ ino: 8 }))).toBe(NEW);
    expect(again.contentOf('project/b', stamp({ ino: 8 }))).toBeNull();
  });

  it('is rewritten with one line per file once most lines are superseded', async () => {
    const state = open();
    for (let n = 0; n < 200; n += 1) state.noteContent('project/a', stamp({ ino: n }), sha256(`${n}`));
    state.noteBase('project/b', SHA);
    state.noteBase('project/b', null);
    await state.save();
    expect(await linesOf()).toHaveLength(1);
    const again = open();
    expect(again.contentOf('project/a', stamp({ ino: 199 }))).toBe(sha256('199'));
  });

  it('survives a line that is cut off at any byte', async () => {
    const state = open();
    state.noteBase('project/a', SHA);
    state.noteContent('project/b', stamp(), OLD);
    state.noteBase('project/b', NEW);
    await state.save();
    const whole = await readFile(await file(), 'utf8');
    const torn = whole.split('\n').at(-2)!;
    for (let cut = 0; cut < torn.length; cut += 1) {
      await writeFile(await file(), whole.slice(0, whole.length - 1 - torn.length + cut));
      const again = open();
      again.noteBase('project/c', SHA);
      await again.save();
      const third = open();
      expect(new Map(third.bases()).get('project/b') ?? null).toBeNull();
      expect([third.baseOf('project/a'), third.baseOf('project/c')]).toEqual([SHA, SHA]);
      await third.save();
    }
  });

  it('survives a gap of zeros after a power failure', async () => {
    const state = open();
    for (const name of ['a', 'b', 'c']) state.noteBase(`project/${name}`, SHA);
    await state.save();
    const bytes = await readFile(await file());
    const begin = bytes.indexOf('\n') + 1;
    bytes.fill(0, begin + 20, bytes.indexOf('\n', begin) + 6);
    await writeFile(await file(), bytes);
    const again = open();
    expect([...again.bases()]).toEqual([['project/c', SHA]]);
  });

  it('ignores a name that would break its line format', async () => {
    const state = open();
    state.noteBase('project/a\nproject/b', SHA);
    state.noteBase('project/a\tb', SHA);
    await state.save();
    const again = open();
    expect([...again.bases()]).toEqual([]);
  });

  it('does not write a known record again', async () => {
    const state = open();
    state.noteBase('project/a', SHA);
    state.noteBase('project/a', SHA);
    await state.save();
    expect(await linesOf()).toHaveLength(1);
  });

  it('is separate per server, workspace, folder and name', async () => {
    const others = [{}, { url: 'http://two' }, { workspaceId: 'v' }, { directory: '/o' }, { rootName: 'o' }];
    const states = others.map(open);
    states[0]!.noteBase('project/a', SHA);
    expect(states.map((state) => state.baseOf('project/a'))).toEqual([SHA, null, null, null, null]);
    expect(new Set(states.map(({ key }) => key)).size).toBe(5);
  });

  it('admits one push or pull at a time, and a connected client beside it', async () => {
    const [pushing, connected] = [open(), open()];
    await pushing.alone('/project', async () => {
      await expect(open().alone('/project', () => Promise.resolve())).rejects.toThrow(ClientLockedError);
      await expect(open().alone('/project', () => Promise.resolve())).rejects.toThrow(/is syncing \/project/);
      connected.noteBase('project/a', SHA);
      await connected.save();
    });
    expect(await open().alone('/project', () => Promise.resolve('in'))).toBe('in');
  });

  it('recognizes sent content as its own until both sides are the same again', async () => {
    const state = open();
    state.noteBase('project/a', OLD);
    state.noteSent('project/a', NEW);
    await state.save();
    const after = open();
    expect([NEW, OLD, SHA].map((content) => after.isOwn('project/a', content))).toEqual([true, true, false]);
    after.noteBase('project/a', OLD);
    await after.save();
    expect(open().isOwn('project/a', NEW)).toBe(false);
    after.noteSent('project/a', SHA);
    after.noteBase('project/a', NEW);
    await after.save();
    expect([NEW, SHA].map((content) => open().isOwn('project/a', content))).toEqual([true, false]);
  });

  it('writes records that failed to be written with the next save', async () => {
    const state = open();
    state.noteBase('project/a', OLD);
    await state.save();
    const path = await file();
    await rename(path, `${path}-away`);
    await mkdir(path);
    state.noteBase('project/a', NEW);
    state.noteSynced();
    await expect(state.save()).rejects.toMatchObject({ code: 'EISDIR' });
    await rmdir(path);
    await rename(`${path}-away`, path);
    state.noteBase('project/b', SHA);
    await state.save();
    const after = open();
    expect([...after.bases()]).toEqual([
      ['project/a', NEW],
      ['project/b', SHA],
    ]);
    expect(after.isSynced).toBe(true);
  });
});
