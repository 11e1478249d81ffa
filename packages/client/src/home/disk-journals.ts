import { join } from 'node:path';
import { sha256 } from '@patchbay/protocol/hash';
import { Journal, type JournalOptions } from '../journal/journal.js';
import type { JournalEntry, JournalLine } from '../journal/journal-lines.js';
import type { ClientIdentity, JournalLock, Journals, JournalStorage } from '../journal/journal-storage.js';
import { ClientLock } from './client-lock.js';
import { JournalFile } from './journal-file.js';

const FILE_NAME = 'journal.jsonl';
const CHECKSUM_CHARS = 16;

/**
 * Journals on a disk, below a directory of the user's own, such as PATCHBAY_HOME: a call that a client took is known to the
 * process that comes after it, whatever killed the first.
 *
 * ```ts
 * const relay = new RelayClient({ url, workspaceId, clientId, token, tools, journal: new DiskJournals(home) });
 * ```
 */
export class DiskJournals implements Journals {
  /** @param home made 0700 where it is not there */
  constructor(private readonly home: string) {}

  /** Survives kill -9 without leaving a lock that bars the next start. */
  lock(client: ClientIdentity): Promise<JournalLock> {
    return ClientLock.acquire(clientDirectory(this.home, client));
  }

  /** For a client that holds the lock. */
  open(client: ClientIdentity, snapshot: () => JournalEntry[]): Promise<JournalStorage> {
    return DiskStorage.open(clientDirectory(this.home, client), snapshot);
  }
}

/**
 * The directory below PATCHBAY_HOME that holds one client's journal and lock. It depends on the server and the workspace
 * too: a server that never saw a call would answer `forget` for it, and its result would be lost.
 */
export function clientDirectory(home: string, client: ClientIdentity): string {
  const key = sha256(JSON.stringify([client.url, client.workspaceId, client.clientId])).slice(0, 32);
  return join(home, 'clients', key);
}

/** The journal in `directory` (made 0700), for who holds a ClientLock there and closes it in the end. */
export function openDiskJournal(directory: string, options?: JournalOptions): Promise<Journal> {
  return Journal.over((snapshot) => DiskStorage.open(directory, snapshot), options);
}

class DiskStorage implements JournalStorage {
  private constructor(private readonly file: JournalFile) {}

  static async open(directory: string, snapshot: () => JournalEntry[]): Promise<JournalStorage> {
    const text = () => snapshot().map((entry) => encodeLine({ kind: 'entry', entry }));
    return new DiskStorage(await JournalFile.open(directory, FILE_NAME, () => text().join('')));
  }

  async read(): Promise<JournalLine[]> {
    return (await this.file.read()).map(decodeLine).filter((line) => line !== null);
  }

  append(line: JournalLine, durable: boolean, onWritten: (bytes: number) => void): Promise<void> {
    const text = encodeLine(line);
    return this.file.append(text, durable, () => onWritten(text.length));
  }

  compact(): Promise<void> {
    return this.file.compact();
  }

  close(): Promise<void> {
    return this.file.close();
  }
}

/** `<checksum> <json>\n`; the checksum tells a whole line from one that a crash tore. */
function encodeLine(line: JournalLine): string {
  const json = JSON.stringify(line);
  return `${sha256(json).slice(0, CHECKSUM_CHARS)} ${json}\n`;
}

/** The line, or null where it is torn or damaged. */
function decodeLine(bytes: Buffer): JournalLine | null {
  const json = bytes.subarray(CHECKSUM_CHARS + 1);
  const checksum = bytes.toString('latin1', 0, CHECKSUM_CHARS);
  if (checksum !== sha256(json).slice(0, CHECKSUM_CHARS)) return null;
  return JSON.parse(json.toString('utf8')) as JournalLine;
}
