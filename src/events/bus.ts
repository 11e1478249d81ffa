import type { ChangedFile, SessionOpened } from '@patchbay/protocol';
import { Subject } from 'rxjs';
import type { ClientName, ConnectionOrder } from '../storage/records/clients.js';
import type { Membership, TurnRef } from '../storage/ports/turn.js';
import type { Channel } from './channels.js';

/** What one node tells the others. */
export type BusMessage =
  /** A turn has a new version; `node` committed it. */
  | ({ type: 'turn_changed'; node: string; version: number } & TurnRef & Membership)
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

export type Listener = (message: BusMessage) => void;

/**
 * How far messages reach. `alone`: there is no other node. `linked`: other nodes hear them. `unlinked`: there may be
 * other nodes, and they hear nothing, so each looks in the store often.
 */
export type Reach = 'alone' | 'linked' | 'unlinked';

/**
 * Publishes messages on channels, to which a node subscribes for the users and workspaces that it serves. A message is a
 * hint: it may be late, be lost or come twice, and what it tells is in the store before it is published. Listeners look
 * in the store, now and then also without a hint. Listeners on the publishing node are called before `publish` returns.
 */
export abstract class Bus {
  abstract readonly reach: Reach;
  /** Messages of other nodes may have been missed until now, as after a reconnect: look in the store. */
  readonly caughtUp$ = new Subject<void>();

  /** Publishes on the channel of the message. Never throws, never waits. */
  abstract publish(message: BusMessage): void;

  /** Calls the listener for each message on the channel until the function that it returns is called. */
  abstract subscribe(channel: Channel, listener: Listener): () => void;
}
