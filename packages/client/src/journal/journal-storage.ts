import type { JournalEntry, JournalLine } from './journal-lines.js';

/**
 * Whose journal it is. A server that never saw a call would answer `forget` for it, and its result would be lost: so a
 * journal belongs to one client of one workspace on one server.
 */
export interface ClientIdentity {
  /** Of the server. */
  url: string;
  workspaceId: string;
  clientId: string;
}

/** Keeps a second client from using the same journal. */
export interface JournalLock {
  /** Idempotent. */
  release(): Promise<void>;
}

/** Where the lines of one journal are: they only grow, and are replaced by a snapshot when they have. */
export interface JournalStorage {
  /** What is there, in its order; what a crash tore is left out. Called once, first. */
  read(): Promise<JournalLine[]>;
  /**
   * Adds a line; `onWritten` is called with its size in bytes, in the order of the calls, as soon as it is there. `durable`
   * waits until it survives a power failure; without it, it survives the end of the process. What fails is not there.
   */
  append(line: JournalLine, durable: boolean, onWritten: (bytes: number) => void): Promise<void>;
  /** Puts the snapshot in the place of all lines. */
  compact(): Promise<void>;
  /** Waits for what was appended. */
  close(): Promise<void>;
}

/**
 * Where clients keep their journals: on a disk (`DiskJournals`), in memory (`MemoryJournals`), in a browser
 * (`IndexedDbJournals`), or wherever an editor has room of its own.
 */
export interface Journals {
  /** @throws ClientLockedError where another client has it. A lock dies with its process. */
  lock(client: ClientIdentity): Promise<JournalLock>;
  /** Opens, or begins, the journal of a client that holds the lock. `snapshot` gives what `compact` is to keep. */
  open(client: ClientIdentity, snapshot: () => JournalEntry[]): Promise<JournalStorage>;
}
