/** Receives the progress of a push or pull. */
export interface Progress {
  /** A step starts with this total. */
  begin(what: string, files: number, bytes: number): void;
  advance(files: number, bytes: number): void;
  end(): void;
}

export const silent: Progress = { begin: () => undefined, advance: () => undefined, end: () => undefined };
