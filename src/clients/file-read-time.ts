import type { Config } from '../config/config.js';

const MIB = 1024 * 1024;
const MS_PER_MIB = 1_000;
const MAX_MS = 15_000;

/** How long a client may take to give a file of up to so many bytes, in ms: large ones take their time [RELAY-23]. */
export function fileReadMs({ fileReadMs: leastMs }: Pick<Config, 'fileReadMs'>, maxBytes: number): number {
  return Math.min(MAX_MS, leastMs + Math.round((maxBytes / MIB) * MS_PER_MIB));
}
