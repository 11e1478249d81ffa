const MIB = 1024 * 1024;
const BASE_MS = 5_000;
const MS_PER_MIB = 1_000;
const MAX_MS = 15_000;

/** How long a client may take to give a file of up to so many bytes, in ms: large ones take their time [RELAY-23]. */
export function fileReadMs(maxBytes: number): number {
  return Math.min(MAX_MS, BASE_MS + Math.round((maxBytes / MIB) * MS_PER_MIB));
}
