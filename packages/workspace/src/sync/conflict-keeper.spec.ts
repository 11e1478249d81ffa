import { type Ack, type ErrorCode, type FilePut, type FilePutAnswer } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { ConflictKeeper } from './conflict-keeper.js';
import { SyncFixture } from './sync-fixture.sample.js';

const [DOC_PATH, LOCAL] = ['proj/a.txt', 'changed here\n'];
const CONFLICT = {
  ...{ path: 'a.txt', docPath: DOC_PATH, remote: sha256('changed there\n'), reason: 'on both sides' },
};

describe('the local text of a file that was changed on both sides', () => {
  const fixture = new SyncFixture();
  let answers: Ack<FilePutAnswer>[];
  let sent: FilePut[];
  let keeper: ConflictKeeper;
  beforeEach(async () => {
    await fixture.open();
    await fixture.write('a.txt', LOCAL);
    sent = [];
    keeper = new ConflictKeeper(fixture.sync({}), (file) => {
      sent.push(file);
      return Promise.resolve(answers.shift()!);
    });
  });
  afterEach(() => fixture.close());

  const refused = (code: ErrorCode): Ack<FilePutAnswer> => ({ ok: false, error: { code, message: 'no' } });

  it('is uploaded until the Cloud has kept it', async () => {
    answers = [refused('UNAVAILABLE'), refused('STALE')];
    expect(await keeper.keep(CONFLICT)).toBeNull();
    expect(keeper.hasKept(DOC_PATH, sha256(LOCAL))).toBe(false);
    expect(await keeper.keep(CONFLICT)).toBeNull();
    expect(keeper.hasKept(DOC_PATH, sha256(LOCAL))).toBe(true);
    expect(await keeper.keep(CONFLICT)).toBeNull();
    expect(sent.map(({ docPath, baseSha256 }) => [docPath, baseSha256])).toEqual([
      [DOC_PATH, null],
      [DOC_PATH, null],
    ]);
  });

  it('ends the conflict if it became the head', async () => {
    answers = [{ ok: true, versionId: 'v', fileId: 'f', path: '/Proj/a.txt' }];
    expect(await keeper.keep(CONFLICT)).toEqual({ sha256: sha256(LOCAL), cloudPath: '/Proj/a.txt' });
    expect(keeper.hasKept(DOC_PATH, sha256(LOCAL))).toBe(false);
  });
});
