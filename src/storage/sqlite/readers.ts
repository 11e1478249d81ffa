import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Prefix of a file whose existence asks for permission to read. */
const WISH = 'patchbay.reader-';
/** How often the holder looks for readers, ms. */
const LOOK_MS = 500;
/** An older request, ms, is from a reader that was killed. */
const STALE_MS = 6 * 3_600_000;
/** A request this far in the future predates a clock correction: its reader is gone. */
const AHEAD_MS = 60_000;

/**
 * Reads a data directory that another process holds. The holder grants access within a second; the reader retries
 * until then.
 */
export function asReader<T>(directory: string, read: () => T): T {
  const wish = join(directory, `${WISH}${process.pid}`);
  writeFileSync(wish, '', { mode: 0o600 });
  try {
    return read();
  } finally {
    rmSync(wish, { force: true });
  }
}

/** Tells the holder of a data directory whether others want to read it. */
export class ReaderWatch {
  private readonly timer: NodeJS.Timeout;

  /** @param look is called twice a second. */
  constructor(directory: string, look: (isWanted: boolean) => void) {
    this.timer = setInterval(() => look(isWanted(directory)), LOOK_MS).unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }
}

function isWanted(directory: string): boolean {
  return namesIn(directory).some((name) => {
    if (!name.startsWith(WISH)) return false;
    const wish = statSync(join(directory, name), { throwIfNoEntry: false });
    if (wish === undefined) return false;
    const age = Date.now() - wish.mtimeMs;
    return age > -AHEAD_MS && age < STALE_MS;
  });
}

/** An unlistable directory has no readers; the next write reports the error. */
function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
