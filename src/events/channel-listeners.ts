import { Logger } from '@nestjs/common';
import type { Listener } from './bus.js';
import type { BusMessage } from './messages.js';
import type { Channel } from './channels.js';

/** The listeners of this node, by channel. */
export class ChannelListeners {
  private readonly logger = new Logger('Bus');
  private readonly byChannel = new Map<Channel, Set<{ listener: Listener }>>();

  has(channel: Channel): boolean {
    return this.byChannel.has(channel);
  }

  channels(): Channel[] {
    return [...this.byChannel.keys()];
  }

  /** The same listener may be added several times; each returned function removes one addition. */
  add(channel: Channel, listener: Listener): () => void {
    const entry = { listener };
    const listeners = this.byChannel.get(channel) ?? new Set();
    this.byChannel.set(channel, listeners.add(entry));
    return () => {
      listeners.delete(entry);
      if (listeners.size === 0 && this.byChannel.get(channel) === listeners) this.byChannel.delete(channel);
    };
  }

  /** A listener that throws does not affect the others. */
  call(channel: Channel, message: BusMessage): void {
    for (const { listener } of [...(this.byChannel.get(channel) ?? [])]) {
      try {
        listener(message);
      } catch (error) {
        this.logger.error(error);
      }
    }
  }
}
