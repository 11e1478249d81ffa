import { createHash } from 'node:crypto';

const WORD = 1n << 256n;

/**
 * The digest of an export's lines of one kind: the number of records, and the sum of the lines' sha256. It is
 * independent of the order of lines, since two backends read records in different orders.
 */
export class Digest {
  records = 0;
  private sum = 0n;

  /** @param isRecord false for a line with further bytes of the previous record */
  add(line: string | Uint8Array, isRecord: boolean): void {
    this.sum = (this.sum + BigInt(`0x${createHash('sha256').update(line).digest('hex')}`)) % WORD;
    if (isRecord) this.records += 1;
  }

  /** The form in the trailer. */
  get summary(): DigestSummary {
    return { records: this.records, sha256: this.sum.toString(16).padStart(64, '0') };
  }
}

export interface DigestSummary {
  records: number;
  sha256: string;
}

export function isSameDigest(a: DigestSummary, b: DigestSummary): boolean {
  return a.records === b.records && a.sha256 === b.sha256;
}
