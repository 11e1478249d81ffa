import { SenderLines } from './round-robin.js';
import { loopTurn } from '../common/loop-turn.js';

/** How many go on in one turn of the event loop. */
const AT_ONCE = 32;

/**
 * Where many wait for one moment, they go on a few in each turn of the event loop, user by user: what each does then is
 * little, but all of it at once would hold up everybody. A few go on at once.
 */
export class WakeLine {
  private readonly waiting = new SenderLines<() => void>();
  /** The turn of the event loop that somebody has gone on in, and how many may still. */
  private turn = -1;
  private left = 0;

  /** Calls `wake` when it is the turn of this user. */
  enter(userId: string, wake: () => void): void {
    const turn = loopTurn();
    if (turn !== this.turn && this.waiting.size === 0) [this.turn, this.left] = [turn, AT_ONCE];
    if (this.left > 0) {
      this.left -= 1;
      return wake();
    }
    if (this.waiting.size === 0) setImmediate(() => this.next());
    this.waiting.push(userId, wake);
  }

  private next(): void {
    for (let gone = 0; gone < AT_ONCE && this.waiting.size > 0; gone += 1) this.waiting.shift()!();
    if (this.waiting.size > 0) setImmediate(() => this.next());
  }
}
