import { isOutOfRoom } from '@patchbay/client';
import type { CommittedFile, RefusedFile } from '@patchbay/protocol';
import { isExecutable, KNOWS_EXECUTABLE } from './file-stamp.js';
import type { ReadFile } from './read-file.js';
import type { ScannedFile } from './scan-folder.js';

/** A file that has changed, with what it is based on. */
export interface Pending {
  file: ScannedFile;
  read: ReadFile;
  base: string | null;
  /** Whether the base was executable. */
  wasExecutable: boolean;
}

export function isForWantOfRoom(answer: CommittedFile | RefusedFile): answer is RefusedFile {
  return 'error' in answer && isOutOfRoom(answer.error);
}

/** What is to be said of a file's mode: nothing where it is as it was, or where this system knows of none. */
export function modeOf({ read, base, wasExecutable }: Pending): boolean | undefined {
  const mode = isExecutable(read.stamp);
  return KNOWS_EXECUTABLE && (base === null || mode !== wasExecutable) ? mode : undefined;
}
