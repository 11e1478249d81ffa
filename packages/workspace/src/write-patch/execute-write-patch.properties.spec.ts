import * as disk from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Approval, PatchBatch } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import {
  applyFilePatch,
  checkFilePatch,
  type DiffedChanges,
  diffToChanges,
  parsePatchBatch,
  selectChanges,
} from '@patchbay/protocol/line-patch';
import fc from 'fast-check';

import { type FileSystem, realFileSystem } from '../disk/file-system.js';
import { WorkspaceRoots } from '../disk/workspace-roots.js';
import { executeWritePatch, type PatchContext } from './execute-write-patch.js';

const NAMES = ['a.txt', 'src/B.txt', 'src/deep/c.txt'];

describe('any patch batch', () => {
  let base: string;
  let root: string;
  let roots: PatchContext['roots'];
  beforeEach(async () => {
    base = await disk.realpath(await disk.mkdtemp(join(tmpdir(), 'patchbay-properties-')));
    root = join(base, 'root');
    await disk.mkdir(join(root, 'src', 'deep'), { recursive: true });
    roots = await WorkspaceRoots.open([{ directory: root }]);
  });
  afterEach(() => disk.rm(base, { recursive: true, force: true }));

  const line = fc.constantFrom('', 'a', 'b', 'c', '\tx', 'ä');
  const text = fc
    .tuple(
      fc.constantFrom('', '\ufeff'),
      fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n')), { maxLength: 8 }),
      line,
    )
    .map(([mark, lines, last]) => Buffer.from(mark + lines.map((pair) => pair.join('')).join('') + last));
  const edits = fc.array(fc.tuple(text, text, fc.array(fc.boolean(), { maxLength: 8 })), {
    minLength: 1,
    maxLength: NAMES.length,
  });

  type Edits = [Buffer, Buffer, boolean[]][];
  /** The batch that turns the first text into the second, as far as a patch can. */
  function batchOf(files: Edits): PatchBatch | null {
    const diffs = files.map(([before, after]) => diffToChanges(before, after));
    const parsed = parsePatchBatch(
      {
        batchId: 'b',
        files: files.map(([before], file) => ({
          filePatchId: `f${file}`,
          docPath: `root/${NAMES[file]!.toLowerCase()}`,
          originalSha256: sha256(before),
          changes: changesOf(diffs[file]!).map((change, index) => ({
            ...change,
            changeId: `f${file}c${index}`,
          })),
        })),
      },
      { trusted: true },
    );
    return parsed.ok ? parsed.batch : null;
  }
  const changesOf = (diff: DiffedChanges) => (diff.ok ? diff.changes : []);
  const write = async (files: Edits) => {
    for (const [index, [before]] of files.entries()) await disk.writeFile(join(root, NAMES[index]!), before);
  };
  const read = (files: Edits) =>
    Promise.all(files.map((_, index) => disk.readFile(join(root, NAMES[index]!))));
  const temps = async () =>
    (await disk.readdir(root, { recursive: true })).filter((name) => name.includes('.patchbay-'));

  it('results in the accepted changes, or leaves every byte', async () => {
    await fc.assert(
      fc.asyncProperty(edits, async (files) => {
        const batch = batchOf(files);
        fc.pre(batch !== null);
        await write(files);
        const rejected = batch.files.flatMap(({ changes }, file) =>
          changes.filter((_, index) => files[file]![2][index]).map(({ changeId }) => changeId!),
        );
        const approval: Approval = { decision: 'allow', by: 'ada', at: '', rejectedChangeIds: rejected };
        const result = await executeWritePatch({ roots }, batch, approval);
        const after = await read(files);
        const kept = batch.files.map((file) =>
          selectChanges(file, (index) => !rejected.includes(file.changes[index]!.changeId!)),
        );
        const isSound = kept.every(
          (file, index) =>
            file.changes.length === 0 ||
            checkFilePatch(files[index]![0], file).faults.every(({ code }) => code === 'NO_CHANGE'),
        );
        const expected = files.map(([before], index) => {
          const applied =
            isSound && kept[index]!.changes.length > 0 ? applyFilePatch(before, kept[index]!) : null;
          return applied?.ok ? Buffer.from(applied.bytes) : before;
        });
        expect(after).toEqual(expected);
        for (const [index, file] of result.files.entries()) {
          if (file.status === 'applied') expect(file.newSha256).toBe(sha256(after[index]!));
          else expect(after[index]).toEqual(files[index]![0]);
        }
        expect(await temps()).toEqual([]);
      }),
      { numRuns: 150 },
    );
    // Both wait for the disk many times: 2 s alone, over 30 s under load.
  }, 120_000);

  it('is written as a whole or not at all, whichever system call fails [PATCH-9]', async () => {
    const files: Edits = NAMES.map((name) => [Buffer.from(`${name}\n`), Buffer.from(`${name}\nnew\n`), []]);
    const [before, after] = [0, 1].map((at) => files.map((file) => file[at]));
    let failed = 0;
    let succeeded = 0;
    for (let moment = 0; ; moment++) {
      await write(files);
      const { fs, hasFailed } = failingOnce(moment);
      const result = await executeWritePatch({ roots, fs }, batchOf(files)!);
      expect([moment, await read(files)]).toEqual([moment, result.success ? after : before]);
      if (!hasFailed()) break;
      if (result.success) succeeded++;
      else failed++;
    }
    // Failures of syncs and clean-up do not undo a write.
    expect([failed > 30, succeeded > 0]).toEqual([true, true]);
  }, 120_000);

  /** A disk whose `moment`th call fails once. */
  function failingOnce(moment: number) {
    let calls = 0;
    const wrap =
      <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
      (...args: A): Promise<R> =>
        calls++ === moment ? Promise.reject(Object.assign(new Error('EIO'), { code: 'EIO' })) : call(...args);
    const real = realFileSystem;
    const fs: FileSystem = {
      ...real,
      open: wrap(async (...args) => {
        const handle = await real.open(...args);
        const [writeFile, sync] = [handle.writeFile.bind(handle), handle.sync.bind(handle)];
        handle.writeFile = wrap(writeFile);
        handle.sync = wrap(sync);
        return handle;
      }),
      lstat: wrap(real.lstat),
      readdir: wrap(real.readdir),
      accessForWrite: wrap(real.accessForWrite),
      link: wrap(real.link),
      rename: wrap(real.rename),
      unlink: wrap(real.unlink),
    };
    return { fs, hasFailed: () => calls > moment };
  }
});
