/** The only source of the time of day, so that tests can control it. */
export abstract class Clock {
  /** Epoch milliseconds. */
  abstract now(): number;
}

/** The only source of durations; it is monotonic. */
export abstract class Stopwatch {
  /** Milliseconds since an arbitrary origin. */
  abstract elapsed(): number;
}

export class SystemClock extends Clock implements Stopwatch {
  now(): number {
    return Date.now();
  }

  elapsed(): number {
    return performance.now();
  }
}

/** Formats epoch milliseconds as ISO 8601 UTC, the form of every time on the wire. */
export function isoTime(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

/** Same as `isoTime` for an optional time. */
export function isoTimeOrNull(epochMs: number | null): string | null {
  return epochMs === null ? null : isoTime(epochMs);
}
