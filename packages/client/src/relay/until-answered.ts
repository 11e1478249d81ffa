import type { Ack, ErrorCode, RelayError } from '@patchbay/protocol';
import { retryAfterOf } from '../http/patchbay-error.js';
import { idleTimeout } from './idle-timeout.js';

const RETRY_MS = 250;
/** A server that refuses again and again is asked more and more seldom, down to this. */
const LONGEST_RETRY_MS = 5_000;
/** A big file may need so long on a slow line; an answer that does not come in that time is asked for again. */
const ACK_TIMEOUT_MS = 15_000;
/** Longest that it is tried, unless the caller says otherwise. */
const DEFAULT_TIMEOUT_MS = 30_000;

/** With these the same message may well be taken a moment later. */
const TRANSIENT: ReadonlySet<ErrorCode> = new Set(['UNAVAILABLE', 'RATE_LIMITED', 'INTERNAL_ERROR']);

/** How long a message is tried. */
export interface SendOptions {
  /** Longest time in ms, connections that come and go included; default 30 s. */
  timeoutMs?: number;
  /** Gives up, by throwing its reason. */
  signal?: AbortSignal;
}

/**
 * Sends what may be sent twice until the server has answered, over as many connections as that takes.
 * @param send sends it once; null while there is no connection, rejects where no answer comes in time.
 * @returns the answer; UNAVAILABLE when the time is up. Rejects by `signal` alone.
 */
export async function untilAnswered<T extends object>(
  send: (timeoutMs: number) => Promise<Ack<T>> | null,
  { timeoutMs = DEFAULT_TIMEOUT_MS, signal }: SendOptions = {},
): Promise<Ack<T>> {
  const until = Date.now() + timeoutMs;
  let refused: Ack<T> | null = null;
  for (let refusals = 0; ;) {
    signal?.throwIfAborted();
    const left = until - Date.now();
    if (left <= 0) return refused ?? unanswered(timeoutMs);
    const answer = await unlessAborted(send(Math.min(left, ACK_TIMEOUT_MS)), signal);
    if (answer?.ok || (answer && !TRANSIENT.has(answer.error.code))) return answer;
    signal?.throwIfAborted();
    if (answer) refused = answer;
    const pauseMs = answer ? pauseAfter(answer.error, refusals++) : RETRY_MS;
    await pause(Math.min(pauseMs, Math.max(0, until - Date.now())), signal);
  }
}

function pauseAfter({ retryAfterSeconds }: RelayError, refusals: number): number {
  const told = retryAfterOf(retryAfterSeconds) ?? 0;
  const grown = Math.min(LONGEST_RETRY_MS, RETRY_MS * 2 ** refusals);
  return Math.max(told, RETRY_MS) + (grown - RETRY_MS) * Math.random();
}

function unanswered(timeoutMs: number): Ack<never> {
  const message = `The server did not answer within ${timeoutMs / 1000} s.`;
  return { ok: false, error: { code: 'UNAVAILABLE', message } };
}

/** The answer; null where none comes, or the signal comes first. */
function unlessAborted<T>(answer: Promise<T> | null, signal?: AbortSignal): Promise<T | null> {
  return new Promise((resolve) => {
    const end = (value: T | null) => {
      signal?.removeEventListener('abort', giveUp);
      resolve(value);
    };
    const giveUp = () => end(null);
    signal?.addEventListener('abort', giveUp, { once: true });
    if (answer) answer.then(end, giveUp);
    else giveUp();
  });
}

/** Keeps no process alive: what is cut off did not come to pass. */
function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = idleTimeout(end, ms);
    signal?.addEventListener('abort', end, { once: true });
  });
}
