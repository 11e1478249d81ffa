import type { Entry, FileRecord, FolderRecord } from '../ports/files.store.js';
import type { EntryDocument } from './file-collections.js';
import type { WithOutbox } from './outbox.js';
import { eq, keyOf } from './values.js';

/** The fields to read of a file or folder; its versions are queried separately. */
export const ENTRY = { fresh: 0, outbox: 0, outboxWrites: 0, pendingIn: 0 } as const;
export type StoredEntry = Omit<EntryDocument, 'fresh' | keyof WithOutbox>;

type Place = Pick<FileRecord, 'workspaceId' | 'id' | 'path' | 'docPath' | 'deletedAt'>;

export function entryId({ workspaceId, id }: { workspaceId: string; id: string }): string {
  return keyOf(workspaceId, id);
}

/** The `place` of the live entry at a docPath. */
export function livePlace(workspaceId: string, docPath: string): string {
  return keyOf(workspaceId, docPath);
}

/** The location fields of an entry, as stored. */
export function locationOf({ workspaceId, id, path, docPath, deletedAt }: Place) {
  const isLive = deletedAt === null;
  const place = isLive ? livePlace(workspaceId, docPath) : keyOf(workspaceId, 'deleted', id);
  return { path, docPath, parent: folderOf(docPath), place, isLive, deletedAt };
}

export function documentOf(entry: FileRecord | FolderRecord): StoredEntry {
  const { id, kind, workspaceId, createdAt, holder } = entry;
  const common = { _id: entryId(entry), id, kind, workspaceId, createdAt, holder };
  if (entry.kind === 'folder') {
    const state = { revision: 1, lastNumber: 0, head: null, updatedAt: createdAt };
    return { ...common, ...state, ...locationOf({ ...entry, deletedAt: null }) };
  }
  const { revision, lastNumber, head, updatedAt } = entry;
  return { ...common, revision, lastNumber, head, updatedAt, ...locationOf(entry) };
}

export function toEntry({
  kind,
  id,
  workspaceId,
  path,
  docPath,
  createdAt,
  holder,
  ...file
}: StoredEntry): Entry {
  const common = { id, workspaceId, path, docPath, createdAt, holder };
  if (kind === 'folder') return { kind, ...common };
  const { revision, lastNumber, head, updatedAt, deletedAt } = file;
  return { kind, ...common, revision, lastNumber, head: head!, updatedAt, deletedAt };
}

/** The condition for possibly live entries below a folder, by docPath. */
export function liveIn(workspaceId: string) {
  return { workspaceId: eq(workspaceId), isLive: eq(true) };
}

/** The path, or docPath, of the parent folder; "" at the top. */
export function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}
