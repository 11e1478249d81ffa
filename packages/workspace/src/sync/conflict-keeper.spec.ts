import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Ack, type ErrorCode, type FilePut, type FilePutAnswer } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { WorkspaceRoots } from '../disk/workspace-roots.js';
import { ConflictKeeper } from './conflict-keeper.js';
import { FolderState } from './folder-state.js';

const [DOC_PATH, HERE] = ['proj/a.txt', 'changed here\n'];
const CONFLICT = {
  path: 'a.txt',
  docPath: DOC_PATH,
  remote: sha256('changed there\n'),
  reason: 'on both sides',
};

describe('this side’s text of a file that was changed on both', () => {
  let directory: string;
  let answers: Ack<FilePutAnswer>[];
  let sent: FilePut[];
  let keeper: ConflictKeeper;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'patchbay-keeper-'));
    await writeFile(join(directory, 'a.txt'), HERE);
    const roots = await WorkspaceRoots.open([{ directory, name: 'proj' }]);
    const pair = { url: 'http://one', workspaceId: 'w', directory, rootName: 'proj' };
    const state = FolderState.open(join(directory, '.home'), pair);
    sent = [];
    keeper = new ConflictKeeper({ roots, state, maxFileBytes: 1_000 }, (file) => {
      sent.push(file);
      return Promise.resolve(answers.shift()!);
    });
  });
  afterEach(() => rm(directory, { recursive: true }));

  const refused = (code: ErrorCode): Ack<FilePutAnswer> => ({ ok: false, error: { code, message: 'no' } });

  it('is sent until the Cloud has kept it, and then once', async () => {
    answers = [refused('UNAVAILABLE'), refused('STALE')];
    expect(await keeper.keep(CONFLICT)).toBeNull();
    expect(keeper.hasKept(DOC_PATH, sha256(HERE))).toBe(false);
    expect(await keeper.keep(CONFLICT)).toBeNull();
    expect(keeper.hasKept(DOC_PATH, sha256(HERE))).toBe(true);
    expect(await keeper.keep(CONFLICT)).toBeNull();
    expect(sent.map(({ docPath, baseSha256 }) => [docPath, baseSha256])).toEqual([
      [DOC_PATH, null],
      [DOC_PATH, null],
    ]);
  });

  it('is no conflict any more where it has become the head', async () => {
    answers = [{ ok: true, versionId: 'v', fileId: 'f', path: '/Proj/a.txt' }];
    expect(await keeper.keep(CONFLICT)).toEqual({ sha256: sha256(HERE), cloudPath: '/Proj/a.txt' });
    expect(keeper.hasKept(DOC_PATH, sha256(HERE))).toBe(false);
  });
});
