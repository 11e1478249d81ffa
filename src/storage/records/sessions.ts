import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import type { ActiveFile } from '@patchbay/protocol';
import { UsageCounts } from '../ports/usage.store.js';
import type { RecordDeclaration } from './declaration.js';
import { RecordStore, untilDone } from './record-store.js';

export interface SessionRecord {
  id: string;
  workspaceId: string;
  conversationId: string;
  userId: string;
  /** The only client that receives its calls; null: any of the user's. */
  clientId: string | null;
  /** The tools that it offers: names, and words for groups; null: every tool. */
  tools: string[] | null;
  createdAt: number;
}

/** The Active Files that a session has announced. Stored apart, since the list may be long. */
export interface ActiveFilesRecord {
  workspaceId: string;
  sessionId: string;
  /** The session's user. */
  userId: string;
  files: readonly ActiveFile[];
  /** Number of lists so far, from 1. */
  revision: number;
}

export const SESSIONS: RecordDeclaration<SessionRecord, 'workspaceId' | 'id'> = {
  name: 'sessions',
  fields: {
    ...{ workspaceId: 'text', id: 'text', conversationId: 'text', userId: 'text' },
    ...{ clientId: 'text?', tools: 'json?', createdAt: 'integer' },
  },
  key: ['workspaceId', 'id'],
  indexes: [['workspaceId', 'userId', 'createdAt', 'id']],
  remember: ['workspaceId', 'id'],
};

export const ACTIVE_FILES: RecordDeclaration<ActiveFilesRecord, 'workspaceId' | 'sessionId'> = {
  name: 'active_files',
  fields: { workspaceId: 'text', sessionId: 'text', userId: 'text', revision: 'integer', files: 'json' },
  key: ['workspaceId', 'sessionId'],
};

/** Agent conversations, written only by members. Writes are idempotent. Usage is counted after the write. */
@Injectable()
export class SessionStore {
  static readonly declarations = [SESSIONS, ACTIVE_FILES];

  constructor(
    private readonly records: RecordStore,
    private readonly usage: UsageCounts,
  ) {}

  async insert(session: SessionRecord): Promise<void> {
    if ((await this.records.insert(SESSIONS, session, session)) !== 'inserted') return;
    const { workspaceId, userId, tools } = session;
    await this.usage.count(workspaceId, userId, { sessions: 1, bytes: tools === null ? 0 : bytesOf(tools) });
  }

  byId(workspaceId: string, id: string): Promise<SessionRecord | null> {
    return this.records.byKey(SESSIONS, { workspaceId, id });
  }

  /** Up to `limit` sessions of the user, newest first, older than the session `beforeId` if given. */
  async ofUser(
    workspaceId: string,
    userId: string,
    beforeId: string | null,
    limit: number,
  ): Promise<SessionRecord[]> {
    const after = beforeId === null ? undefined : await this.byId(workspaceId, beforeId);
    if (after === null) return [];
    const newestFirst = { by: ['createdAt', 'id'], descending: true } as const;
    return this.records.find(SESSIONS, { workspaceId, userId }, { ...newestFirst, after, limit });
  }

  /** Replaces the session's list; of two concurrent calls either may win. Does nothing for an unknown session. */
  async replaceActiveFiles(
    workspaceId: string,
    sessionId: string,
    files: readonly ActiveFile[],
  ): Promise<void> {
    const userId = (await this.byId(workspaceId, sessionId))?.userId;
    if (userId === undefined) return;
    const key = { workspaceId, sessionId };
    // Bytes of the list that this call has replaced, in case the response of an earlier attempt was lost.
    let tried: number | undefined;
    const replaced = await untilDone(async () => {
      const last = await this.records.byKey(ACTIVE_FILES, key);
      if (last !== null && isDeepStrictEqual(last.files, files)) return tried ?? bytesOf(files);
      tried = last === null ? 0 : bytesOf(last.files);
      if (last === null) {
        const first = { ...key, userId, files, revision: 1 };
        const inserted = await this.records.insert(ACTIVE_FILES, first, first);
        return inserted === 'inserted' ? tried : undefined;
      }
      const { revision } = last;
      const set = { files, revision: revision + 1 };
      const by = { workspaceId, userId };
      const isStored = (await this.records.update(ACTIVE_FILES, { ...key, revision }, set, by)) === 1;
      return isStored ? tried : undefined;
    });
    await this.usage.count(workspaceId, userId, { bytes: bytesOf(files) - replaced });
  }

  /** The session's Active Files, in the given order. */
  async activeFilesOf(workspaceId: string, sessionId: string): Promise<ActiveFile[]> {
    const found = await this.records.byKey(ACTIVE_FILES, { workspaceId, sessionId });
    return found === null ? [] : [...found.files];
  }
}

function bytesOf(list: readonly unknown[]): number {
  return Buffer.byteLength(JSON.stringify(list));
}
