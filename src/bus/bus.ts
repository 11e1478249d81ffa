import type { ChangedFile, SessionOpened } from '@patchbay/protocol';
import type { Observable } from 'rxjs';
import type { Membership, TurnRef } from '../storage/ports/turn.js';

/** What one node lets the others know. */
export type BusMessage =
  /** A turn has a new version; `node` is who committed it. */
  | ({ type: 'turn_changed'; node: string; version: number } & TurnRef & Membership)
  | ({ type: 'member_removed' } & Membership)
  /** A client has connected, wherever; of two connections of one client the newer one, by its id, stays. */
  | ({ type: 'client_connected'; clientId: string; connectionId: string } & Membership)
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
  | { type: 'login_ended'; loginId: string };

/**
 * Tells every node, this one included, what has just happened. A message is a hint: it may be late, be lost or come
 * twice, and what it tells is in the store before it is sent. Who listens looks there, and now and then without a hint.
 */
export abstract class Bus {
  abstract readonly messages$: Observable<BusMessage>;
  abstract publish(message: BusMessage): void;
}
