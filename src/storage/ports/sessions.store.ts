import type { ActiveFile } from '@patchbay/protocol';

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

/** Agent conversations. A write that is sent again changes nothing more. */
export abstract class SessionStore {
  abstract insert(session: SessionRecord): Promise<void>;
  abstract byId(workspaceId: string, id: string): Promise<SessionRecord | null>;
  /** Up to `limit` sessions of the user, newest first, older than the session `beforeId` where it is given. */
  abstract ofUser(
    workspaceId: string,
    userId: string,
    beforeId: string | null,
    limit: number,
  ): Promise<SessionRecord[]>;
  /**
   * Puts this list of Active Files in the place of the session's last one; of two at once either may be the last. Nothing is
   * stored where there is no such session.
   */
  abstract replaceActiveFiles(
    workspaceId: string,
    sessionId: string,
    files: readonly ActiveFile[],
  ): Promise<void>;
  /** The session's Active Files, in the order in which they were given. */
  abstract activeFilesOf(workspaceId: string, sessionId: string): Promise<ActiveFile[]>;
}
