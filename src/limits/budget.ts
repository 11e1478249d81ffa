import { isStranger } from '../common/http/client-address.js';

/** What one owner may hold of what the others have left: so ten who hold all they can leave a quarter of it. */
const PART = 8;
/** All strangers together, as one owner, under this name, which no user has. */
const STRANGERS = 'strangers';

/** The most that one owner may hold of so many bytes, where others hold some of them. */
export function fairShare(bytes: number, ofOthers: number): number {
  return Math.max(0, bytes - ofOthers) / PART;
}

/** Who holds too much, where something more does not fit: the owner, or all others together. */
export type Excess = 'owner' | 'all';

/**
 * Bytes that owners share, users by their ids and strangers by their addresses. An owner may hold an eighth of what the
 * others leave, so that no number of them can ever hold all: however many have taken what they can, the next one finds an
 * eighth of what is left. Strangers are one owner together, and share its part among them by the same rule, since addresses
 * cost nothing. What is small fits for as long as its owner has less than half of all, and a single item always fits where
 * nothing else is held.
 */
export class Budget {
  private readonly byOwner = new Map<string, number>();
  private total = 0;

  /**
   * @param bytes of all owners together
   * @param smallBytes what has no more than this is small
   */
  constructor(
    private readonly bytes: number,
    private readonly smallBytes = 0,
  ) {}

  /** Bytes that everybody holds. */
  get held(): number {
    return this.total;
  }

  /** Bytes that an owner holds. */
  heldBy(owner: string): number {
    return this.byOwner.get(owner) ?? 0;
  }

  /** Whose bytes keep so many more out, null where they fit. @param before what the same item holds already */
  excess(owner: string, more: number, before = 0): Excess | null {
    const own = this.heldBy(owner) + more;
    if (before + more <= this.smallBytes && own <= this.bytes / 2) return null;
    if (this.total === before) return null;
    const excess = this.excessOf(isStranger(owner) ? STRANGERS : owner, more, this.bytes, this.total);
    if (excess !== null || !isStranger(owner)) return excess;
    const strangers = this.heldBy(STRANGERS);
    return this.excessOf(owner, more, fairShare(this.bytes, this.total - strangers), strangers);
  }

  /** An owner holds so many bytes more, or with a minus fewer. */
  change(owner: string, bytes: number): void {
    this.total += bytes;
    this.add(owner, bytes);
    if (isStranger(owner)) this.add(STRANGERS, bytes);
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
