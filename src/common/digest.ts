import { createHash } from 'node:crypto';

/**
 * sha256 of a JSON value that does not depend on the order of keys: two requests that mean the same have the same digest.
 * Lone surrogates and every other string keep their JSON spelling, so that nothing collides.
 */
export function digestOf(value: unknown): string {
  const hash = createHash('sha256');
  feed(value, (text) => hash.update(text));
  return hash.digest('hex');
}

function feed(value: unknown, write: (text: string) => void): void {
  if (Array.isArray(value)) {
    write('[');
    for (const item of value) {
      feed(item, write);
      write(',');
    }
    write(']');
  } else if (typeof value === 'object' && value !== null) {
    const record = value as Record<string, unknown>;
    write('{');
    for (const key of Object.keys(record).sort()) {
      if (record[key] === undefined) continue;
      write(`${JSON.stringify(key)}:`);
      feed(record[key], write);
      write(',');
    }
    write('}');
  } else write(JSON.stringify(value) ?? 'null');
}
