import { Injectable } from '@nestjs/common';
import { PinoLogger } from '../common/pino-logger.js';
import { Clock, Stopwatch } from '../common/clock.js';
import { DomainError } from '../common/domain-error.js';
import { RecentReads } from '../common/recent-reads.js';
import { Bus } from '../events/bus.js';
import { EVERY_NODE } from '../events/channels.js';
import { LoginStore } from '../storage/records/logins.js';

/** Tracks in the store which logins are live. An access token is valid only while its login is. */
@Injectable()
export class LiveLogins {
  /** The user of a login, by login id; null if it has ended. */
  private readonly users: RecentReads<string | null>;

  constructor(
    private readonly store: LoginStore,
    private readonly clock: Clock,
    private readonly logger: PinoLogger,
    stopwatch: Stopwatch,
    bus: Bus,
  ) {
    logger.setContext(LiveLogins.name);
    this.users = new RecentReads(
      (loginId) => this.read(loginId),
      (loginId) => loginId,
      () => stopwatch.elapsed(),
    );
    bus.subscribe(EVERY_NODE, (message) => {
      if (message.type === 'login_ended') this.ended(message.loginId);
    });
  }

  /** Whether the login belongs to this user and is live. UNAVAILABLE if the store cannot tell. */
  async isLive(loginId: string, userId: string): Promise<boolean> {
    return (await this.users.get(loginId)) === userId;
  }

  /** Whether the cache already knows that the login has ended, without a read. */
  isKnownToHaveEnded(loginId: string): boolean {
    return this.users.known(loginId) === null;
  }

  /** The ended ones of these logins, read from the store now. */
  async endedAmong(loginIds: readonly string[]): Promise<Set<string>> {
    const liveIds = await this.store.liveAmong(loginIds, this.clock.now());
    return new Set(loginIds.filter((id) => !liveIds.has(id)));
  }

  /** Refuses the login from now on, after it was removed from the store. */
  ended(loginId: string): void {
    this.users.drop(loginId);
  }

  private async read(loginId: string): Promise<string | null> {
    try {
      const login = await this.store.byId(loginId);
      return login !== null && login.expiresAt > this.clock.now() ? login.userId : null;
    } catch (error) {
      if (error instanceof DomainError) throw error;
      this.logger.error({ err: error }, 'A login could not be read');
      throw new DomainError('UNAVAILABLE', 'The login of this access token could not be checked; try again');
    }
  }
}
