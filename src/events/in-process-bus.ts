import { Bus, type Listener, type Reach } from './bus.js';
import type { BusMessage } from './messages.js';
import { ChannelListeners } from './channel-listeners.js';
import { type Channel, channelOf } from './channels.js';

/** The bus of a single node. */
export class InProcessBus extends Bus {
  private readonly listeners = new ChannelListeners();

  constructor(override readonly reach: Exclude<Reach, 'linked'> = 'alone') {
    super();
  }

  publish(message: BusMessage): void {
    this.listeners.call(channelOf(message), message);
  }

  subscribe(channel: Channel, listener: Listener): () => void {
    return this.listeners.add(channel, listener);
  }
}
