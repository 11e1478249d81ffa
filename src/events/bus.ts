import type { ChangedFile, FileReadAnswer, SessionOpened } from '@patchbay/protocol';
import type { Observable } from 'rxjs';
import type { ClientName, ConnectionOrder } from '../storage/records/clients.js';
import type { Membership, TurnRef } from '../storage/ports/turn.js';

/** What one node lets the others know. */
export type BusMessage =
  /** A turn has a new version; `node` is who committed it. */
  | ({ type: 'turn_changed'; node: string; version: number } & TurnRef & Membership)
  /** The node has added to the trail of a workspace. */
  | { type: 'trail_grown'; node: string; workspaceId: string }
  | ({ type: 'member_removed' } & Membership)
  /** A client has connected, wherever; of two connections of one client the newer one stays. */
  | ({ type: 'client_connected' } & ClientName & ConnectionOrder)
  /** A session was made, bound to the client `clientId` where that is not null. */
  | ({ type: 'session_opened'; clientId: string | null } & SessionOpened & Membership)
  /**
   * Heads of Cloud files below the folder `root` have changed, a hundred at most. `by`: whose client has changed it
   * (`<userId>/<clientId>`); null: none, or for `more`, which stands for those that are not named, several.
   */
  | {
      type: 'files_changed';
      workspaceId: string;
      root: string;
      files: (ChangedFile & { by: string | null })[];
      more: { by: string | null } | null;
    }
  /** A login has ended: its access tokens are good no longer. */
  | { type: 'login_ended'; loginId: string }
  /** A file is wanted of the clients of a user, such as `file:read` gives it. Nodes that have none say nothing. */
  | ({ type: 'file_wanted'; requestId: string } & FileWish)
  /** What a node's clients gave; first of all that they are being asked. The bytes are in the workspace's BlobStore. */
  | { type: 'file_read'; requestId: string; node: string; outcome: FileOutcome };

/** Which file is wanted, and of which of the user's clients. */
export interface FileWish extends Membership {
  docPath: string;
  maxBytes: number;
  /** The session's bound client. */
  boundClientId: string | null;
  /** The client that the session used last. */
  lastClientId: string | null;
  /** sha256 in the session's list of Active Files; null: the file is not in it, and only who has its root is asked. */
  activeSha256: string | null;
}

/** What came of asking a node's clients for a file. */
export type FileOutcome =
  | { kind: 'asking' }
  | ({ kind: 'given' } & Omit<FileReadAnswer, 'content'>)
  | { kind: 'refused'; code: string; message: string }
  | { kind: 'silent' };

/**
 * Tells every node, this one included, what has just happened. A message is a hint: it may be late, be lost or come
 * twice, and what it tells is in the store before it is sent. Who listens looks there, and now and then without a hint.
 */
export abstract class Bus {
  /** No other node listens. */
  abstract readonly isAlone: boolean;
  abstract readonly messages$: Observable<BusMessage>;
  abstract publish(message: BusMessage): void;
}
