import type { PatchFault } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { jest } from '@jest/globals';
import { BlobStore } from '../../src/storage/ports/blobs.store.js';
import { SessionStore } from '../../src/storage/records/sessions.js';
import { patchCall } from '../support/patch-fixture.js';
import { RelayFixture } from '../support/relay-fixture.js';

const MIB = 1024 * 1024;
const INSERT = { operation: 'insert', afterLine: 1, newLines: ['x'] };

/** The cost of a batch, for any files [PATCH-13]. */
describe('a patch batch', () => {
  let fixture: RelayFixture;
  beforeEach(
    async () => void (fixture = await RelayFixture.start({ maxPatchBytes: MIB, maxPatchChanges: 50 })),
  );
  afterEach(() => fixture.close());

  const given = async (paths: readonly string[], text: string): Promise<void> => {
    for (const path of paths) {
      await fixture.user.post(`/workspaces/${fixture.workspaceId}/tools`, {
        tool: 'write',
        args: { path, content: { text } },
      });
    }
  };
  const post = async (files: Parameters<typeof patchCall>[0]) => {
    const { body } = await fixture.post([patchCall(files)], { waitMs: 0 });
    const { error, status } = (body.result.toolResults[0] ?? body.result.toolCalls[0])! as {
      error?: { code: string; details: { faults: PatchFault[]; moreFaults: number } };
      status: string;
    };
    return { error, status };
  };

  it('reads a text shared by many of its files once, and the Active Files once [PATCH-13]', async () => {
    const text = 'one\ntwo\n'.repeat(100);
    const paths = Array.from({ length: 20 }, (_, at) => `/p/${at}.txt`);
    await given(paths, text);
    const read = jest.spyOn(fixture.server.app.get(BlobStore, { strict: false }), 'read');
    const active = jest.spyOn(fixture.server.app.get(SessionStore, { strict: false }), 'activeFilesOf');
    const { status } = await post(
      paths.map((path) => ({ docPath: path.slice(1), sha: sha256(text), changes: [INSERT] })),
    );
    expect(status).toBe('pending');
    expect(read).toHaveBeenCalledTimes(1);
    expect(active).toHaveBeenCalledTimes(1);
  });

  it('is rejected before any text is read when the texts are too large together [PATCH-13]', async () => {
    const text = `${'y'.repeat(0.3 * MIB)}\n`;
    const paths = Array.from({ length: 4 }, (_, at) => `/p/${at}.txt`);
    await given(paths, text);
    const read = jest.spyOn(fixture.server.app.get(BlobStore, { strict: false }), 'read');
    const { error } = await post(
      paths.map((path) => ({ docPath: path.slice(1), sha: sha256(text), changes: [INSERT] })),
    );
    expect(error).toMatchObject({ code: 'INVALID_ARGUMENTS', details: { moreFaults: 0 } });
    expect(error!.details.faults).toMatchObject([{ code: 'TOO_LARGE', fileIndex: null }]);
    expect(error!.details.faults[0]!.message).toMatch(/limit is 1048576.*Split the batch/);
    expect(read).not.toHaveBeenCalled();
  });

  it('has a bound on the number of changes in all of its files [PATCH-13]', async () => {
    const changes = Array.from({ length: 26 }, () => INSERT);
    const { error } = await post(['a', 'b'].map((docPath) => ({ docPath, changes })));
    expect(error!.details.faults).toMatchObject([{ code: 'TOO_LARGE' }]);
    expect(error!.details.faults[0]!.message).toMatch('52 changes');
  });

  it('counts the faults that it does not list', async () => {
    await fixture.close();
    fixture = await RelayFixture.start({ maxPatchChanges: 200 });
    await given(['/p/a'], 'one\n'.repeat(60));
    await given(['/p/b'], 'two\n'.repeat(60));
    const changes = Array.from({ length: 60 }, (_, at) => ({
      ...{ operation: 'delete', startLine: at + 1, endLine: at + 1, expectedOriginalLines: ['other'] },
    }));
    const { error } = await post([
      { docPath: 'p/a', sha: sha256('one\n'.repeat(60)), changes },
      { docPath: 'p/b', sha: sha256('two\n'.repeat(60)), changes },
    ]);
    const { faults, moreFaults } = error!.details;
    expect([faults.length, moreFaults]).toEqual([100, 20]);
  });

  it('lists its faults in the order of its files, whichever text was read first', async () => {
    await given(['/p/a', '/p/c'], 'one\n');
    await given(['/p/b'], 'two\n');
    const wrong = { operation: 'delete', startLine: 1, endLine: 1, expectedOriginalLines: ['other'] };
    const { error } = await post(
      ['a', 'b', 'c'].map((name) => ({
        ...{ docPath: `p/${name}`, changes: [wrong] },
        sha: sha256(name === 'b' ? 'two\n' : 'one\n'),
      })),
    );
    expect(error!.details.faults.map(({ fileIndex }) => fileIndex)).toEqual([0, 1, 2]);
  });
});
