import type { Config } from '../config/config.js';

const MIB = 1024 * 1024;
const MS_PER_MIB = 1_000;
const MAX_MS = 15_000;

/** Time for a client to return a file of up to this many bytes, ms; it grows with the size [RELAY-23]. */
export function fileReadMs({ fileReadMs: leastMs }: Pick<Config, 'fileReadMs'>, maxBytes: number): number {
  return Math.min(MAX_MS, leastMs + Math.round((maxBytes / MIB) * MS_PER_MIB));
}
