import type { ChangedFile, SessionOpened } from '@patchbay/protocol';
import type { ClientName, ConnectionOrder } from '../storage/records/clients.js';
import type { Membership, TurnRef } from '../storage/ports/turn.js';

/** What one node tells the others. */
export type BusMessage =
  /** A turn has a new version; `node` committed it. */
  | ({ type: 'turn_changed'; node: string; version: number } & TurnRef & Membership)
  /** The node has committed audit events in the workspace. */
  | { type: 'trail_grown'; node: string; workspaceId: string }
  | ({ type: 'member_removed' } & Membership)
  /** A client has connected to any node; of two connections of one client the newer one stays. */
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
  /** A login has ended: its access tokens are no longer valid. */
  | { type: 'login_ended'; loginId: string }
  /** The store has a new file request for the node `to`. */
  | { type: 'file_wanted'; to: string }
  /** The store has the answer to a file request of the node `to`. */
  | { type: 'file_read'; to: string; requestId: string };
