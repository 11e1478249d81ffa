/** The one source of the time of day, so that tests can hold it. */
export abstract class Clock {
  /** Epoch milliseconds. */
  abstract now(): number;
}

/** The one source of how long things take: it never jumps, also when somebody sets the time. */
export abstract class Stopwatch {
  /** Milliseconds since some moment. */
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

/** Epoch milliseconds as ISO 8601 UTC, the form of every time on the wire. */
export function isoTime(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

/** The same for a time that may not be set. */
export function isoTimeOrNull(epochMs: number | null): string | null {
  return epochMs === null ? null : isoTime(epochMs);
}
