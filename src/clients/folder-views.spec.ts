import type { RootRecord } from '../storage/records/roots.js';
import { folderViews } from './folder-views.js';
import type { KnownClient } from './known-client.js';

const NOON = Date.UTC(2025, 5, 1, 12);
const PROJ = { name: 'proj', docPath: 'proj', rootId: 'r' };
const REGISTERED: RootRecord = { ...PROJ, workspaceId: 'w', userId: 'u', claimedAt: NOON };

function aClient(clientId: string, connectedAt: number, leftAt: number | null): KnownClient {
  return { workspaceId: 'w', userId: 'u', clientId, name: '', roots: [PROJ], tools: [], connectedAt, leftAt };
}
const viewed = (...clients: KnownClient[]) => {
  const [view] = folderViews([REGISTERED], clients, []);
  return { connected: view!.connected, since: view!.since };
};

describe('a folder of a workspace', () => {
  const here = aClient('here', NOON, null);
  const disconnected = aClient('gone', NOON + 1, NOON + 2);

  it('is connected if any of its clients is, in any order', () => {
    const connected = { connected: true, since: '2025-06-01T12:00:00.000Z' };
    expect([viewed(here, disconnected), viewed(disconnected, here)]).toEqual([connected, connected]);
  });

  it('is away since its last client left', () => {
    const later = aClient('later', NOON, NOON + 5);
    const away = { connected: false, since: '2025-06-01T12:00:00.005Z' };
    expect([viewed(later, disconnected), viewed(disconnected, later)]).toEqual([away, away]);
  });
});
