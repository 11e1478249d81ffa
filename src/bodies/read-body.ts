import type { IncomingMessage } from 'node:http';
import { DomainError } from '../common/domain-error.js';
import { yieldIfBusy } from '../common/yield-if-busy.js';
import { workOwner } from '../common/work-owner.js';
import type { Reception } from './receiving.js';
import { malformed } from './scan-body-job.js';

/** Once it has had its time to begin, a body comes at this rate or is given up, in bytes a second. */
const MIN_RATE = 1024;

/** From here on a body's chunks come in turn with those of others. */
const UNPACED_BYTES = 64 * 1024;

/** The body stopped coming. Its connection can't be used any more: nobody knows what is next on it. */
export class StalledBody extends DomainError {
  constructor(idleMs: number) {
    super('VALIDATION_ERROR', `The body came too slowly, or not at all for ${idleMs} ms; send it again`);
  }
}

export interface BodyBounds {
  /** Most bytes that it may have. */
  limit: number;
  /** Most time without any byte, ms. */
  idleMs: number;
  reception: Reception;
}

/**
 * The bytes of a request's body. What is too large, or more than can be received now, is refused as soon as that is known;
 * the rest of it is read and dropped, so that the refusal reaches a client that is still sending.
 */
export function readBody(
  request: IncomingMessage,
  { limit, idleMs, reception }: BodyBounds,
): Promise<Buffer> {
  // The events of a socket come in nobody's name.
  const owner = workOwner();
  const announced = Number(request.headers['content-length'] ?? 0);
  // All of it at once: of bodies that come together the first have room, and not each of them for its beginning.
  const refusal = announced > limit ? tooLarge(limit) : reception.take(announced);
  if (refusal) {
    drop(request, owner);
    return Promise.reject(refusal);
  }
  return new Promise((resolve, reject) => {
    // Bytes that were announced have their place, which costs nothing until they come: no body is there twice.
    const whole = announced > 0 ? Buffer.allocUnsafeSlow(announced) : null;
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
      const refusal = size > announced ? reception.take(chunk.length) : null;
      if (refusal) return refuse(refusal);
      if (whole) chunk.copy(whole, size - chunk.length);
      else chunks.push(chunk);
      if (size > UNPACED_BYTES) goOnLater(request, owner);
    };
    const onEnd = (): void => settle(() => resolve(whole ?? Buffer.concat(chunks, size)));
    const onClose = (): void => settle(() => reject(malformed('ended before it was complete')));
    const watch = setInterval(() => pace.isStalled() && refuse(new StalledBody(idleMs)), idleMs / 4);
    request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
  });
}

/** Reads the rest of a body for nothing. */
function drop(request: IncomingMessage, owner: string): void {
  request.on('error', () => {}).on('data', () => goOnLater(request, owner));
  request.resume();
}

/** Hundreds of bodies at once come a chunk each in turn: the network has megabytes of every one at hand. */
function goOnLater(request: IncomingMessage, owner: string): void {
  request.pause();
  void yieldIfBusy(owner).then(() => request.resume());
}

/** Whether a body still comes: one byte now and then does not count. */
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
