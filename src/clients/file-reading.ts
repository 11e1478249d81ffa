import type { FileReadAnswer } from '@patchbay/protocol';
import type { Membership } from '../storage/ports/turn.js';

/** Which file is wanted, and of which of the user's clients. */
export interface FileWish extends Membership {
  docPath: string;
  maxBytes: number;
  /** The session's bound client. */
  boundClientId: string | null;
  /** The client that the session used last. */
  lastClientId: string | null;
  /** sha256 in the session's list of Active Files; null: the file is not in it, and only who has its root is asked. */
  activeSha256: string | null;
}

/** Why a client does not give a file, in its own words. */
export interface FileRefusal {
  code: string;
  message: string;
}

/** What came of asking the user's clients for a file. */
export type FileReading =
  | ({ kind: 'given' } & FileReadAnswer)
  | ({ kind: 'refused' } & FileRefusal)
  /** Asked, and not answered. */
  | { kind: 'silent' }
  /** Nobody is connected who could be asked. */
  | { kind: 'nobody' };

/** Asks until one gives what is wanted: the text that the session knows as open, or any where it knows of none. */
export async function firstGiven(
  { activeSha256 }: FileWish,
  sources: readonly (() => Promise<FileReading>)[],
): Promise<FileReading> {
  let best: FileReading = { kind: 'nobody' };
  for (const ask of sources) {
    const reading = await ask();
    if (reading.kind === 'given') {
      const isWanted =
        activeSha256 === null || reading.source === 'active' || reading.sha256 === activeSha256;
      if (isWanted) return reading;
    }
    if (RANK[reading.kind] > RANK[best.kind]) best = reading;
  }
  return best;
}

/** Of several answers the one that says most counts, the first of its kind. */
const RANK: Record<FileReading['kind'], number> = { nobody: 0, silent: 1, refused: 2, given: 3 };
