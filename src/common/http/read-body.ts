import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { DomainError } from '../domain-error.js';
import { endOfString, parseExactJson, TooManyLossyNumbers } from '@patchbay/protocol';

/** Deepest nesting that is read: what walks a value later may then recurse. */
export const MAX_DEPTH = 250;
const QUOTE = 0x22;

/**
 * The bytes of a request's body, at most `limit` of them. What is too large is refused as soon as that is known; the
 * rest of it is read and dropped, so that the refusal reaches a client that is still sending.
 */
export function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > limit) {
    request.resume();
    return Promise.reject(tooLarge(limit));
  }
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (act: () => void): void => {
      request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
      act();
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size <= limit) {
        chunks.push(chunk);
        return;
      }
      settle(() => reject(tooLarge(limit)));
      request.on('error', () => {}).resume();
    };
    const onEnd = (): void =>
      settle(() => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size)));
    const onClose = (): void => settle(() => reject(malformed('The body ended before it was complete')));
    request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
  });
}

/** The value that a JSON body holds, undefined where the body is empty. */
export function parseJson(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  if (!isUtf8(bytes)) throw malformed('The body is not valid UTF-8');
  const text = bytes.toString('utf8');
  if (exceedsDepth(text, MAX_DEPTH)) throw malformed(`The body is nested deeper than ${MAX_DEPTH} levels`);
  try {
    return parseExactJson(text.startsWith('\uFEFF') ? text.slice(1) : text);
  } catch (error) {
    throw malformed(
      error instanceof TooManyLossyNumbers ? `The body ${error.message}` : 'The body is not valid JSON',
    );
  }
}

/** Whether brackets outside of strings nest deeper than `depth`; says nothing about other faults of the text. */
export function exceedsDepth(text: string, depth: number): boolean {
  let open = 0;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at);
        break;
      case 0x5b: // [
      case 0x7b: // {
        open += 1;
        if (open > depth) return true;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        open -= 1;
        break;
    }
  }
  return false;
}

function tooLarge(limit: number): DomainError {
  return new DomainError('TOO_LARGE', `The body exceeds the limit of ${limit} bytes`);
}

function malformed(message: string): DomainError {
  return new DomainError('VALIDATION_ERROR', message);
}
