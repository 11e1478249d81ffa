import type { Ack, ErrorCode, RelayError } from '@patchbay/protocol';
import { retryAfterOf } from '../http/patchbay-error.js';
import { idleTimeout } from './idle-timeout.js';

const RETRY_MS = 250;
/** Longest wait before a retry; the wait doubles with each refusal. */
const LONGEST_RETRY_MS = 5_000;
/** A large file may take this long on a slow connection; after it, the message is sent again. */
const ACK_TIMEOUT_MS = 15_000;
const DEFAULT_TIMEOUT_MS = 30_000;

/** The same message may be accepted a moment later after these. */
const TRANSIENT: ReadonlySet<ErrorCode> = new Set(['UNAVAILABLE', 'RATE_LIMITED', 'INTERNAL_ERROR']);

/** How long a message is retried. */
export interface SendOptions {
  /** Longest time in ms, reconnects included; default 30 s. */
  timeoutMs?: number;
  /** Aborting it rejects with its reason. */
  signal?: AbortSignal;
}

/**
 * Sends an idempotent message until the server answers, over any number of connections.
 * @param send sends it once; null without a connection, rejects without an answer in time.
 * @returns the answer; UNAVAILABLE when the time is up. Rejects only by `signal`.
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
  const requested = retryAfterOf(retryAfterSeconds) ?? 0;
  const grown = Math.min(LONGEST_RETRY_MS, RETRY_MS * 2 ** refusals);
  return Math.max(requested, RETRY_MS) + (grown - RETRY_MS) * Math.random();
}

function unanswered(timeoutMs: number): Ack<never> {
  const message = `The server did not answer within ${timeoutMs / 1000} s.`;
  return { ok: false, error: { code: 'UNAVAILABLE', message } };
}

/** The answer; null if there is none or the signal is aborted first. */
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

/** Does not keep the process alive: an unfinished wait loses nothing. */
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
