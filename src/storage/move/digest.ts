import { createHash } from 'node:crypto';

const WORD = 1n << 256n;

/** How many records there are and what they say, whatever their order: equal for equal sets of them. */
export class Digest {
  count = 0;
  private sum = 0n;

  add(record: object): void {
    const hash = createHash('sha256').update(spelt(record, 2)).digest('hex');
    this.sum = (this.sum + BigInt(`0x${hash}`)) % WORD;
    this.count += 1;
  }

  equals(other: Digest): boolean {
    return this.count === other.count && this.sum === other.sum;
  }
}

/** JSON with the names of a record, and of its parts, in order. What lies deeper is a value, whose names have their own. */
function spelt(value: unknown, depth: number): string {
  if (depth === 0 || typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => spelt(item, depth)).join()}]`;
  const fields = Object.entries(value as Record<string, unknown>)
    .filter(([, field]) => field !== undefined && typeof field !== 'function')
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${spelt(field, depth - 1)}`).join()}}`;
}
