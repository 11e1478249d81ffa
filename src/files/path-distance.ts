import { editDistance } from '../config/edit-distance.js';

/** How many parts at the end of a docPath are those of another; 0 where their names differ. */
export function commonTail(docPath: string, parts: readonly string[]): number {
  const own = docPath.split('/');
  let common = 0;
  while (common < Math.min(own.length, parts.length) && own.at(-1 - common) === parts.at(-1 - common)) {
    common += 1;
  }
  return common;
}

/** The entry whose name differs least from the one that is wanted, the first of those; null where none is near. */
export function closestName<T extends { docPath: string }>(wanted: string, entries: readonly T[]): T | null {
  let best: T | null = null;
  // A quarter of a short name, three letters of a long one: beyond that it is another name.
  let limit = Math.min(3, Math.ceil(wanted.length / 4));
  for (const entry of entries) {
    const distance = editDistance(wanted, entry.docPath.slice(entry.docPath.lastIndexOf('/') + 1), limit);
    if (distance === null) continue;
    best = entry;
    limit = distance - 1;
    if (limit < 0) break;
  }
  return best;
}
