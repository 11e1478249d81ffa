import type { Json } from '@patchbay/protocol';

/** The beginning of every list and every large object in a value. */
export interface Sample {
  value: Json;
  /** JSON Pointers of incomplete lists and objects. */
  cutAt: ReadonlySet<string>;
}

/** List items in a sample: the first width that makes it small enough. */
const WIDTHS = [1_000, 100, 30, 10, 3, 1];
/** More properties than any schema names. */
const MAX_PROPERTIES = 200;

/** Whether a value contains more than `most` values; stops counting there. */
export function holdsMoreThan(value: Json, most: number): boolean {
  return countUpTo(value, most + 1) > most;
}

/** A sample with at most `most` values; null if even one item per list is too much. */
export function sampleOf(value: Json, most: number): Sample | null {
  for (const width of WIDTHS) {
    const cutAt = new Set<string>();
    const copy = new Sampling(width, most, cutAt).copy(value, '');
    if (copy !== undefined) return { value: copy, cutAt };
  }
  return null;
}

class Sampling {
  constructor(
    private readonly width: number,
    private room: number,
    private readonly cutAt: Set<string>,
  ) {}

  /** Undefined as soon as the sample is too large. */
  copy(value: Json, path: string): Json | undefined {
    if ((this.room -= 1) < 0) return undefined;
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) {
      if (value.length > this.width) this.cutAt.add(path);
      return this.all(value.slice(0, this.width).entries(), path)?.map(([, item]) => item);
    }
    const names = Object.keys(value);
    if (names.length > MAX_PROPERTIES) this.cutAt.add(path);
    const properties = names.slice(0, MAX_PROPERTIES).map((name): [string, Json] => [name, value[name]!]);
    const copies = this.all(properties, path);
    return copies && Object.fromEntries(copies);
  }

  private all<Key extends string | number>(
    entries: Iterable<[Key, Json]>,
    path: string,
  ): [Key, Json][] | undefined {
    const copies: [Key, Json][] = [];
    for (const [key, item] of entries) {
      const copy = this.copy(item, `${path}/${pointerPart(key)}`);
      if (copy === undefined) return undefined;
      copies.push([key, copy]);
    }
    return copies;
  }
}

function pointerPart(key: string | number): string {
  return typeof key === 'number' ? String(key) : key.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Counts the values in a value, itself included, up to `most`. */
function countUpTo(value: Json, most: number): number {
  let count = 1;
  if (typeof value !== 'object' || value === null) return count;
  for (const item of Array.isArray(value) ? value : Object.values(value)) {
    if (count >= most) break;
    count += countUpTo(item, most - count);
  }
  return count;
}
