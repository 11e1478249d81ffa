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
  /** The one client that its calls go to; null: any of the user's. */
  clientId: string | null;
  /** What it offers: names of tools, and words that stand for several; null: every tool. */
  tools: string[] | null;
  createdAt: number;
}

/** The Active Files of a session that has announced some. The list may be long, so a session is read without it. */
export interface ActiveFilesRecord {
  workspaceId: string;
  sessionId: string;
  /** Of the session. */
  userId: string;
  files: readonly ActiveFile[];
  /** Counts the lists, from 1. */
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
};

export const ACTIVE_FILES: RecordDeclaration<ActiveFilesRecord, 'workspaceId' | 'sessionId'> = {
  name: 'active_files',
  fields: { workspaceId: 'text', sessionId: 'text', userId: 'text', revision: 'integer', files: 'json' },
  key: ['workspaceId', 'sessionId'],
};

/** Agent conversations, which only a member writes. A write that is sent again changes nothing more. Their usage is counted after the write. */
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

  /** Up to `limit` sessions of the user, newest first, older than the session `beforeId` where it is given. */
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

  /**
   * Puts this list of Active Files in the place of the session's last one; of two at once either may be the last. Nothing is
   * stored where there is no such session.
   */
  async replaceActiveFiles(
    workspaceId: string,
    sessionId: string,
    files: readonly ActiveFile[],
  ): Promise<void> {
    const userId = (await this.byId(workspaceId, sessionId))?.userId;
    if (userId === undefined) return;
    const key = { workspaceId, sessionId };
    // Bytes of the list that a write of this call has replaced; the answer to that write may have been lost.
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

  /** The session's Active Files, in the order in which they were given. */
  async activeFilesOf(workspaceId: string, sessionId: string): Promise<ActiveFile[]> {
    const found = await this.records.byKey(ACTIVE_FILES, { workspaceId, sessionId });
    return found === null ? [] : [...found.files];
  }
}

function bytesOf(list: readonly unknown[]): number {
  return Buffer.byteLength(JSON.stringify(list));
}
