import { readdir } from 'node:fs/promises';
import type { Settings } from '../../src/config/config.js';
import { put, SyncDesk } from '../support/sync-desk.js';
import { ToolsScene } from '../support/tools-scene.js';

describe('a push for which a share has no room [SHARE-1]', () => {
  let scene: ToolsScene;
  let desk: SyncDesk;
  afterEach(() => desk.close());
  afterEach(() => scene.close());
  async function start(config: Partial<Settings>): Promise<void> {
    scene = await ToolsScene.start(config);
    desk = await SyncDesk.start(scene);
  }

  it('of bytes ends with what the server says, once, and blames no file', async () => {
    await start({ maxStoredBytes: 1000, maxUserStoredBytes: 10 });
    const folder = await desk.folder('p', { 'a.txt': '1234567' });
    expect((await desk.push(folder)).code).toBe(0);
    await put(folder, { 'b.txt': 'abcdefg', 'c.txt': 'hijklmn', 'd.txt': 'x'.repeat(2 * 1024 * 1024) });
    expect(await desk.push(folder)).toMatchObject({
      code: 1,
      out: '',
      err:
        'patchbay: You have 7 stored bytes in all workspaces, and this would exceed the limit of 10. ' +
        'An operator can raise PATCHBAY_MAX_USER_STORED_BYTES.\n',
    });
    expect(await desk.cloud()).toEqual({ '/p/a.txt': '1234567' });
    expect(await readdir(folder)).toHaveLength(4);
  });

  it('of files ends so too, and keeps what was sent before', async () => {
    await start({ maxFiles: 100, maxUserFiles: 3 });
    const folder = await desk.folder('p', { 'a.txt': '1', 'b.txt': '2', 'c.txt': '3', 'd.txt': '4' });
    const { code, out, err } = await desk.push(folder);
    expect([code, out]).toEqual([1, '']);
    expect(err.match(/PATCHBAY_MAX_USER_FILES/g)).toHaveLength(1);
    // With their folder that is all that there is room for.
    expect(Object.keys(await desk.cloud())).toHaveLength(2);
  });
});
