import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Beginning of the name of a file that says: I want to read. */
const WISH = 'patchbay.reader-';
/** So often the holder looks who wants to read. */
const LOOK_MS = 500;
/** Who has asked for so long, in ms, was killed before it could say that it is done. */
const STALE_MS = 6 * 3_600_000;
/** A wish from the future is one from before a clock was set back: nobody who made it is there. */
const AHEAD_MS = 60_000;

/**
 * Reads a data directory beside the process that holds it: that one is asked to let others in, and does so within a second,
 * the moment of which is the reader's to wait for.
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

  /** @param look is called twice a second with what there is to know. */
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

/** What can't be listed wants nothing; the next write says what is wrong with it. */
function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
