import { isUnauthenticated, UNAUTHENTICATED } from '../common/http/client-address.js';
import type { Reservation } from './reservation.js';

/** One owner may hold this part of what the others leave: ten who hold all they can leave a quarter of it. */
const PART = 8;

/** The most that one owner may hold of so many bytes, where others hold some of them. */
export function fairShare(bytes: number, ofOthers: number): number {
  return Math.max(0, bytes - ofOthers) / PART;
}

/** Who holds too much, where something more does not fit: the owner, or all others together. */
export type Excess = 'owner' | 'all';

export interface BudgetLimits {
  /** Of all owners together, shared by the rule below. */
  bytes?: number;
  /** A reservation of no more than this is small. */
  smallBytes?: number;
  /** Of one owner. */
  ofOwner?: number;
}

/**
 * Bytes that owners hold. An owner may hold an eighth of what the others leave, so that no number of them can hold all:
 * the next one finds an eighth of what is left. Senders without a token are one owner together, and share its part among
 * them by the same rule, since addresses cost nothing. What is small fits for as long as its owner has less than half of
 * all. A single reservation always fits where nothing else is held.
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

  /** A reservation of no bytes yet. */
  open(owner: string): ByteReservation {
    return new ByteReservation(this, owner);
  }

  /** Whose bytes keep so many more out, null where they fit. @param before what the same reservation holds already */
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

  /** An owner holds so many bytes more, or with a minus fewer. */
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

/** Bytes that one thing holds of a budget until it is released. */
export class ByteReservation implements Reservation {
  private held = 0;

  constructor(
    private readonly budget: Budget,
    private readonly owner: string,
  ) {}

  get bytes(): number {
    return this.held;
  }

  /** Holds so many bytes from now on. Where more than before do not fit nothing changes, and it says whose are in the way. */
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
