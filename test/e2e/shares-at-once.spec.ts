import { jest } from '@jest/globals';
import type { StoredFile } from '@patchbay/protocol';
import type { Settings } from '../../src/config/config.js';
import { storesOf } from '../contract/backends.js';
import { hold } from '../support/hold.js';
import { ToolsFixture } from '../support/tools-fixture.js';
import { waitFor } from '../support/wait-for.js';

const FULL = { status: 413, body: { code: 'TOO_LARGE' } };

describe('a quota that is used up by concurrent writes [SHARE-1]', () => {
  let fixture: ToolsFixture;
  afterEach(async () => {
    jest.restoreAllMocks();
    await fixture.close();
  });
  const start = async (config: Partial<Settings>) => (fixture = await ToolsFixture.start(config));
  const put = (path: string, bytes: string) =>
    fixture.user.request('PUT', `${fixture.base}/contents/${path}`, Buffer.from(bytes));

  it.each(['save', 'commitVersion'] as const)('counts a file that is being restored (%s)', async (how) => {
    await start({ maxFiles: 100, maxUserFiles: 1 });
    const restores: (() => Promise<{ status: number }>)[] = [];
    for (const path of ['a', 'b']) {
      const { fileId, versionId } = (await put(path, 'x')).body as StoredFile;
      await fixture.ok('rm', { path });
      const which = how === 'save' ? {} : { versionId };
      restores.push(() => fixture.user.post(`${fixture.base}/files/${fileId}/restore`, which));
    }
    const slow = hold(storesOf(fixture.server.app).files, how);
    const first = restores[0]!();
    await slow.reached;
    const second = restores[1]!();
    slow.release();
    expect((await first).status).toBe(200);
    expect(await second).toMatchObject(FULL);
  });

  it('accepts a file that fits beside one that does not', async () => {
    await start({ maxFiles: 100, maxUserFiles: 2 });
    const { usage: counts } = storesOf(fixture.server.app);
    const slow = hold(counts, 'ofWorkspace');
    const first = put('p/a', 'x');
    await slow.reached;
    const slower = hold(counts, 'ofUser');
    const second = put('q/b', 'x');
    await slower.reached;
    slow.release();
    // Its folder is made.
    await slower.reachedBy(2);
    slower.release();
    expect((await first).status).toBe(201);
    expect(await second).toMatchObject(FULL);
  });

  it('accepts a file with its new folder, and rejects another that waits for the folder', async () => {
    await start({ maxFiles: 100, maxUserFiles: 2 });
    const { files, usage: counts } = storesOf(fixture.server.app);
    const slow = hold(counts, 'ofWorkspace');
    const first = put('p/a', 'x');
    await slow.reached;
    const looks = jest.spyOn(files, 'at');
    const second = put('p/b', 'x');
    // At its own path, and at that of the folder.
    await waitFor(() => looks.mock.calls.length >= 2, 'the second to look for its folder');
    slow.release();
    expect((await first).status).toBe(201);
    expect(await second).toMatchObject(FULL);
  });

  it('counts bytes that are being written', async () => {
    await start({ maxSessions: 100, maxUserSessions: 1 });
    const { sessions, usage: counts } = storesOf(fixture.server.app);
    const slow = hold(sessions, 'insert');
    const looked = jest.spyOn(counts, 'ofUser');
    const both = [1, 2].map(() => fixture.user.post(`${fixture.base}/sessions`, {}));
    await waitFor(() => looked.mock.calls.length === 2, 'both to look for room');
    slow.release();
    expect((await Promise.all(both)).map(({ status }) => status).sort()).toEqual([201, 413]);
  });

  it('is not exceeded by concurrent writes', async () => {
    await start({ maxFiles: 100, maxUserFiles: 5 });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) => fixture.call('write', { path: `/f${at}`, content: 'x' })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);
    expect((await storesOf(fixture.server.app).usage.ofWorkspace(fixture.workspaceId)).files).toBe(5);
  });
});
