import type { FolderStatus, WorkspaceRoot } from '@patchbay/protocol';
import { isoTime } from '../common/clock.js';
import type { ClientStatuses } from '../storage/records/clients.js';
import type { RootRecord } from '../storage/records/roots.js';
import type { KnownClient } from './known-client.js';

const NO_STATUS: Omit<FolderStatus, 'docPath'> = { conflicts: [], behind: [], more: 0 };

/** The folders of a workspace as one user sees them, each with the user's client that has it or had it last. */
export function folderViews(
  roots: readonly RootRecord[],
  clients: readonly KnownClient[],
  reported: readonly ClientStatuses[],
): WorkspaceRoot[] {
  const statuses = new Map(reported.map(({ clientId, statuses: all }) => [clientId, all]));
  return roots.map(({ name, docPath, rootId }) => {
    const client = clients
      .filter((candidate) =>
        candidate.roots.some((root) => root.rootId === rootId && root.docPath === docPath),
      )
      .reduce<KnownClient | null>((best, one) => (best === null || isNearer(one, best) ? one : best), null);
    const all = client === null ? [] : (statuses.get(client.clientId) ?? []);
    const { conflicts, behind, more } = all.find((status) => status.docPath === docPath) ?? NO_STATUS;
    return {
      ...{ name, docPath, rootId, connected: client !== null && client.leftAt === null },
      since: client === null ? null : isoTime(client.leftAt ?? client.connectedAt),
      ...{ conflicts, behind, more },
    };
  });
}

/** Connected clients come first, then the last to leave. */
function isNearer(one: KnownClient, other: KnownClient): boolean {
  if ((one.leftAt === null) !== (other.leftAt === null)) return one.leftAt === null;
  return (one.leftAt ?? one.connectedAt) > (other.leftAt ?? other.connectedAt);
}
