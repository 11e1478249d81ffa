import { type Clock, isoTime } from '../common/clock.js';
import { longTimeout } from '../common/timers.js';
import { ignore, type RelaySocket } from './relay-socket.js';

/** How long before expiry a client is warned, ms [RELAY-11]; for shorter tokens, at half of their life. */
const WARNING_MS = 60_000;

/** Warns a client that its token is about to expire, and ends the connection when it has. */
export class TokenWatch {
  /** Of the warning, then of the end. */
  private timer: NodeJS.Timeout | undefined;
  private expiresAt: number | null = null;

  constructor(
    private readonly socket: RelaySocket,
    private readonly clock: Clock,
  ) {}

  /** Starts or restarts with a token valid until `expiresAt` (epoch ms); warns once per expiry. */
  start(expiresAt: number): void {
    if (expiresAt === this.expiresAt) return;
    this.expiresAt = expiresAt;
    this.stop();
    const left = Math.max(expiresAt - this.clock.now(), 0);
    const warnMs = left > WARNING_MS ? left - WARNING_MS : left / 2;
    this.timer = longTimeout(() => {
      this.socket.emit('auth:expiring', { expiresAt: isoTime(expiresAt) }, ignore);
      this.timer = longTimeout(() => this.socket.disconnect(true), left - warnMs);
    }, warnMs);
  }

  stop(): void {
    clearTimeout(this.timer);
  }
}
