import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Stats } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sha256 } from '@patchbay/protocol/hash';
import { stampOf } from './file-stamp.js';
import { FolderState } from './folder-state.js';

const PAIR = { url: 'http://one', workspaceId: 'w', directory: '/project', rootName: 'project' };
const stamp = (more: Partial<Stats> = {}) =>
  stampOf({ size: 3, mtimeMs: 1000.5, ctimeMs: 1000.25, ino: 7, ...more } as Stats);
const [SHA, OLD, NEW] = [sha256('sha'), sha256('old'), sha256('new')];

describe('a folder state shared by processes', () => {
  let home: string;
  beforeEach(async () => void (home = await mkdtemp(join(tmpdir(), 'patchbay-state-'))));
  afterEach(() => rm(home, { recursive: true }));

  const open = (more: Partial<typeof PAIR> = {}) => FolderState.open(home, { ...PAIR, ...more });

  it('reads the records of other processes and keeps its own newer ones', async () => {
    const [one, other] = [open(), open()];
    one.noteBase('project/a', SHA);
    one.noteBase('project/b', OLD);
    await one.save();
    other.noteBase('project/b', NEW);
    other.refresh();
    expect([other.baseOf('project/a'), other.baseOf('project/b')]).toEqual([SHA, NEW]);
    await other.save();
    one.refresh();
    expect(one.baseOf('project/b')).toBe(NEW);
    expect(one.isSynced).toBe(false);
    other.noteSynced();
    await other.save();
    one.refresh();
    expect(one.isSynced).toBe(true);
  });

  it('keeps a newer base and sent content of another process when it records a reading', async () => {
    const reader = open();
    reader.noteBase('project/a', OLD);
    await reader.save();
    const other = open();
    reader.noteContent('project/a', stamp(), SHA);
    other.noteBase('project/a', NEW);
    other.noteSent('project/a', SHA);
    await other.save();
    await reader.save();
    for (const state of [reader, open()]) {
      expect([state.baseOf('project/a'), state.contentOf('project/a', stamp())]).toEqual([NEW, SHA]);
      expect(state.isOwn('project/a', SHA)).toBe(true);
    }
  });

  it('reads a file that another process has rewritten', async () => {
    const [one, other] = [open(), open()];
    one.noteBase('project/a', SHA);
    await one.save();
    other.refresh();
    for (let n = 0; n < 300; n += 1) other.noteContent('project/b', stamp({ ino: n }), sha256(`${n}`));
    await other.save();
    one.noteBase('project/c', NEW);
    await one.save();
    expect(one.contentOf('project/b', stamp({ ino: 299 }))).toBe(sha256('299'));
    expect([...open().bases()].sort()).toEqual([
      ['project/a', SHA],
      ['project/c', NEW],
    ]);
  });

  it('reads a file that was rewritten twice, even with the same inode', async () => {
    const [one, other] = [open(), open()];
    const written = async (base: string) => {
      other.noteBase('project/a', base);
      for (let n = 0; n < 150; n += 1) other.noteBase('project/b', sha256(`${base} ${n}`));
      await other.save();
    };
    for (let round = 0; round < 8; round += 1) {
      await written(sha256(`first ${round}`));
      one.refresh();
      await written(OLD);
      await written(sha256(`second ${round}`));
      other.noteBase('project/c', sha256(`more ${round}`));
      await other.save();
      one.refresh();
      expect(one.baseOf('project/a')).toBe(sha256(`second ${round}`));
    }
  });

  it('stays intact with all saved records when its writers are killed at any time', async () => {
    const writer = fileURLToPath(new URL('./folder-state-writer.mjs', import.meta.url));
    const saved = new Map<string, number>();
    for (let round = 0; round < 6; round += 1) {
      const writers = ['a', 'b'].map((name) => spawn(process.execPath, [writer, home, name, `${round}`]));
      for (const { stdout } of writers) {
        stdout.on('data', (chunk: Buffer) => {
          for (const [, name, n] of chunk.toString().matchAll(/^(\S+) (\d+)$/gm)) saved.set(name!, Number(n));
        });
      }
      await Promise.all(writers.map(({ stdout }) => once(stdout, 'data')));
      await new Promise((resolve) => setTimeout(resolve, 70 * round));
      const ended = writers.map((one) => once(one, 'close'));
      for (const one of writers) one.kill('SIGKILL');
      await Promise.all(ended);
      const state = open();
      for (const [name, n] of saved) {
        const known = Array.from({ length: 40 }, (_, ahead) => sha256(`${name} ${n + ahead}`));
        expect(known).toContain(state.baseOf(`project/${name}`));
      }
    }
    expect(saved.size).toBe(12);
  }, 30_000);
});
