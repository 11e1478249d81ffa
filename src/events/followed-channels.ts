import type { Bus, Listener } from './bus.js';
import type { Channel } from './channels.js';

/** Reference-counted channels of one listener, each subscribed once. */
export class FollowedChannels {
  private readonly followed = new Map<Channel, { times: number; stop: () => void }>();

  constructor(
    private readonly bus: Bus,
    private readonly listener: Listener,
  ) {}

  follow(channel: Channel): void {
    const known = this.followed.get(channel);
    if (known) known.times += 1;
    else this.followed.set(channel, { times: 1, stop: this.bus.subscribe(channel, this.listener) });
  }

  /** Undoes one `follow`. */
  unfollow(channel: Channel): void {
    const known = this.followed.get(channel);
    if (known === undefined) return;
    known.times -= 1;
    if (known.times > 0) return;
    this.followed.delete(channel);
    known.stop();
  }
}
