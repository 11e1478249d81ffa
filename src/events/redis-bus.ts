import { randomUUID } from 'node:crypto';
import type { OnApplicationShutdown, OnModuleDestroy } from '@nestjs/common';
import { Bus, type Listener, type Reach } from './bus.js';
import type { BusMessage } from './messages.js';
import { ChannelListeners } from './channel-listeners.js';
import { type Channel, channelOf } from './channels.js';
import { RedisLink } from './redis-link.js';

/** Prefix of each channel; its number changes with the message format. */
const PREFIX = 'patchbay:1:';
/** Longer messages are neither sent nor read. */
const MAX_MESSAGE_LENGTH = 1024 * 1024;
/** How long a channel without a listener stays joined, ms; a user's next turn reuses it. */
const LINGER_MS = 5_000;
const LEAVE_MS = 1_000;

interface Wrapped {
  /** Sender of the message, which has already called its own listeners. */
  from: string;
  message: BusMessage;
}

/** The bus between several nodes, over Redis pub/sub. */
export class RedisBus extends Bus implements OnModuleDestroy, OnApplicationShutdown {
  private readonly id = randomUUID();
  private readonly listeners = new ChannelListeners();
  private readonly link: RedisLink;
  /** Channels to join at the end of this turn of the event loop. */
  private toJoin = new Set<Channel>();
  /** Joined channels without a listener, with the time at which they are left (ms of the process). */
  private readonly idle = new Map<Channel, number>();
  private readonly leaving: NodeJS.Timeout;

  constructor(url: string) {
    super();
    this.link = new RedisLink(url, {
      message: (text, channel) => this.receive(text, channel),
      channels: () => this.listeners.channels().map(prefixed),
      up: () => this.caughtUp$.next(),
    });
    this.leaving = setInterval(() => this.leaveIdle(), LEAVE_MS).unref();
  }

  override get reach(): Reach {
    return this.link.up ? 'linked' : 'unlinked';
  }

  publish(message: BusMessage): void {
    const channel = channelOf(message);
    this.listeners.call(channel, message);
    if (!this.link.up) return;
    const wrapped: Wrapped = { from: this.id, message };
    const text = JSON.stringify(wrapped);
    if (text.length <= MAX_MESSAGE_LENGTH) this.link.publish(prefixed(channel), text);
  }

  subscribe(channel: Channel, listener: Listener): () => void {
    this.idle.delete(channel);
    if (!this.listeners.has(channel)) this.join(channel);
    const remove = this.listeners.add(channel, listener);
    return () => {
      remove();
      if (!this.listeners.has(channel)) this.idle.set(channel, performance.now() + LINGER_MS);
    };
  }

  onModuleDestroy(): void {
    clearInterval(this.leaving);
  }

  /** After all other hooks, which may still publish. */
  onApplicationShutdown(): Promise<void> {
    return this.link.close();
  }

  private join(channel: Channel): void {
    if (this.toJoin.size === 0) {
      queueMicrotask(() => {
        const channels = [...this.toJoin].map(prefixed);
        this.toJoin = new Set();
        this.link.join(channels);
      });
    }
    this.toJoin.add(channel);
  }

  private leaveIdle(): void {
    const now = performance.now();
    const expired = [...this.idle].filter(([, until]) => until <= now).map(([channel]) => channel);
    for (const channel of expired) this.idle.delete(channel);
    this.link.leave(expired.map(prefixed));
  }

  /** Ignores texts that are no message for this channel. */
  private receive(text: string, name: string): void {
    const wrapped = text.length <= MAX_MESSAGE_LENGTH ? parsed(text) : null;
    if (wrapped === null || wrapped.from === this.id) return;
    const channel = channelOf(wrapped.message);
    if (prefixed(channel) === name) this.listeners.call(channel, wrapped.message);
  }
}

function prefixed(channel: Channel): string {
  return PREFIX + channel;
}

function parsed(text: string): Wrapped | null {
  try {
    const wrapped = JSON.parse(text) as Partial<Wrapped> | null;
    return typeof wrapped?.message?.type === 'string' ? (wrapped as Wrapped) : null;
  } catch {
    return null;
  }
}
