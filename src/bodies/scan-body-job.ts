import { isUtf8 } from 'node:buffer';
import { JsonOutOfBounds, type JsonLoss, scanJson } from '@patchbay/protocol';
import { DomainError } from '../common/domain-error.js';
import { defineJob } from '../jobs/job.js';

/** The text of a body that passed all bounds, with the values that JSON.parse would change or drop. */
export interface ScannedBody {
  text: string;
  lossy: JsonLoss[];
}

/**
 * Turns the bytes of a body into text that is safe to parse. JSON.parse itself is left to the caller: transferring
 * its result would cost as much as parsing.
 */
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

/** The error for a malformed body. */
export function malformed(fault: string): DomainError {
  return new DomainError('VALIDATION_ERROR', `The body ${fault}`);
}

function hasByteOrderMark(body: Buffer): boolean {
  return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf;
}
