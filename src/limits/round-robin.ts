/** What waits, in a line for each sender: they take turns, so that one with much to do does not hold up another. */
export class SenderLines<T> {
  private readonly lines = new Map<string, T[]>();
  private count = 0;

  /** How much waits in all lines. */
  get size(): number {
    return this.count;
  }

  push(sender: string, item: T): void {
    const line = this.lines.get(sender);
    if (line) line.push(item);
    else this.lines.set(sender, [item]);
    this.count += 1;
  }

  /** The next one, of the sender whose turn it is; undefined where nothing waits. */
  shift(): T | undefined {
    const next = this.lines.entries().next().value;
    if (next === undefined) return undefined;
    const [sender, line] = next;
    const item = line.shift()!;
    this.count -= 1;
    // Behind all others, until it is its turn again.
    this.lines.delete(sender);
    if (line.length > 0) this.lines.set(sender, line);
    return item;
  }
}
