import { type BlobStore } from '../storage/ports/blobs.store.js';
import type { FileStore, ListedEntry } from '../storage/ports/files.store.js';
import type { NearestPath } from './nearest-path.js';
import { FilesService, MAX_ENTRIES } from './files.service.js';

/** A service over a store that lists a folder of so many files. */
function folderOf(count: number): FilesService {
  let given = 0;
  const page = async (_workspace: string, _folder: string, _after: string | null, limit: number) => {
    const size = Math.min(limit, count - given);
    given += size;
    return Array.from({ length: size }, (): ListedEntry => ({
      kind: 'file',
      path: '/a',
      docPath: 'a',
      updatedAt: 0,
    }));
  };
  const store: Pick<FileStore, 'below' | 'childrenOf'> = { below: page, childrenOf: page };
  return new FilesService(store as FileStore, {} as BlobStore, {} as NearestPath);
}

describe('a listing', () => {
  const root = { path: '/', docPath: '' };

  it('for a search returns every file, in steps of a thousand', async () => {
    const sizes: number[] = [];
    for await (const { length } of folderOf(2_001).walk('w', root)) sizes.push(length);
    expect(sizes).toEqual([1_000, 1_000, 1]);
  });

  it('has at most as many entries as one answer allows', async () => {
    expect(await folderOf(MAX_ENTRIES).below('w', root)).toHaveLength(MAX_ENTRIES);
    for (const list of ['below', 'childrenOf'] as const) {
      const tooMany = folderOf(MAX_ENTRIES + 1)[list]('w', root);
      await expect(tooMany).rejects.toMatchObject({
        code: 'TOO_LARGE',
        message: expect.stringContaining('narrower') as string,
      });
    }
  });
});
