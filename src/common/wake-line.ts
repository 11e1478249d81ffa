import { SenderLines } from './http/sender-lines.js';

/** How many go on in one turn of the event loop. */
const AT_ONCE = 8;

/**
 * Where many wait for one moment, they go on a few in each turn of the event loop, user by user: what each does then is
 * little, but all of it at once would hold up everybody. A few go on at once.
 */
export class WakeLine {
  private readonly waiting = new SenderLines<() => void>();
  /** How many may go on still in this turn; null: nobody has in this one. */
  private left: number | null = null;

  /** Calls `wake` when it is the turn of this user. */
  enter(userId: string, wake: () => void): void {
    this.left ??= this.begin();
    if (this.left > 0) {
      this.left -= 1;
      wake();
    } else this.waiting.push(userId, wake);
  }

  private begin(): number {
    setImmediate(() => this.next());
    return AT_ONCE;
  }

  private next(): void {
    this.left = this.waiting.size > 0 ? this.begin() : null;
    while (this.left !== null && this.left > 0 && this.waiting.size > 0) {
      this.left -= 1;
      this.waiting.shift()!();
    }
  }
}
