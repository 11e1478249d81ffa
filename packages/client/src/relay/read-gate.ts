import type { Ack, FileRead, FileReadAnswer } from '@patchbay/protocol';

/** A server asks for four files at a time: four are read while others wait. */
const AT_ONCE = 4;
const WAITING = 16;
const BUSY: Ack<FileReadAnswer> = {
  ok: false,
  error: {
    code: 'RATE_LIMITED',
    message: 'The client is asked for too many files at once.',
    retryAfterSeconds: 1,
  },
};

type ReadFile = (read: FileRead) => Promise<Ack<FileReadAnswer>>;

/** Limits concurrent reads for a server that may ask for any number of files at once; refuses what exceeds the queue. */
export function readGate(readFile: ReadFile): ReadFile {
  const waiting: (() => void)[] = [];
  let reading = 0;
  return async (read) => {
    if (reading >= AT_ONCE) {
      if (waiting.length >= WAITING) return BUSY;
      // The one that ends passes its slot on.
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else reading += 1;
    try {
      return await readFile(read);
    } finally {
      const next = waiting.shift();
      if (next) next();
      else reading -= 1;
    }
  };
}
