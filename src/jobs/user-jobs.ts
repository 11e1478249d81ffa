import { setImmediate } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { DomainError } from '../common/domain-error.js';
import { Config } from '../config/config.js';
import { INLINE_BYTES } from './job.js';

const RETRY_AFTER_SECONDS = 1;

/**
 * Searches go on for seconds: what is done with single texts, or said of a session, does not wait for them. Large bodies
 * stand in a line of their own, since what they ask for may stand in one of the others.
 */
export type Line = 'texts' | 'searches' | 'contexts' | 'bodies';

/**
 * One line for each user before work that reads much, and then has it worked on: of a user one at a time is at it, and
 * what waits holds nothing in memory yet. So a hundred calls at once cost others no more than one.
 */
@Injectable()
export class UserLines {
  private readonly lines = new Map<string, (() => void)[]>();

  constructor(private readonly config: Config) {}

  /**
   * Does the work when all that the user asked for earlier is done. Work that is part of it must not stand in line again.
   * @throws DomainError RATE_LIMITED where too much of the user's waits already.
   */
  async stand<T>(userId: string, work: () => Promise<T>, line: Line = 'texts'): Promise<T> {
    const leave = await this.enter(userId, line);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  /** Resolves when the user's turn has come, with what ends it: to be called once. The same refusals. */
  async enter(userId: string, line: Line): Promise<() => void> {
    const key = `${line} of ${userId}`;
    await this.place(key);
    return () => this.next(key);
  }

  /** The same for work on so many bytes, which stands in line only where they are many. */
  standWith<T>(bytes: number, userId: string, work: () => Promise<T>): Promise<T> {
    return bytes > INLINE_BYTES ? this.stand(userId, work) : work();
  }

  private async place(key: string): Promise<void> {
    const waiting = this.lines.get(key);
    if (waiting === undefined) {
      this.lines.set(key, []);
      return;
    }
    if (waiting.length >= this.config.maxUserWaitingJobs) {
      throw new DomainError('RATE_LIMITED', 'Too much of your work waits already; try again later', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    }
    await new Promise<void>((resolve) => waiting.push(resolve));
    // What was before may have ended in the same breath: others have their turn in between.
    await setImmediate();
  }

  private next(key: string): void {
    const next = this.lines.get(key)!.shift();
    if (next === undefined) this.lines.delete(key);
    else next();
  }
}
