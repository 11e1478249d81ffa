import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Prefix of a file whose existence asks for permission to read. */
const REQUEST_PREFIX = 'patchbay.reader-';
/** How often the holder looks for readers, ms. */
const LOOK_MS = 500;
/** An older request, ms, is from a reader that was killed. */
const STALE_MS = 6 * 3_600_000;
/** A request this far in the future predates a clock correction: its reader is gone. */
const AHEAD_MS = 60_000;

/** Reads a data directory that another process holds: it grants access within a second, until which reads retry. */
export function asReader<T>(directory: string, read: () => T): T {
  const request = join(directory, `${REQUEST_PREFIX}${process.pid}`);
  writeFileSync(request, '', { mode: 0o600 });
  try {
    return read();
  } finally {
    rmSync(request, { force: true });
  }
}

/** Tells the holder of a data directory whether others want to read it. */
export class ReaderWatch {
  private readonly timer: NodeJS.Timeout;

  /** @param onLook is called twice a second. */
  constructor(directory: string, onLook: (isWanted: boolean) => void) {
    this.timer = setInterval(() => onLook(isWanted(directory)), LOOK_MS).unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }
}

function isWanted(directory: string): boolean {
  return namesIn(directory).some((name) => {
    if (!name.startsWith(REQUEST_PREFIX)) return false;
    const request = statSync(join(directory, name), { throwIfNoEntry: false });
    if (request === undefined) return false;
    const age = Date.now() - request.mtimeMs;
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
