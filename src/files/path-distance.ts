import { editDistance } from '../config/edit-distance.js';

/** Number of common parts at the end of two docPaths; 0 if their names differ. */
export function commonTail(docPath: string, parts: readonly string[]): number {
  const own = docPath.split('/');
  let common = 0;
  while (common < Math.min(own.length, parts.length) && own.at(-1 - common) === parts.at(-1 - common)) {
    common += 1;
  }
  return common;
}

/** The entry with the smallest name distance, the first of equals; null if none is near. */
export function closestName<T extends { docPath: string }>(wanted: string, entries: readonly T[]): T | null {
  let best: T | null = null;
  // A quarter of a short name, three letters of a long one.
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
