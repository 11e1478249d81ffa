import { Injectable } from '@nestjs/common';
import type { FileReadAnswer } from '@patchbay/protocol';
import type { Membership } from '../ports/turn.js';
import type { RecordDeclaration } from './declaration.js';
import { RecordStore } from './record-store.js';

/** Which file is wanted, and of which of the user's clients. */
export interface FileWish extends Membership {
  docPath: string;
  maxBytes: number;
  /** The session's bound client. */
  boundClientId: string | null;
  /** The client that the session used last. */
  lastClientId: string | null;
  /** sha256 in the session's list of Active Files; null: the file is not in it, and only who has its root is asked. */
  activeSha256: string | null;
}

/** What a node's clients gave, without the bytes. */
export type FileOutcome =
  | ({ kind: 'given' } & Omit<FileReadAnswer, 'content'>)
  /** The reason is in the client's own words. */
  | { kind: 'refused'; code: string; message: string }
  /** Asked, and not answered. */
  | { kind: 'silent' };

/** A file that one node wants of the clients of another. */
export interface FileRequest {
  /** Used once. */
  id: string;
  /** The node that wants the file. */
  asker: string;
  /** The node whose clients are asked. */
  node: string;
  wish: FileWish;
  /** Nobody waits for the answer any more, epoch ms. */
  expiresAt: number;
}

/** A request with its answer. */
export interface AnsweredRequest {
  id: string;
  outcome: FileOutcome;
  /** The length of the bytes of a file that was given. */
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
  /** Its place among the pieces of the file, which sorts as text. */
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

/** A multiple of 3, so that the pieces of base64 are those of the whole; far below the 16 MB that a record may have. */
const PIECE_BYTES = 3 * 1024 * 1024;

/**
 * Files on their way from the clients of one node to another node. The bytes lie under the id of their request alone, which
 * no route takes, never among the blobs; whoever asked removes them once they are read, and what a dead node left is swept.
 */
@Injectable()
export class FileRequestStore {
  static readonly declarations = [FILE_REQUESTS, FILE_PIECES];

  constructor(private readonly records: RecordStore) {}

  async ask(request: FileRequest): Promise<void> {
    await this.records.insert(FILE_REQUESTS, { ...request, open: 1, outcome: null, bytes: 0 });
  }

  /** Requests to the clients of a node that have no answer yet, oldest first. */
  async wantedOf(node: string, limit: number): Promise<FileRequest[]> {
    const found = await this.records.find(FILE_REQUESTS, { node, open: 1 }, { by: ['id'], limit });
    return found.map(({ open: _open, outcome: _outcome, bytes: _bytes, ...request }) => request);
  }

  /** Answers a request. Where nobody waits for it any more, nothing of it stays. */
  async answer(request: FileRequest, outcome: FileOutcome, content: Uint8Array | null): Promise<void> {
    const { id, expiresAt } = request;
    const all = Buffer.from(content ?? []);
    for (let at = 0; at * PIECE_BYTES < all.length; at += 1) {
      const base64 = all.subarray(at * PIECE_BYTES, (at + 1) * PIECE_BYTES).toString('base64');
      await this.records.insert(FILE_PIECES, { requestId: id, place: placeOf(at), base64, expiresAt });
    }
    const answered = { outcome, open: 0, bytes: all.length };
    if ((await this.records.update(FILE_REQUESTS, { id, open: 1 }, answered)) > 0) return;
    if ((await this.records.byKey(FILE_REQUESTS, { id })) === null) await this.remove(id);
  }

  /** Requests of a node that have an answer. */
  async answersTo(asker: string, limit: number): Promise<AnsweredRequest[]> {
    const found = await this.records.find(FILE_REQUESTS, { asker, open: 0 }, { by: ['id'], limit });
    return found.map(({ id, outcome, bytes }) => ({ id, outcome: outcome!, bytes }));
  }

  /** The bytes that a request was given; null where they are not there whole. */
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

function placeOf(at: number): string {
  return String(at).padStart(4, '0');
}
