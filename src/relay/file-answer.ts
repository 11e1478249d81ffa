import { type Ack, cutText, type ErrorCode, type FileReadAnswer } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';

/** Codes with which a client may refuse a file. */
const REFUSALS: readonly ErrorCode[] = ['NOT_FOUND', 'FORBIDDEN', 'TOO_LARGE', 'CONFLICT'];
/** Longest refusal message that is passed on, in characters. */
const MAX_REASON = 300;

/** A client's answer to `file:read`, or a string that says what is wrong with it without quoting it [RELAY-23]. */
export function checkFileAnswer(answer: unknown, maxBytes: number): Ack<FileReadAnswer> | string {
  if (typeof answer !== 'object' || answer === null) return 'no object';
  const { ok, content, sha256: digest, isDirty, source, error } = answer as Record<string, unknown>;
  if (ok === false) return refusal(error);
  if (ok !== true) return 'neither ok nor refused';
  if (!Buffer.isBuffer(content)) return 'content is not bytes';
  if (content.length > maxBytes) return `content has ${content.length} bytes, of ${maxBytes}`;
  if (digest !== sha256(content)) return 'sha256 is not that of the content';
  if (typeof isDirty !== 'boolean') return 'isDirty is not a boolean';
  if (source !== 'active' && source !== 'disk') return 'source is neither active nor disk';
  return { ok: true, content, sha256: digest, isDirty, source };
}

function refusal(error: unknown): Ack<FileReadAnswer> | string {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  const known = REFUSALS.find((refused) => refused === code);
  if (known === undefined) return 'refused without a reason that is known';
  const reason = typeof message === 'string' ? cutText(message, MAX_REASON) : '';
  return { ok: false, error: { code: known, message: reason } };
}
