import { DomainError } from '../../src/common/domain-error.js';
import type { BlobStore } from '../../src/storage/ports/blobs.store.js';
import type { FileRecord, FileStore, VersionBytes } from '../../src/storage/ports/files.store.js';
import type { Gate } from './interleavings.js';

/** What a sweep and those who write beside it need of a backend. */
export interface SweptStores {
  blobs: Pick<BlobStore, 'put' | 'read' | 'mark' | 'removeMarked'>;
  files: Pick<FileStore, 'insert'>;
}

/** How the stores keep the promise of `BlobStore`; or in which way they break it. */
export type Protocol = 'two phases' | 'one phase' | 'removes without looking' | 'unmarks too late';

interface BlobDocument {
  bytes: Uint8Array;
  touchedAt: number;
  markedAt: number | null;
}

/** The documents of a backend without transactions. */
export class Documents {
  readonly blobs = new Map<string, BlobDocument>();
  readonly versions = new Set<string>();
}

/**
 * The stores of one node over a backend that changes one document at a time, on a condition about that one. Before each
 * such step it waits at the gate: whatever another node does may come in between.
 */
export function documentStores(documents: Documents, gate: Gate, protocol: Protocol): SweptStores {
  const { blobs, versions } = documents;

  async function unmark(hash: string, bytes: VersionBytes, now: number): Promise<void> {
    await gate();
    const known = blobs.get(hash);
    if (known) blobs.set(hash, { ...known, touchedAt: now, markedAt: null });
    else if (bytes) blobs.set(hash, { bytes, touchedAt: now, markedAt: null });
    else throw new DomainError('CONFLICT', 'The bytes are missing.');
  }

  async function refer(hash: string): Promise<void> {
    await gate();
    versions.add(hash);
  }

  /** The blobs that nothing refers to, found in one step and looked at in another. */
  async function unreferred(fits: (blob: BlobDocument) => boolean): Promise<[string, BlobDocument][]> {
    await gate();
    const found = [...blobs].filter(([, blob]) => fits(blob));
    await gate();
    return found.filter(([hash]) => !versions.has(hash));
  }

  return {
    blobs: {
      put: (_who, hash, bytes, now) => unmark(hash, bytes, now),
      async read(_workspaceId, hash) {
        await gate();
        const blob = blobs.get(hash);
        return blob ? Buffer.from(blob.bytes) : null;
      },
      async mark(before, _limit, now) {
        if (protocol === 'one phase') return false;
        const idle = (blob?: BlobDocument) => blob?.markedAt === null && blob.touchedAt < before;
        const found = await unreferred(idle);
        await gate();
        for (const [hash, blob] of found) {
          if (idle(blobs.get(hash))) blobs.set(hash, { ...blob, markedAt: now });
        }
        return false;
      },
      async removeMarked(markedBefore) {
        const old = ({ markedAt }: BlobDocument) => markedAt !== null && markedAt < markedBefore;
        const found = await unreferred(protocol === 'one phase' ? () => true : old);
        await gate();
        for (const [hash, { markedAt }] of found) {
          if (protocol !== 'two phases' || blobs.get(hash)?.markedAt === markedAt) blobs.delete(hash);
        }
        return false;
      },
    },
    files: {
      async insert({ head }: FileRecord, bytes: VersionBytes) {
        if (protocol === 'unmarks too late') await refer(head.sha256);
        await unmark(head.sha256, bytes, head.createdAt);
        if (protocol !== 'unmarks too late') await refer(head.sha256);
        return true;
      },
    },
  };
}
