import type { FileRead } from '@patchbay/protocol';
import { FairQueue } from '../limits/fair-queue.js';
import type { ConnectedClient } from './connected-clients.js';
import type { FileReading } from './file-reading.js';

/** Files that one client is asked for in parallel [RELAY-23]. */
const AT_ONCE = 4;
/** Reads that may wait for one client; further ones get no answer. */
const MAX_WAITING = 256;

/** File reads of one client; equal parallel reads share one request. */
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
    const slot = await this.queue.enter('').catch(() => null);
    if (slot === null) return { kind: 'silent' };
    try {
      const answer = await this.client.channel.readFile(read);
      if (answer === null) return { kind: 'silent' };
      return answer.ok ? { kind: 'given', ...answer } : { kind: 'refused', ...answer.error };
    } finally {
      slot.release();
    }
  }
}
