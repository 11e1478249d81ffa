import type { ChangedFile, SessionOpened } from '@patchbay/protocol';
import type { ClientName, ConnectionOrder } from '../storage/records/clients.js';
import type { Membership, TurnRef } from '../storage/ports/turn.js';

/** Messages between nodes. */
export type BusMessage =
  /** A turn has a new version; `node` committed it. */
  | ({ type: 'turn_changed'; node: string; version: number } & TurnRef & Membership)
  /** The node has committed audit events in the workspace. */
  | { type: 'trail_grown'; node: string; workspaceId: string }
  | ({ type: 'member_removed' } & Membership)
  /** A client has connected to any node; of two connections of one client the newer one stays. */
  | ({ type: 'client_connected' } & ClientName & ConnectionOrder)
  /** A session was created, bound to the client `clientId` unless that is null. */
  | ({ type: 'session_opened'; clientId: string | null } & SessionOpened & Membership)
  /**
   * Heads of up to a hundred Cloud files below the folder `root` have changed. `by`: the client that changed them
   * (`<userId>/<clientId>`); null: no client, or with `more` (unnamed files) several.
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
