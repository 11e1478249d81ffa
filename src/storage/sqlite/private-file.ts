import { closeSync, openSync } from 'node:fs';

/**
 * Creates a missing file with access for its owner only; SQLite copies the mode to the log. An existing file must not
 * even be opened: closing any descriptor of it drops this process's locks on it.
 */
export function createPrivateFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
