import type { FileReadAnswer } from '@patchbay/protocol';
import type { FileOutcome, FileWish } from '../storage/records/file-requests.js';

/** Outcome of asking the user's clients for a file. */
export type FileReading =
  | ({ kind: 'given' } & FileReadAnswer)
  | Exclude<FileOutcome, { kind: 'given' }>
  /** No client was connected that could be asked. */
  | { kind: 'nobody' };

/** Of several readings the most informative one counts. */
const RANK: Record<FileReading['kind'], number> = { nobody: 0, silent: 1, refused: 2, given: 3 };

type Kind = Pick<FileReading, 'kind'>;
type Given = Pick<FileReadAnswer, 'source' | 'sha256'>;

/** Whether one reading is more informative than another; of equal ones the first is kept. */
function isBetter(reading: Kind, than: Kind): boolean {
  return RANK[reading.kind] > RANK[than.kind];
}

/** Whether no other client need be asked: the text matches the session's Active file, or the session has none. */
function isWanted({ activeSha256 }: FileWish, { source, sha256 }: Given): boolean {
  return activeSha256 === null || source === 'active' || sha256 === activeSha256;
}

/** Asks one source after another until one gives the wanted text; else returns the most informative reading. */
export async function firstGiven(
  query: FileWish,
  sources: readonly (() => Promise<FileReading>)[],
): Promise<FileReading> {
  let best: FileReading = { kind: 'nobody' };
  for (const ask of sources) {
    const reading = await ask();
    if (reading.kind === 'given' && isWanted(query, reading)) return reading;
    if (isBetter(reading, best)) best = reading;
  }
  return best;
}

/** Asks all in parallel: returns the first wanted reading, else the most informative one after all have ended. */
export function bestOf(query: FileWish, readings: readonly Promise<FileReading>[]): Promise<FileReading> {
  return new Promise((resolve, reject) => {
    const wanted = readings.map(async (asking) => {
      const reading = await asking;
      if (reading.kind === 'given' && isWanted(query, reading)) resolve(reading);
      return reading;
    });
    Promise.all(wanted).then((readings) => {
      const noClient: FileReading = { kind: 'nobody' };
      resolve(readings.reduce((best, reading) => (isBetter(reading, best) ? reading : best), noClient));
    }, reject);
  });
}
