import { Subject } from 'rxjs';
import type { Channel } from './channels.js';
import type { BusMessage } from './messages.js';

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
