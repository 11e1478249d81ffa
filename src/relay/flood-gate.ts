/** Small events per client: the burst, and the sustained rate per second. */
const BURST = 4_000;
const PER_SECOND = 1_000;
/** Limit of a user, as a multiple of a client's. */
const ALL_CLIENTS = 2;
const RESULT = 3;
/** Cost of a delivered call: acknowledgement, two steps, result. */
const CALL = 1 + 2 + RESULT;
/** Cost of expensive events in units of small ones: writes, and large reads. */
const COSTS: Readonly<Record<string, number>> = {
  'client:resume': 100,
  'tools:changed': 100,
  'files:put': 10,
  'session:active_files': 10,
  'folder:status': 10,
  'tool:result': RESULT,
};

/** Token buckets per client and per user; no working client reaches the limit. */
export class FloodGate {
  private tokens: number;
  private at: number;

  /** @param elapsed monotonic time, ms @param user the gate of the client's user; null if this is the user's gate */
  constructor(
    private readonly elapsed: () => number,
    private readonly user: FloodGate | null = null,
  ) {
    this.at = elapsed();
    this.tokens = this.most;
  }

  /** Counts a packet of any kind; false if the client or its user floods. */
  pass(): boolean {
    return this.take(1);
  }

  /** Counts the cost of an event beyond its packet. */
  passEvent(name: string): boolean {
    return this.take((Object.hasOwn(COSTS, name) ? COSTS[name]! : 1) - 1);
  }

  /** Credits the answers to a delivered call, however fast they come. */
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
