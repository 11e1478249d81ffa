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
    killed.noteContent('a', stamp(), 'sha');
    killed.noteContent('logo', stamp(), null);
    killed.noteBase('project/a', 'sha');
    await killed.save();
    killed.noteBase('project/b', 'never saved');
    await killed['lock'].release();
    const state = await open();
    expect(state.contentOf('a', stamp())).toBe('sha');
    expect(state.contentOf('logo', stamp())).toBeNull();
    expect(state.baseOf('project/a')).toBe('sha');
    expect([...state.bases()]).toEqual([['project/a', 'sha']]);
    await state.close();
  });

  it('knows the content of a file only while nothing of its stamp has changed', async () => {
    const state = await open();
    state.noteContent('a', stamp(), 'sha');
    for (const change of [{ sizeBytes: 4 }, { mtimeMs: 1000.6 }, { ctimeMs: 1001 }, { ino: 8 }]) {
      expect(state.contentOf('a', stamp(change))).toBeUndefined();
    }
    expect(state.contentOf('b', stamp())).toBeUndefined();
    await state.close();
  });

  it('does not trust a stamp that is so fresh that another change would not show in it', async () => {
    const state = await open();
    state.noteContent('a', stamp({ mtimeMs: 10_000 }), 'sha', 10_500);
    state.noteContent('b', stamp({ ctimeMs: 10_000 }), 'sha', 10_500);
    expect(state.contentOf('a', stamp({ mtimeMs: 10_000 }))).toBeUndefined();
    expect(state.contentOf('b', stamp({ ctimeMs: 10_000 }))).toBeUndefined();
    await state.close();
  });

  it('forgets a base when neither side has the file, and the content of files that are gone', async () => {
    const state = await open();
    state.noteBase('project/a', 'sha');
    state.noteBase('project/a', null);
    state.noteContent('a', stamp(), 'sha');
    state.retain(new Set());
    expect(state.baseOf('project/a')).toBeNull();
    expect(state.contentOf('a', stamp())).toBeUndefined();
    await state.close();
    const again = await open();
    expect([...again.bases()]).toEqual([]);
    await again.close();
  });

  it('is not spoilt by a line that a kill tore', async () => {
    const state = await open();
    state.noteBase('project/a', 'sha');
    await state.close();
    await appendFile(await file(), '["base","project/b","s');
    const again = await open();
    expect([...again.bases()]).toEqual([['project/a', 'sha']]);
    again.noteBase('project/c', 'sha');
    await again.close();
    const third = await open();
    expect(third.baseOf('project/a')).toBe('sha');
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
