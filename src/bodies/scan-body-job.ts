import { isUtf8 } from 'node:buffer';
import { JsonOutOfBounds, type JsonLoss, scanJson } from '@patchbay/protocol';
import { DomainError } from '../common/domain-error.js';
import { defineJob } from '../jobs/job.js';

/** A body's text, held against all bounds, and what JSON.parse would change or drop of it. */
export interface ScannedBody {
  text: string;
  lossy: JsonLoss[];
}

/** Bytes of a body to text that may be parsed. What is left, JSON.parse, would cost as much to send as to do. */
export const SCAN_BODY = defineJob('scan-body', (bytes: Uint8Array): ScannedBody => {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!isUtf8(body)) throw malformed('is not valid UTF-8');
  const text = body.toString('utf8', hasByteOrderMark(body) ? 3 : 0);
  try {
    return { text, lossy: scanJson(text) };
  } catch (error) {
    throw malformed(error instanceof JsonOutOfBounds ? error.message : 'is not valid JSON');
  }
});

/** A body that is refused as it is. */
export function malformed(fault: string): DomainError {
  return new DomainError('VALIDATION_ERROR', `The body ${fault}`);
}

function hasByteOrderMark(body: Buffer): boolean {
  return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf;
}
