import { Injectable } from '@nestjs/common';
import type { RecordDeclaration } from './declaration.js';
import { RecordStore, untilDone } from './record-store.js';

/** A connected folder, by its name, which is unique in the workspace. */
export interface RootRecord {
  workspaceId: string;
  docPath: string;
  name: string;
  rootId: string;
  /** Who connected it first, and when. */
  userId: string;
  claimedAt: number;
}

export const ROOTS: RecordDeclaration<RootRecord, 'workspaceId' | 'docPath'> = {
  name: 'roots',
  fields: {
    ...{ workspaceId: 'text', docPath: 'text', name: 'text', rootId: 'text' },
    ...{ userId: 'text', claimedAt: 'integer' },
  },
  key: ['workspaceId', 'docPath'],
  indexes: [['workspaceId', 'docPath']],
  remember: ['workspaceId'],
};

/** The folders of a workspace, by docPath. */
@Injectable()
export class RootStore {
  static readonly declarations = [ROOTS];

  constructor(private readonly records: RecordStore) {}

  /** Registers the folder unless its docPath is taken. Returns the registered folder. Idempotent. */
  claim(root: RootRecord): Promise<RootRecord> {
    return untilDone(async () => {
      if ((await this.records.insert(ROOTS, root)) === 'inserted') return root;
      // Null if it was just removed.
      return (await this.records.byKey(ROOTS, root)) ?? undefined;
    });
  }

  /** Removes exactly this claim; a later claim of its docPath stays. */
  remove({ workspaceId, docPath, rootId, claimedAt }: RootRecord): Promise<void> {
    return this.records.remove(ROOTS, { workspaceId, docPath, rootId, claimedAt });
  }

  /** By docPath. */
  ofWorkspace(workspaceId: string): Promise<RootRecord[]> {
    return this.records.find(ROOTS, { workspaceId }, { by: ['docPath'] });
  }
}
