import { Subject } from 'rxjs';
import type { Channel } from './channels.js';
import type { BusMessage } from './messages.js';

export type Listener = (message: BusMessage) => void;

/**
 * How far messages reach. `alone`: there is no other node. `linked`: other nodes receive them. `unlinked`: other nodes
 * may exist but receive nothing, so each polls the store often.
 */
export type Reach = 'alone' | 'linked' | 'unlinked';

/**
 * Publishes messages on channels; a node subscribes for the users and workspaces it serves. A message is a hint: it may
 * be late, lost or duplicated. Its content is in the store before it is published, and listeners also poll the store.
 * Local listeners run before `publish` returns.
 */
export abstract class Bus {
  abstract readonly reach: Reach;
  /** Messages may have been missed until now, for example during a reconnect: read the store. */
  readonly caughtUp$ = new Subject<void>();

  /** Publishes on the channel of the message. Never throws, never waits. */
  abstract publish(message: BusMessage): void;

  /** Calls the listener for each message on the channel until the returned function is called. */
  abstract subscribe(channel: Channel, listener: Listener): () => void;
}
