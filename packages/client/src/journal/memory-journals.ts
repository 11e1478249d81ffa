import { ClientLockedError } from './client-locked-error.js';
import type { JournalEntry, JournalLine } from './journal-lines.js';
import type { ClientIdentity, JournalLock, Journals, JournalStorage } from './journal-storage.js';

/** Number of lines per entry that triggers a snapshot. */
const LINES_PER_ENTRY = 8;

/**
 * Journals that end with the process: enough if the effects of a call end with it too. Clients that use the same
 * `MemoryJournals` one after the other continue where the last one stopped.
 *
 * ```ts
 * const relay = new RelayClient({ url, workspaceId, clientId, token, tools, journal: new MemoryJournals() });
 * ```
 */
export class MemoryJournals implements Journals {
  private readonly stored = new Map<string, JournalLine[]>();
  private readonly locked = new Set<string>();

  lock(client: ClientIdentity): Promise<JournalLock> {
    const key = keyOf(client);
    if (this.locked.has(key)) {
      return Promise.reject(new ClientLockedError(`A client "${client.clientId}" is connected already.`));
    }
    this.locked.add(key);
    return Promise.resolve({ release: async () => void this.locked.delete(key) });
  }

  async open(client: ClientIdentity, snapshot: () => JournalEntry[]): Promise<JournalStorage> {
    const key = keyOf(client);
    const lines = this.stored.get(key) ?? [];
    this.stored.set(key, lines);
    return new MemoryStorage(lines, snapshot);
  }
}

class MemoryStorage implements JournalStorage {
  private isClosed = false;

  constructor(
    private readonly lines: JournalLine[],
    private readonly snapshot: () => JournalEntry[],
  ) {}

  async read(): Promise<JournalLine[]> {
    return [...this.lines];
  }

  async append(line: JournalLine, _durable: boolean, onWritten: (bytes: number) => void): Promise<void> {
    if (this.isClosed) throw new Error('The journal is closed.');
    this.lines.push(structuredClone(line));
    onWritten(JSON.stringify(line).length);
    const entries = this.snapshot();
    if (this.lines.length > LINES_PER_ENTRY * (entries.length + 1)) await this.compact();
  }

  async compact(): Promise<void> {
    this.lines.splice(
      0,
      Infinity,
      ...this.snapshot().map((entry): JournalLine => ({ kind: 'entry', entry })),
    );
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }
}

const keyOf = ({ url, workspaceId, clientId }: ClientIdentity) =>
  JSON.stringify([url, workspaceId, clientId]);
