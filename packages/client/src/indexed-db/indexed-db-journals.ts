import { ClientLockedError } from '../journal/client-locked-error.js';
import type { JournalEntry, JournalLine } from '../journal/journal-lines.js';
import type { ClientIdentity, JournalLock, Journals, JournalStorage } from '../journal/journal-storage.js';

const STORE = 'lines';
const VERSION = 1;
/** Number of lines per entry that triggers a snapshot. */
const LINES_PER_ENTRY = 8;
const LEAST_LINES = 64;

/**
 * Journals of a page, in IndexedDB, locked by the Web Locks API against other tabs and workers of the origin. After a
 * reload, the page finds the calls that it accepted before. Needs a secure context (https or localhost).
 *
 * ```ts
 * const relay = new RelayClient({ url, workspaceId, clientId, token, tools, journal: new IndexedDbJournals() });
 * ```
 */
export class IndexedDbJournals implements Journals {
  /** @param prefix of the names of databases and locks; each client has one database */
  constructor(private readonly prefix = 'patchbay') {}

  /** The browser releases it when the page is gone. */
  lock(client: ClientIdentity): Promise<JournalLock> {
    return new Promise((resolve, reject) => {
      const held = navigator.locks.request(this.nameOf(client), { ifAvailable: true }, (lock) => {
        if (lock === null) {
          throw new ClientLockedError(`Another tab is connected as the client "${client.clientId}".`);
        }
        return new Promise<void>((giveBack) => {
          const release = async () => {
            giveBack();
            await held;
          };
          resolve({ release });
        });
      });
      held.catch(reject);
    });
  }

  /** Requires the lock. */
  async open(client: ClientIdentity, snapshot: () => JournalEntry[]): Promise<JournalStorage> {
    const request = indexedDB.open(this.nameOf(client), VERSION);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE, { autoIncrement: true });
    return new IndexedDbStorage(await resultOf(request), snapshot);
  }

  private nameOf({ url, workspaceId, clientId }: ClientIdentity): string {
    return `${this.prefix} ${JSON.stringify([url, workspaceId, clientId])}`;
  }
}

/** One database; the key of a line is its sequence number. */
class IndexedDbStorage implements JournalStorage {
  private lines = 0;
  private last: Promise<void> = Promise.resolve();

  constructor(
    private readonly database: IDBDatabase,
    private readonly snapshot: () => JournalEntry[],
  ) {}

  async read(): Promise<JournalLine[]> {
    const store = this.database.transaction(STORE).objectStore(STORE);
    const lines = (await resultOf(store.getAll())) as JournalLine[];
    this.lines = lines.length;
    return lines;
  }

  async append(line: JournalLine, durable: boolean, onWritten: (bytes: number) => void): Promise<void> {
    const bytes = new TextEncoder().encode(JSON.stringify(line)).length;
    await this.inTurn(async () => {
      await this.change(durable, (store) => store.add(line));
      this.lines += 1;
      onWritten(bytes);
    });
    if (this.lines > LEAST_LINES && this.lines > LINES_PER_ENTRY * this.snapshot().length)
      await this.compact();
  }

  compact(): Promise<void> {
    return this.inTurn(async () => {
      const entries = this.snapshot();
      await this.change(true, (store) => {
        store.clear();
        for (const entry of entries) store.add({ kind: 'entry', entry } satisfies JournalLine);
      });
      this.lines = entries.length;
    });
  }

  async close(): Promise<void> {
    await this.last;
    this.database.close();
  }

  /** A snapshot must not miss a pending line. */
  private inTurn(work: () => Promise<void>): Promise<void> {
    const mine = this.last.then(work);
    this.last = mine.catch(() => undefined);
    return mine;
  }

  /** One transaction: all or nothing. */
  private change(durable: boolean, work: (store: IDBObjectStore) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      const durability = durable ? 'strict' : 'relaxed';
      const transaction = this.database.transaction(STORE, 'readwrite', { durability });
      transaction.oncomplete = () => resolve();
      transaction.onabort = () => reject(transaction.error ?? new Error('The journal could not be written.'));
      work(transaction.objectStore(STORE));
    });
  }
}

function resultOf<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error('The journal could not be opened.'));
  });
}
