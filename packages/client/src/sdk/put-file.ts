import type { Ack, ErrorCode, FilePut, FilePutAnswer } from '@patchbay/protocol';
import type { RelayLink } from './relay-state.js';

const RETRY_MS = 250;
/** A file may need so long on a slow line; an answer that does not come in that time is asked for again. */
const ACK_TIMEOUT_MS = 15_000;
/** Longest that an upload is tried, unless the caller says otherwise. */
const DEFAULT_TIMEOUT_MS = 30_000;

/** With these the same upload may well be taken a moment later. */
const TRANSIENT: ReadonlySet<ErrorCode> = new Set(['UNAVAILABLE', 'RATE_LIMITED', 'INTERNAL_ERROR']);

export interface PutOptions {
  /** Longest time in ms, connections that come and go included; default 30 s. */
  timeoutMs?: number;
  /** Gives up, by throwing its reason. */
  signal?: AbortSignal;
}

/**
 * Sends a file until the server has answered, over as many connections as that takes. Sending it again is harmless: the
 * server knows it by its filePatchId and sha256. Never rejects but by `signal`: UNAVAILABLE when the time is up.
 */
export async function putFile(
  link: RelayLink,
  file: FilePut,
  { timeoutMs = DEFAULT_TIMEOUT_MS, signal }: PutOptions = {},
): Promise<Ack<FilePutAnswer>> {
  const until = Date.now() + timeoutMs;
  let refused: Ack<FilePutAnswer> | null = null;
  for (;;) {
    signal?.throwIfAborted();
    const left = until - Date.now();
    if (left <= 0) return refused ?? unanswered(timeoutMs);
    const answer = await link.sendFile(file, Math.min(left, ACK_TIMEOUT_MS))?.catch(() => null);
    if (answer?.ok || (answer && !TRANSIENT.has(answer.error.code))) return answer;
    if (answer) refused = answer;
    await pause(Math.min(RETRY_MS, Math.max(0, until - Date.now())), signal);
  }
}

function unanswered(timeoutMs: number): Ack<FilePutAnswer> {
  const message = `The server did not take the file within ${timeoutMs / 1000} s.`;
  return { ok: false, error: { code: 'UNAVAILABLE', message } };
}

/** Keeps no process alive: an upload that is cut off is one that did not come to pass. */
function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms).unref();
    signal?.addEventListener('abort', end, { once: true });
  });
}
