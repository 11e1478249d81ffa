import { createHash } from 'node:crypto';
import type { DigestSummary } from './digest.js';
import { type Kind, KINDS, TransferError, type WholeBlob } from './records.js';
import { readAll, type RecordSource } from './store.js';

/**
 * An export is JSON, one object per line: a header; the records by kind in the order of KINDS, with a blob's bytes in
 * lines of base64 after its record; a trailer.
 */
export const FORMAT = 'patchbay-export';
/** A release reads only this version. It changes with the content of lines. */
export const FORMAT_VERSION = 1;

/** Longer lines are neither written nor read. */
export const MAX_LINE_BYTES = 256 * 1024 * 1024;
/** Bytes of a blob in one line. */
const CHUNK_BYTES = 192 * 1024;

export interface Header {
  format: typeof FORMAT;
  version: number;
  /** The backend that wrote it, with its schema version: for people. */
  store: string;
  schemaVersion: number;
  createdAt: string;
}

export interface RecordLine {
  kind: Kind;
  record: object;
}
/** Some bytes of the preceding blob. */
export interface BytesLine {
  kind: 'blobs';
  bytes: string;
}
export interface Trailer {
  kind: 'end';
  kinds: { [Of in Kind]: DigestSummary };
  /** Of all bytes before the trailer. */
  sha256: string;
}

export function lineOf(content: Header | RecordLine | BytesLine | Trailer): string {
  return `${JSON.stringify(content)}\n`;
}

/** The lines of a kind. Equal records give equal lines, whichever store they come from. */
export async function* linesOf(
  source: RecordSource,
  kind: Kind,
): AsyncGenerator<{ line: string; isRecord: boolean }> {
  for await (const records of readAll(source, kind)) {
    for (const record of records) {
      const line = `{"kind":"${kind}","record":${spelt(record, 2)}}\n`;
      if (line.length > MAX_LINE_BYTES || Buffer.byteLength(line) > MAX_LINE_BYTES)
        throw new TransferError(`${KINDS[kind]}: a record is longer than ${MAX_LINE_BYTES} bytes`);
      yield { line, isRecord: true };
      if (kind === 'blobs')
        for await (const bytes of bytesOf(record as WholeBlob))
          yield { line: lineOf({ kind, bytes }), isRecord: false };
    }
  }
}

async function* bytesOf(blob: WholeBlob): AsyncGenerator<string> {
  const bytes = await blob.read();
  if (bytes === null || !isBytesOf(blob, bytes))
    throw new TransferError(
      `The bytes of ${blob.sha256} in the workspace ${blob.workspaceId} are damaged: see patchbay-admin check`,
    );
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES)
    yield Buffer.from(bytes.subarray(at, at + CHUNK_BYTES)).toString('base64');
}

export function isBytesOf({ sha256, size }: Pick<WholeBlob, 'sha256' | 'size'>, bytes: Uint8Array): boolean {
  return bytes.length === size && createHash('sha256').update(bytes).digest('hex') === sha256;
}

/** JSON with the names of a record and its parts sorted. Deeper values are user data and keep their order of names. */
function spelt(value: unknown, depth: number): string {
  if (depth === 0 || typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => spelt(item, depth)).join()}]`;
  const fields = Object.entries(value as Record<string, unknown>)
    .filter(([, field]) => field !== undefined && typeof field !== 'function')
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${spelt(field, depth - 1)}`).join()}}`;
}
