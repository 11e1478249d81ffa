/** Told how far a push or pull is. */
export interface Progress {
  /** `what` is under way, so much of it. */
  begin(what: string, files: number, bytes: number): void;
  /** So much more is done. */
  advance(files: number, bytes: number): void;
  end(): void;
}

/** For work that nobody watches. */
export const silent: Progress = { begin: () => undefined, advance: () => undefined, end: () => undefined };
