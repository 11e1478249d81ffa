import { readdir } from 'node:fs/promises';
import type { Settings } from '../../src/config/config.js';
import { put, SyncFixture } from '../support/sync-fixture.js';
import { ToolsFixture } from '../support/tools-fixture.js';

describe('a push beyond a quota [SHARE-1]', () => {
  let fixture: ToolsFixture;
  let setup: SyncFixture;
  afterEach(() => setup.close());
  afterEach(() => fixture.close());
  async function start(config: Partial<Settings>): Promise<void> {
    fixture = await ToolsFixture.start(config);
    setup = await SyncFixture.start(fixture);
  }

  it('ends with the server’s message about bytes once, and blames no file', async () => {
    await start({ maxStoredBytes: 1000, maxUserStoredBytes: 10 });
    const folder = await setup.folder('p', { 'a.txt': '1234567' });
    expect((await setup.push(folder)).code).toBe(0);
    await put(folder, { 'b.txt': 'abcdefg', 'c.txt': 'hijklmn', 'd.txt': 'x'.repeat(2 * 1024 * 1024) });
    expect(await setup.push(folder)).toMatchObject({
      code: 1,
      out: '',
      err:
        'patchbay: You have 7 stored bytes in all workspaces, and this would exceed the limit of 10. ' +
        'An operator can raise PATCHBAY_MAX_USER_STORED_BYTES.\n',
    });
    expect(await setup.cloud()).toEqual({ '/p/a.txt': '1234567' });
    expect(await readdir(folder)).toHaveLength(4);
  });

  it('ends with the server’s message about files and keeps the files sent before', async () => {
    await start({ maxFiles: 100, maxUserFiles: 3 });
    const folder = await setup.folder('p', { 'a.txt': '1', 'b.txt': '2', 'c.txt': '3', 'd.txt': '4' });
    const { code, out, err } = await setup.push(folder);
    expect([code, out]).toEqual([1, '']);
    expect(err.match(/PATCHBAY_MAX_USER_FILES/g)).toHaveLength(1);
    // With their folder that is all that there is room for.
    expect(Object.keys(await setup.cloud())).toHaveLength(2);
  });
});
