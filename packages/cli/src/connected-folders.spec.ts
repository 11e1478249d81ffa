import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RelayClient } from '@patchbay/client/relay';
import type { WorkspaceClient } from '@patchbay/client';
import { ConnectedFolders } from './connected-folders.js';
import type { Settings } from './settings.js';

const NEWS = { onDifference: () => {}, onReport: () => {}, onFault: () => {} };

describe('the folders of a connect', () => {
  let base: string;
  beforeEach(async () => void (base = await mkdtemp(join(tmpdir(), 'patchbay-connected-'))));
  afterEach(() => rm(base, { recursive: true }));

  it('check the whole Cloud after a notice that omits changes, and never other folders', async () => {
    const [home, project] = [join(base, 'home'), join(base, 'proj')];
    for (const folder of [home, project]) await mkdir(folder);
    let resolveLook: (prefix: string) => void;
    const looked = new Promise<string>((resolve) => (resolveLook = resolve));
    let looks = 0;
    const list = async function* ({ prefix }: { prefix: string }) {
      looks += 1;
      resolveLook(prefix);
      yield* await Promise.resolve([]);
    };
    const workspace = { workspaceId: 'w', files: { list }, claimRoot: () => Promise.resolve() };
    const folders = await ConnectedFolders.open(
      { home, url: 'http://one' } as Settings,
      workspace as unknown as WorkspaceClient,
      [project],
      {},
      NEWS,
    );
    folders.use({ setFolderStatus: () => undefined } as unknown as RelayClient);
    const others = { docPath: 'other/a.txt', path: '/other/a.txt', sha256: null };
    folders.filesChanged({ files: [others], more: false });
    expect(looks).toBe(0);
    folders.filesChanged({ files: [others], more: true });
    expect(await looked).toBe('proj/');
    await folders.stop();
    expect(looks).toBe(1);
  });
});
