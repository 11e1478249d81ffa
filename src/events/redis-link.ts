import { Logger } from '@nestjs/common';
import { createClient } from '@redis/client';

/** Ping interval, ms, and the number of pings that may stay unanswered. */
const PING_MS = 1_000;
const MAX_SILENT_ROUNDS = 3;
/** A connection without traffic for this long is replaced, ms. */
const DEAD_MS = 10_000;
const CONNECT_MS = 5_000;
/** Longest pause between two attempts to connect, ms. */
const MAX_RETRY_MS = 1_000;
/** How long the last messages of a stopping node may take, ms. */
const CLOSE_MS = 500;
/** Unsent bytes that may queue; further messages are dropped. */
const MAX_PENDING_BYTES = 8 * 1024 * 1024;
const MAX_PENDING_COMMANDS = 10_000;
/** Channels per command. */
const CHANNELS_AT_ONCE = 500;
const FIRST_SHARDED_VERSION = 7;

type Client = ReturnType<typeof connectionTo>;

/** Callbacks of a link's owner. */
export interface LinkEvents {
  /** A message on a channel that was joined. */
  message: (text: string, channel: string) => void;
  /** The channels to join on a new connection. */
  channels: () => string[];
  /** Messages arrive from now on; earlier ones may have been missed. */
  up: () => void;
}

/**
 * One Redis connection that reconnects when it breaks. Nothing is queued while Redis is away. The log records the loss
 * and the recovery once each, without the URL, which may hold a password.
 */
export class RedisLink {
  private readonly logger = new Logger('Bus');
  private readonly client: Client;
  private readonly joined = new Set<string>();
  private readonly watch: NodeJS.Timeout;
  private isSharded = false;
  /** The connection has joined its channels. */
  private isReady = false;
  private isUp = false;
  private isAway = false;
  private isClosed = false;
  private pendingBytes = 0;
  /** Whether a ping is pending, and for how many rounds; elapsed time alone would also count a busy process. */
  private isPinged = false;
  private silentRounds = 0;

  constructor(
    url: string,
    private readonly events: LinkEvents,
  ) {
    this.client = connectionTo(url);
    this.client.on('error', (error: unknown) => this.down(reasonOf(error)));
    this.client.on('ready', () => void this.begin());
    this.watch = setInterval(() => this.ping(), PING_MS).unref();
    // The client retries until it is closed; each failure is an `error` event.
    this.client.connect().catch(() => undefined);
  }

  /** Whether Redis accepts messages and delivers them to other nodes. */
  get up(): boolean {
    return this.isUp;
  }

  publish(channel: string, text: string): void {
    const bytes = Buffer.byteLength(text);
    if (!this.isUp || this.pendingBytes + bytes > MAX_PENDING_BYTES) return;
    this.pendingBytes += bytes;
    const sent = this.isSharded ? this.client.sPublish(channel, text) : this.client.publish(channel, text);
    sent.catch(() => undefined).finally(() => (this.pendingBytes -= bytes));
  }

  join(channels: readonly string[]): void {
    if (this.client.isReady) void this.joinAll(channels);
  }

  leave(channels: readonly string[]): void {
    const left = channels.filter((channel) => this.joined.delete(channel));
    if (left.length === 0) return;
    const done = this.isSharded
      ? this.client.sUnsubscribe(left, this.events.message)
      : this.client.unsubscribe(left, this.events.message);
    done.catch(() => undefined);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    clearInterval(this.watch);
    const late = new Promise((resolve) => setTimeout(resolve, CLOSE_MS).unref());
    if (this.isUp) await Promise.race([this.client.close().catch(() => undefined), late]);
    this.isUp = false;
    this.client.destroy();
  }

  /** Runs once per connection, after the client has rejoined its channels. */
  private async begin(): Promise<void> {
    try {
      this.isReady = this.isPinged = false;
      await this.chooseKind();
      await this.joinAll(this.events.channels());
      this.isReady = true;
      this.recovered();
    } catch (error) {
      this.down(reasonOf(error));
    }
  }

  /** Uses sharded channels if Redis has them: a plain connection reaches all of a cluster only unsharded. */
  private async chooseKind(): Promise<void> {
    const { version, mode } = await this.client.sendCommand<{ version?: string; mode?: string }>(['HELLO']);
    const isSharded = Number.parseInt(String(version)) >= FIRST_SHARDED_VERSION && mode !== 'cluster';
    if (isSharded !== this.isSharded) this.joined.clear();
    this.isSharded = isSharded;
  }

  private async joinAll(channels: readonly string[]): Promise<void> {
    const toJoin = channels.filter((channel) => !this.joined.has(channel));
    for (const channel of toJoin) this.joined.add(channel);
    const { message } = this.events;
    for (let from = 0; from < toJoin.length; from += CHANNELS_AT_ONCE) {
      const some = toJoin.slice(from, from + CHANNELS_AT_ONCE);
      try {
        await (this.isSharded ? this.client.sSubscribe(some, message) : this.client.subscribe(some, message));
      } catch {
        // The connection broke; the next one joins them.
        for (const channel of some) this.joined.delete(channel);
      }
    }
  }

  private ping(): void {
    if (!this.client.isReady || !this.isReady) return;
    if (this.isPinged) {
      this.silentRounds += 1;
      if (this.silentRounds >= MAX_SILENT_ROUNDS) this.down('it does not answer');
      return;
    }
    this.isPinged = true;
    this.silentRounds = 0;
    this.client.ping().then(
      () => {
        this.isPinged = false;
        this.recovered();
      },
      // The connection broke.
      () => undefined,
    );
  }

  private recovered(): void {
    if (this.isUp || this.isClosed) return;
    this.isUp = true;
    if (this.isAway) this.logger.log('Redis is back.');
    this.isAway = false;
    this.events.up();
  }

  private down(reason: string): void {
    this.isUp = false;
    if (this.isAway || this.isClosed) return;
    this.isAway = true;
    const meanwhile =
      'Until it is back this server looks in the store for what others do, which takes longer.';
    this.logger.warn(`Redis is away (${reason}). ${meanwhile}`);
  }
}

function connectionTo(url: string) {
  return createClient({
    url,
    // RESP3 allows subscribing and publishing on one connection.
    RESP: 3,
    socket: {
      connectTimeout: CONNECT_MS,
      socketTimeout: DEAD_MS,
      reconnectStrategy: (retries) => Math.min(MAX_RETRY_MS, 50 * 2 ** Math.min(retries, 10)),
    },
    disableOfflineQueue: true,
    commandsQueueMaxLength: MAX_PENDING_COMMANDS,
    maintNotifications: 'disabled',
    disableClientInfo: true,
  });
}

/** The code of an error, or the first word of Redis's message, such as WRONGPASS. */
function reasonOf(error: unknown): string {
  const { code, message = '', name = 'unknown' } = error as Partial<NodeJS.ErrnoException>;
  return code ?? /^[A-Z]{3,20}\b/.exec(message)?.[0] ?? name;
}
