import { appendFile, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ClientLockedError } from '../journal/client-lock.js';
import type { FileStamp } from './file-stamp.js';
import { SyncState } from './sync-state.js';

const PAIR = { url: 'http://one', workspaceId: 'w', directory: '/project', rootName: 'project' };
const stamp = (more: Partial<FileStamp> = {}): FileStamp => ({
  ...{ sizeBytes: 3, mtimeMs: 1000.5, ctimeMs: 1000.25, ino: 7 },
  ...more,
});

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
    killed.noteContent('project/a', stamp(), 'sha');
    killed.noteContent('project/logo', stamp(), null);
    killed.noteBase('project/a', 'sha');
    await killed.save();
    killed.noteBase('project/b', 'never saved');
    await killed['lock'].release();
    const state = await open();
    expect(state.contentOf('project/a', stamp())).toBe('sha');
    expect(state.contentOf('project/logo', stamp())).toBeNull();
    expect(state.baseOf('project/a')).toBe('sha');
    expect([...state.bases()]).toEqual([['project/a', 'sha']]);
    await state.close();
  });

  it('knows the content of a file only while nothing of its stamp has changed', async () => {
    const state = await open();
    state.noteContent('project/a', stamp(), 'sha');
    for (const change of [{ sizeBytes: 4 }, { mtimeMs: 1000.6 }, { ctimeMs: 1001 }, { ino: 8 }]) {
      expect(state.contentOf('project/a', stamp(change))).toBeUndefined();
    }
    expect(state.contentOf('project/b', stamp())).toBeUndefined();
    await state.close();
  });

  it('does not trust a stamp that is so fresh that another change would not show in it', async () => {
    const state = await open();
    state.noteContent('project/a', stamp({ mtimeMs: 10_000 }), 'sha', 10_500);
    state.noteContent('project/b', stamp({ ctimeMs: 10_000 }), 'sha', 10_500);
    expect(state.contentOf('project/a', stamp({ mtimeMs: 10_000 }))).toBeUndefined();
    expect(state.contentOf('project/b', stamp({ ctimeMs: 10_000 }))).toBeUndefined();
    await state.close();
  });

  it('forgets a base when neither side has the file', async () => {
    const state = await open();
    state.noteBase('project/a', 'sha');
    state.noteBase('project/a', null);
    expect([state.baseOf('project/a'), state.baseCount]).toEqual([null, 0]);
    await state.close();
    const again = await open();
    expect([...again.bases()]).toEqual([]);
    await again.close();
  });

  it('keeps the base apart from what the file holds, in whatever order they come', async () => {
    const state = await open();
    state.noteContent('project/a', stamp(), 'old');
    state.noteBase('project/a', 'old');
    state.noteContent('project/a', stamp({ ino: 8 }), 'new');
    state.noteBase('project/b', 'old');
    state.noteContent('project/b', stamp(), 'old');
    state.noteContent('project/b', stamp({ ino: 8 }), null);
    await state.close();
    const again = await open();
    expect([...again.bases()]).toEqual([
      ['project/a', 'old'],
      ['project/b', 'old'],
    ]);
    expect(again.contentOf('project/a', stamp({ ino: 8 }))).toBe('new');
    expect(again.contentOf('project/b', stamp({ ino: 8 }))).toBeNull();
    await again.close();
  });

  it('has one line a file once many have been replaced', async () => {
    const state = await open();
    for (let n = 0; n < 200; n += 1) state.noteContent('project/a', stamp({ ino: n }), `sha ${n}`);
    state.noteBase('project/b', 'sha');
    state.noteBase('project/b', null);
    await state.close();
    expect((await readFile(await file(), 'utf8')).trim().split('\n')).toHaveLength(1);
    const again = await open();
    expect(again.contentOf('project/a', stamp({ ino: 199 }))).toBe('sha 199');
    await again.close();
  });

  it('is not spoilt by a line that a kill tore', async () => {
    const state = await open();
    state.noteBase('project/a', 'sha');
    await state.close();
    await appendFile(await file(), '["project/b",-1,0,0,0,null,"s');
    const again = await open();
    expect([...again.bases()]).toEqual([['project/a', 'sha']]);
    again.noteBase('project/c', 'sha');
    await again.close();
    const third = await open();
    expect([...third.bases()]).toEqual([
      ['project/a', 'sha'],
      ['project/c', 'sha'],
    ]);
    await third.close();
  });

  it('does not write what it knows already', async () => {
    const state = await open();
    state.noteBase('project/a', 'sha');
    state.noteBase('project/a', 'sha');
    await state.close();
    expect((await readFile(await file(), 'utf8')).trim().split('\n')).toHaveLength(1);
  });

  it('is another for each server, workspace, folder and name', async () => {
    const states = await Promise.all(
      [{}, { url: 'http://two' }, { workspaceId: 'v' }, { directory: '/other' }, { rootName: 'other' }].map(
        open,
      ),
    );
    states[0]!.noteBase('project/a', 'sha');
    expect(states.map((state) => state.baseOf('project/a'))).toEqual(['sha', null, null, null, null]);
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
