import type { FileRead } from '@patchbay/protocol';
import { FairQueue } from '../limits/fair-queue.js';
import type { ConnectedClient } from './connected-clients.js';
import type { FileReading } from './file-reading.js';

/** Most files that one client is asked for at once [RELAY-23]. */
const AT_ONCE = 4;
/** Most that wait for that; whoever comes then is told that nothing was heard. */
const MAX_WAITING = 256;

/** The files that one client is being asked for: each once at a time, however many want it. */
export class ClientReads {
  private readonly running = new Map<string, Promise<FileReading>>();
  private readonly queue = new FairQueue({ running: AT_ONCE, waiting: MAX_WAITING });

  constructor(private readonly client: ConnectedClient) {}

  read(read: FileRead): Promise<FileReading> {
    const key = `${read.maxBytes}/${read.docPath}`;
    const running = this.running.get(key) ?? this.start(read).finally(() => this.running.delete(key));
    this.running.set(key, running);
    return running;
  }

  private async start(read: FileRead): Promise<FileReading> {
    const place = await this.queue.enter('').catch(() => null);
    if (place === null) return { kind: 'silent' };
    try {
      const answer = await this.client.line.readFile(read);
      if (answer === null) return { kind: 'silent' };
      return answer.ok ? { kind: 'given', ...answer } : { kind: 'refused', ...answer.error };
    } finally {
      place.release();
    }
  }
}
