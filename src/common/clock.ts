/** The one source of time, so that tests can hold it. */
export abstract class Clock {
  /** Epoch milliseconds. */
  abstract now(): number;
}

export class SystemClock extends Clock {
  now(): number {
    return Date.now();
  }
}

/** Epoch milliseconds as ISO 8601 UTC, the form of every time on the wire. */
export function isoTime(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

/** The same for a time that may not be set. */
export function isoTimeOrNull(epochMs: number | null): string | null {
  return epochMs === null ? null : isoTime(epochMs);
}
