import { availableParallelism } from 'node:os';
import { Injectable } from '@nestjs/common';
import { Config } from '../config/config.js';
import { DomainError } from '../common/domain-error.js';
import { widestOf } from '../common/http/client-address.js';

/** Hashes at once: each takes a core, which others need too. */
const AT_ONCE = Math.max(1, Math.floor(availableParallelism() / 2));
/** Passwords that wait, in all and of one address: some seconds of work. */
const MAX_WAITING = 200;
const MAX_WAITING_OF_ADDRESS = 50;
const RETRY_AFTER_SECONDS = 5;

interface Waiting {
  start: () => void;
  refuse: (reason: DomainError) => void;
}

/**
 * Hashing a password costs a tenth of a second of a core and 32 MiB, on purpose. So few are hashed at once, the addresses
 * from which they come take turns, and what waits is bounded.
 */
@Injectable()
export class PasswordQueue {
  private running = 0;
  private count = 0;
  /** Work that waits, by address; the address that comes first is next. */
  private readonly waiting = new Map<string, Waiting[]>();

  constructor(private readonly config: Config) {}

  /** What the work gives, once it is its turn; RATE_LIMITED or UNAVAILABLE where too much is waiting. */
  async run<T>(address: string, work: () => Promise<T>): Promise<T> {
    if (this.running >= AT_ONCE) await this.turn(widestOf(address));
    else this.running += 1;
    try {
      return await work();
    } finally {
      this.next();
    }
  }

  private turn(address: string): Promise<void> {
    const line = this.waiting.get(address) ?? [];
    if (this.config.rateLimit !== null && line.length >= MAX_WAITING_OF_ADDRESS)
      throw new DomainError('RATE_LIMITED', 'Too many passwords of this address are being checked', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    if (this.count >= MAX_WAITING) this.makeRoom(line);
    this.count += 1;
    return new Promise((start, refuse) => {
      line.push({ start, refuse });
      this.waiting.set(address, line);
    });
  }

  /** Refuses the last of the longest line; throws where the newcomer's would be no shorter. */
  private makeRoom(newcomers: Waiting[]): void {
    let longest = newcomers;
    for (const line of this.waiting.values()) if (line.length > longest.length) longest = line;
    if (longest.length <= newcomers.length + 1) throw tooMany();
    longest.pop()!.refuse(tooMany());
    this.count -= 1;
  }

  /** Hands the place on: to the address that has waited the longest since it last had one. */
  private next(): void {
    const [first] = this.waiting;
    if (first === undefined) {
      this.running -= 1;
      return;
    }
    const [address, line] = first;
    const { start } = line.shift()!;
    this.count -= 1;
    this.waiting.delete(address);
    if (line.length > 0) this.waiting.set(address, line);
    start();
  }
}

function tooMany(): DomainError {
  return new DomainError('UNAVAILABLE', 'Too many passwords are being checked; try again', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
