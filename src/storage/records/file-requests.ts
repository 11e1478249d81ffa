import { Injectable } from '@nestjs/common';
import type { FileReadAnswer } from '@patchbay/protocol';
import type { Membership } from '../ports/turn.js';
import type { RecordDeclaration } from './declaration.js';
import { RecordStore } from './record-store.js';

/** The requested file, and which of the user's clients may provide it. */
export interface FileWish extends Membership {
  docPath: string;
  maxBytes: number;
  /** The session's bound client. */
  boundClientId: string | null;
  /** The client that the session used last. */
  lastClientId: string | null;
  /** sha256 in the session's list of Active Files; null if unlisted: then only a client with its root is asked. */
  activeSha256: string | null;
}

/** The answer of a node's clients, without the bytes. */
export type FileOutcome =
  | ({ kind: 'given' } & Omit<FileReadAnswer, 'content'>)
  /** The reason is the client's own text. */
  | { kind: 'refused'; code: string; message: string }
  /** Asked, without an answer. */
  | { kind: 'silent' };

/** A file that one node requests from the clients of another. */
export interface FileRequest {
  /** Used once. */
  id: string;
  /** The node that requests the file. */
  asker: string;
  /** The node whose clients are asked. */
  node: string;
  wish: FileWish;
  /** Nobody waits for the answer after this time, epoch ms. */
  expiresAt: number;
}

/** A request with its answer. */
export interface AnsweredRequest {
  id: string;
  outcome: FileOutcome;
  /** Number of bytes of the file. */
  bytes: number;
}

interface StoredRequest extends FileRequest {
  /** 1 until it is answered, then 0. */
  open: number;
  outcome: FileOutcome | null;
  bytes: number;
}

interface StoredPiece {
  requestId: string;
  /** Its position among the pieces of the file, padded to sort as text. */
  place: string;
  base64: string;
  expiresAt: number;
}

const FILE_REQUESTS: RecordDeclaration<StoredRequest, 'id'> = {
  name: 'file_requests',
  fields: {
    ...{ id: 'text', asker: 'text', node: 'text', wish: 'json', expiresAt: 'integer' },
    ...{ open: 'integer', outcome: 'json?', bytes: 'integer' },
  },
  key: ['id'],
  indexes: [['node', 'open', 'id'], ['asker', 'open', 'id'], ['expiresAt']],
  isTransient: true,
};

const FILE_PIECES: RecordDeclaration<StoredPiece, 'requestId' | 'place'> = {
  name: 'file_pieces',
  fields: { requestId: 'text', place: 'text', base64: 'text', expiresAt: 'integer' },
  key: ['requestId', 'place'],
  indexes: [['requestId', 'place'], ['expiresAt']],
  isTransient: true,
};

/** A multiple of 3, so that the pieces of base64 concatenate; far below the 16 MB limit of a record. */
const PIECE_BYTES = 3 * 1024 * 1024;

/**
 * Files that one node transfers to another. Their bytes are stored under their request id, which no route accepts,
 * never among the blobs. The requesting node removes them after reading; a sweep removes those of dead nodes.
 */
@Injectable()
export class FileRequestStore {
  static readonly declarations = [FILE_REQUESTS, FILE_PIECES];

  constructor(private readonly records: RecordStore) {}

  async ask(request: FileRequest): Promise<void> {
    await this.records.insert(FILE_REQUESTS, { ...request, open: 1, outcome: null, bytes: 0 });
  }

  /** Unanswered requests to the clients of a node, oldest first. */
  async wantedOf(node: string, limit: number): Promise<FileRequest[]> {
    const found = await this.records.find(FILE_REQUESTS, { node, open: 1 }, { by: ['id'], limit });
    return found.map(({ open: _open, outcome: _outcome, bytes: _bytes, ...request }) => request);
  }

  /** Answers a request. If it was removed meanwhile, the answer and its bytes are removed. */
  async answer(request: FileRequest, outcome: FileOutcome, content: Uint8Array | null): Promise<void> {
    const { id, expiresAt } = request;
    const all = Buffer.from(content ?? []);
    for (let at = 0; at * PIECE_BYTES < all.length; at += 1) {
      const base64 = all.subarray(at * PIECE_BYTES, (at + 1) * PIECE_BYTES).toString('base64');
      await this.records.insert(FILE_PIECES, { requestId: id, place: positionText(at), base64, expiresAt });
    }
    const answered = { outcome, open: 0, bytes: all.length };
    if ((await this.records.update(FILE_REQUESTS, { id, open: 1 }, answered)) > 0) return;
    if ((await this.records.byKey(FILE_REQUESTS, { id })) === null) await this.remove(id);
  }

  /** Answered requests of a node. */
  async answersTo(asker: string, limit: number): Promise<AnsweredRequest[]> {
    const found = await this.records.find(FILE_REQUESTS, { asker, open: 0 }, { by: ['id'], limit });
    return found.map(({ id, outcome, bytes }) => ({ id, outcome: outcome!, bytes }));
  }

  /** The bytes of an answer; null unless they are complete. */
  async contentOf({ id, bytes }: AnsweredRequest): Promise<Buffer | null> {
    const pieces = await this.records.find(FILE_PIECES, { requestId: id }, { by: ['place'] });
    const content = Buffer.concat(pieces.map(({ base64 }) => Buffer.from(base64, 'base64')));
    return content.length === bytes ? content : null;
  }

  /** Removes a request, its answer and its bytes. */
  async remove(id: string): Promise<void> {
    await this.records.remove(FILE_REQUESTS, { id });
    await this.records.remove(FILE_PIECES, { requestId: id });
  }

  /** Removes what expired before `before` (epoch ms). */
  async removeExpired(before: number): Promise<void> {
    await this.records.remove(FILE_REQUESTS, { expiresAt: { below: before } });
    await this.records.remove(FILE_PIECES, { expiresAt: { below: before } });
  }
}

function positionText(at: number): string {
  return String(at).padStart(4, '0');
}
