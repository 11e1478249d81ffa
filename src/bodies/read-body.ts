import type { IncomingMessage } from 'node:http';
import { DomainError } from '../common/domain-error.js';
import { yieldIfBusy } from '../common/yield-if-busy.js';
import { workOwner } from '../common/work-owner.js';
import type { Reception } from './receiving.js';
import { malformed } from './scan-body-job.js';

/** Minimum rate of a body after its grace period, bytes/s; a slower one is given up. */
const MIN_RATE = 1024;

/** Beyond this size the chunks of a body take turns with those of other bodies. */
const UNPACED_BYTES = 64 * 1024;

/** The body stopped arriving. Its connection is unusable: the position in the stream is unknown. */
export class StalledBody extends DomainError {
  constructor(idleMs: number) {
    super('VALIDATION_ERROR', `The body came too slowly, or not at all for ${idleMs} ms; send it again`);
  }
}

export interface BodyBounds {
  /** Maximum size, bytes. */
  limit: number;
  /** Maximum time without any byte, ms. */
  idleMs: number;
  reception: Reception;
}

/**
 * Reads the bytes of a request's body. A body that is too large, or exceeds the budget, is refused at once. Its rest
 * is read and dropped, so that the refusal reaches a client that is still sending.
 */
export function readBody(
  request: IncomingMessage,
  { limit, idleMs, reception }: BodyBounds,
): Promise<Buffer> {
  // Socket events carry no async context, so the owner is captured here.
  const owner = workOwner();
  const announced = Number(request.headers['content-length'] ?? 0);
  // Reserves the announced size at once, so that of simultaneous bodies some fit whole instead of all in part.
  const refusal = announced > limit ? tooLarge(limit) : reception.reserve(announced);
  if (refusal) {
    drop(request, owner);
    return Promise.reject(refusal);
  }
  return new Promise((resolve, reject) => {
    // Untouched pages cost no memory, and the body is never held twice.
    const buffer = announced > 0 ? Buffer.allocUnsafeSlow(announced) : null;
    const chunks: Buffer[] = [];
    let size = 0;
    const pace = new Pace(idleMs);
    const settle = (act: () => void): void => {
      clearInterval(watch);
      request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
      act();
    };
    const refuse = (error: DomainError): void => {
      settle(() => reject(error));
      drop(request, owner);
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      pace.moved(size);
      if (size > limit) return refuse(tooLarge(limit));
      const refusal = size > announced ? reception.reserve(chunk.length) : null;
      if (refusal) return refuse(refusal);
      if (buffer) chunk.copy(buffer, size - chunk.length);
      else chunks.push(chunk);
      if (size > UNPACED_BYTES) resumeLater(request, owner);
    };
    const onEnd = (): void => settle(() => resolve(buffer ?? Buffer.concat(chunks, size)));
    const onClose = (): void => settle(() => reject(malformed('ended before it was complete')));
    const watch = setInterval(() => pace.isStalled() && refuse(new StalledBody(idleMs)), idleMs / 4);
    request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
  });
}

/** Reads and discards the rest of a body. */
function drop(request: IncomingMessage, owner: string): void {
  request.on('error', () => {}).on('data', () => resumeLater(request, owner));
  request.resume();
}

/** Hundreds of simultaneous bodies each get one chunk in turn: the kernel has megabytes of each buffered. */
function resumeLater(request: IncomingMessage, owner: string): void {
  request.pause();
  void yieldIfBusy(owner).then(() => request.resume());
}

/** Checks that a body arrives at the minimum rate: single bytes now and then do not count. */
class Pace {
  private readonly start = performance.now();
  private last = this.start;
  private size = 0;

  constructor(private readonly idleMs: number) {}

  moved(size: number): void {
    this.last = performance.now();
    this.size = size;
  }

  isStalled(): boolean {
    const now = performance.now();
    if (now - this.last >= this.idleMs) return true;
    const time = now - this.start;
    return time > this.idleMs && this.size < (time / 1000) * MIN_RATE;
  }
}

function tooLarge(limit: number): DomainError {
  return new DomainError('TOO_LARGE', `The body exceeds the limit of ${limit} bytes`);
}
