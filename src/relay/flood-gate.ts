/** Small events that a client may send at once, and how many a second it may keep up. */
const BURST = 4_000;
const PER_SECOND = 1_000;
/** What a user may do over all clients, by what one may. */
const ALL_CLIENTS = 2;
const RESULT = 3;
/** What a call brings that is sent: its acknowledgement, two steps and its result. */
const CALL = 1 + 2 + RESULT;
/** What an event costs, by the small ones: those that write, or look at much that is stored. */
const COSTS: Readonly<Record<string, number>> = {
  'client:resume': 100,
  'files:put': 10,
  'session:active_files': 10,
  'folder:status': 10,
  'tool:result': RESULT,
};

/** Token buckets of a client and, above them, of its user: only what no working client does is a flood. */
export class FloodGate {
  private tokens: number;
  private at: number;

  /**
   * @param elapsed milliseconds that never jump
   * @param user the user's gate, of one of whose clients this is; null: it is the user's own
   */
  constructor(
    private readonly elapsed: () => number,
    private readonly user: FloodGate | null = null,
  ) {
    this.at = elapsed();
    this.tokens = this.most;
  }

  /** Counts a packet, whatever it holds; false where the client, or its user, floods. */
  pass(): boolean {
    return this.take(1);
  }

  /** Counts what an event costs beyond its packet. */
  passEvent(name: string): boolean {
    return this.take((Object.hasOwn(COSTS, name) ? COSTS[name]! : 1) - 1);
  }

  /** A call was sent: what a client says to it is no flood, however fast it answers. */
  sent(): void {
    this.give(CALL);
    this.user?.give(CALL);
  }

  private give(tokens: number): void {
    this.tokens = Math.min(this.most, this.tokens + tokens);
  }

  private take(cost: number): boolean {
    const now = this.elapsed();
    this.tokens = Math.min(this.most, this.tokens + ((now - this.at) / 1000) * PER_SECOND * this.part);
    this.at = now;
    if (this.tokens < cost || this.user?.take(cost) === false) return false;
    this.tokens -= cost;
    return true;
  }

  private get part(): number {
    return this.user === null ? ALL_CLIENTS : 1;
  }

  private get most(): number {
    return BURST * this.part;
  }
}
