import { closeSync, openSync } from 'node:fs';

/**
 * Creates a file for its owner alone, where it is missing. SQLite gives its mode to the log too. An existing file must
 * not be opened, not even to look: closing any descriptor of it drops the locks that this process holds on it.
 */
export function createPrivateFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
