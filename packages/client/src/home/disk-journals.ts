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
 * Journals on disk, below a directory such as PATCHBAY_HOME. After a crash, the next process finds the calls that the
 * previous one accepted.
 *
 * ```ts
 * const relay = new RelayClient({ url, workspaceId, clientId, token, tools, journal: new DiskJournals(home) });
 * ```
 */
export class DiskJournals implements Journals {
  /** @param home created with mode 0700 if it does not exist */
  constructor(private readonly home: string) {}

  /** A process killed by SIGKILL leaves no lock that blocks the next start. */
  lock(client: ClientIdentity): Promise<JournalLock> {
    return ClientLock.acquire(clientDirectory(this.home, client));
  }

  /** Requires the lock. */
  open(client: ClientIdentity, snapshot: () => JournalEntry[]): Promise<JournalStorage> {
    return DiskStorage.open(clientDirectory(this.home, client), snapshot);
  }
}

/**
 * The directory below PATCHBAY_HOME that holds one client's journal and lock. Server and workspace are part of the
 * name: a server that never saw a call answers `forget` for it, which would lose its result.
 */
export function clientDirectory(home: string, client: ClientIdentity): string {
  const key = sha256(JSON.stringify([client.url, client.workspaceId, client.clientId])).slice(0, 32);
  return join(home, 'clients', key);
}

/**
 * Opens the journal in `directory` (created with mode 0700). The caller must hold a ClientLock there, and closes the
 * journal.
 */
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

/** `<checksum> <json> `; the checksum tells a whole line from one torn by a crash. */
function encodeLine(line: JournalLine): string {
  const json = JSON.stringify(line);
  return `${sha256(json).slice(0, CHECKSUM_CHARS)} ${json}\n`;
}

/** The parsed line, or null if it is torn or damaged. */
function decodeLine(bytes: Buffer): JournalLine | null {
  const json = bytes.subarray(CHECKSUM_CHARS + 1);
  const checksum = bytes.toString('latin1', 0, CHECKSUM_CHARS);
  if (checksum !== sha256(json).slice(0, CHECKSUM_CHARS)) return null;
  return JSON.parse(json.toString('utf8')) as JournalLine;
}
