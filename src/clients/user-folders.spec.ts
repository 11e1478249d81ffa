import type { RootRecord } from '../storage/records/roots.js';
import type { KnownClient } from './known-client.js';
import { UserFolders } from './user-folders.js';

const NOON = Date.UTC(2025, 5, 1, 12);
const DAY_MS = 24 * 60 * 60_000;

const rootOf = (docPath: string) => ({ name: docPath, docPath, rootId: `id of ${docPath}` });
function aClient(clientId: string, leftAt: number | null, ...docPaths: string[]): KnownClient {
  const names = { workspaceId: 'w', userId: 'u', clientId, name: clientId };
  return { ...names, roots: docPaths.map(rootOf), tools: [], connectedAt: NOON - 2 * DAY_MS, leftAt };
}
function registered(...docPaths: string[]): RootRecord[] {
  return docPaths.map((docPath) => ({ ...rootOf(docPath), workspaceId: 'w', userId: 'u', claimedAt: NOON }));
}

describe('a folder', () => {
  const names = (folders: UserFolders, path: string): string[] => folders.namedBy([path]);
  const of = (client: KnownClient, ...docPaths: string[]): UserFolders =>
    new UserFolders([client, aClient('other', null, 'other')], registered(...docPaths), NOON);

  it.each([
    ['is connected', null, true],
    ['was seen within a day', NOON - DAY_MS, true],
    ['was seen before that', NOON - DAY_MS - 1, false],
  ])('whose client %s can or cannot be named by a path [RELAY-15]', (_, leftAt, isNamed) => {
    const folders = of(aClient('a', leftAt, 'proj', 'two'), 'proj', 'two', 'other');
    expect(names(folders, 'Proj/x')).toEqual(isNamed ? ['proj'] : []);
    expect(folders.someHas(['proj', 'two'])).toBe(isNamed);
    expect(folders.someHas(['proj', 'other'])).toBe(false);
    expect(folders.isOnDisk('proj/x')).toBe(isNamed);
    expect(folders.isConnected('proj/x')).toBe(leftAt === null);
  });

  it('that was forgotten or reassigned can be named while its client is connected [ROOT-3]', () => {
    for (const others of [[], [{ ...registered('proj')[0]!, rootId: 'of another' }]]) {
      const folders = (leftAt: number | null): UserFolders =>
        new UserFolders([aClient('a', leftAt, 'proj')], others, NOON);
      expect(names(folders(NOON - 1), 'proj/x')).toEqual([]);
      expect(names(folders(null), 'proj/x')).toEqual(['proj']);
    }
  });
});
