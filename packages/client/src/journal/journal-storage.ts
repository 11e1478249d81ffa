import type { JournalEntry, JournalLine } from './journal-lines.js';

/**
 * Identifies a journal: one client of one workspace on one server. A server that never saw a call answers `forget`
 * for it, which would lose its result.
 */
export interface ClientIdentity {
  url: string;
  workspaceId: string;
  clientId: string;
}

/** Keeps a second client from using the same journal. */
export interface JournalLock {
  /** Idempotent. */
  release(): Promise<void>;
}

/** Stores the lines of one journal: append-only, replaced by a snapshot when they have grown. */
export interface JournalStorage {
  /** The stored lines, in order, without lines torn by a crash. Called once, before anything else. */
  read(): Promise<JournalLine[]>;
  /**
   * Adds a line. `onWritten` is called with its size in bytes as soon as it is written, in the order of the calls.
   * `durable` waits until the line survives a power failure; without it, it survives the end of the process. A failed
   * append leaves nothing.
   */
  append(line: JournalLine, durable: boolean, onWritten: (bytes: number) => void): Promise<void>;
  /** Replaces all lines by the snapshot. */
  compact(): Promise<void>;
  /** Waits for pending appends. */
  close(): Promise<void>;
}

/**
 * Where clients keep their journals: on disk (`DiskJournals`), in memory (`MemoryJournals`), in a browser
 * (`IndexedDbJournals`), or in an editor's own storage.
 */
export interface Journals {
  /** @throws ClientLockedError if another client holds it. A lock ends with its process. */
  lock(client: ClientIdentity): Promise<JournalLock>;
  /** Opens or creates the journal of a client that holds the lock. `snapshot` returns what `compact` must keep. */
  open(client: ClientIdentity, snapshot: () => JournalEntry[]): Promise<JournalStorage>;
}
