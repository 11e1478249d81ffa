import { isUnauthenticated, UNAUTHENTICATED } from '../common/http/client-address.js';
import type { Reservation } from './reservation.js';

/** An owner may hold this part of the unused budget: ten owners at their maximum leave a quarter of it. */
const DIVISOR = 8;

/** The bytes that one owner may hold, given those that others hold. */
export function fairShare(bytes: number, ofOthers: number): number {
  return Math.max(0, bytes - ofOthers) / DIVISOR;
}

/** Whose bytes prevent a reservation: the owner's own, or those of all others. */
export type Excess = 'owner' | 'all';

export interface BudgetLimits {
  /** Budget of all owners together. */
  bytes?: number;
  /** A reservation up to this size is small. */
  smallBytes?: number;
  /** Limit of one owner. */
  ofOwner?: number;
}

/**
 * Counts the bytes that owners hold. An owner may hold an eighth of the unused budget, so that the next owner always
 * finds some. Senders without a token count as one owner and divide its part by the same rule, since addresses are
 * cheap. Small reservations fit while their owner has less than half of the budget. A single reservation always fits
 * while nothing else is held.
 */
export class Budget {
  private readonly bytes: number;
  private readonly smallBytes: number;
  private readonly ofOwner: number;
  private readonly byOwner = new Map<string, number>();
  private total = 0;

  constructor({ bytes = Infinity, smallBytes = 0, ofOwner = Infinity }: BudgetLimits) {
    this.bytes = bytes;
    this.smallBytes = smallBytes;
    this.ofOwner = ofOwner;
  }

  /** Bytes that all owners hold. */
  get held(): number {
    return this.total;
  }

  heldBy(owner: string): number {
    return this.byOwner.get(owner) ?? 0;
  }

  /** Opens an empty reservation. */
  open(owner: string): ByteReservation {
    return new ByteReservation(this, owner);
  }

  /**
   * Whose bytes prevent so many more; null if they fit.
   * @param before bytes that the same reservation holds already
   */
  excess(owner: string, more: number, before = 0): Excess | null {
    const own = this.heldBy(owner) + more;
    if (own > this.ofOwner && own > before + more) return 'owner';
    if (before + more <= this.smallBytes && own <= this.bytes / 2) return null;
    if (this.total === before) return null;
    const isShared = isUnauthenticated(owner);
    const excess = this.excessOf(isShared ? UNAUTHENTICATED : owner, more, this.bytes, this.total);
    if (excess !== null || !isShared) return excess;
    const shared = this.heldBy(UNAUTHENTICATED);
    return this.excessOf(owner, more, fairShare(this.bytes, this.total - shared), shared);
  }

  /** Adds bytes to those that an owner holds; a negative number removes some. */
  change(owner: string, bytes: number): void {
    this.total += bytes;
    this.add(owner, bytes);
    if (isUnauthenticated(owner)) this.add(UNAUTHENTICATED, bytes);
  }

  private excessOf(owner: string, more: number, bytes: number, held: number): Excess | null {
    const own = this.heldBy(owner);
    if (own + more <= fairShare(bytes, held - own)) return null;
    return own + more > fairShare(bytes, 0) ? 'owner' : 'all';
  }

  private add(owner: string, bytes: number): void {
    const held = this.heldBy(owner) + bytes;
    if (held === 0) this.byOwner.delete(owner);
    else this.byOwner.set(owner, held);
  }
}

/** Bytes of a budget that are held until they are released. */
export class ByteReservation implements Reservation {
  private held = 0;

  constructor(
    private readonly budget: Budget,
    private readonly owner: string,
  ) {}

  get bytes(): number {
    return this.held;
  }

  /** Changes the number of held bytes. If more do not fit, nothing changes and it returns whose bytes prevent it. */
  resize(bytes: number): Excess | null {
    const more = bytes - this.held;
    const excess = more > 0 ? this.budget.excess(this.owner, more, this.held) : null;
    if (excess !== null) return excess;
    this.budget.change(this.owner, more);
    this.held = bytes;
    return null;
  }

  release(): void {
    this.resize(0);
  }
}
