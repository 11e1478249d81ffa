/** Longest name that is compared by letters, UTF-16 units. */
const MAX_NAME = 255;

/**
 * The number of letters to insert, delete, change or swap with their neighbour to turn one name into the other; null
 * above `limit`, which also bounds the work.
 */
export function editDistance(a: string, b: string, limit: number): number | null {
  if (Math.abs(a.length - b.length) > limit || Math.max(a.length, b.length) > MAX_NAME) return null;
  let [before, above]: number[][] = [[], Array.from({ length: b.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= a.length; i += 1) {
    const row = new Array<number>(b.length + 1).fill(Infinity);
    row[0] = i;
    for (let j = Math.max(1, i - limit); j <= Math.min(b.length, i + limit); j += 1) {
      const same = a[i - 1] === b[j - 1];
      row[j] = Math.min(above![j]! + 1, row[j - 1]! + 1, above![j - 1]! + (same ? 0 : 1));
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isSwap) row[j] = Math.min(row[j]!, before![j - 2]! + 1);
    }
    [before, above] = [above!, row];
  }
  const distance = above![b.length]!;
  return distance <= limit ? distance : null;
}
