import { PatchbayError, type PatchbayErrorCode } from '@patchbay/client';
import { ClientLockedError } from '@patchbay/client/home';

/** Exit codes of the command line. Scripts depend on them. */
export const EXIT = {
  ok: 0,
  /** Any failure without a code of its own. */
  failed: 1,
  /** The command was not understood, or its input is invalid. */
  usage: 2,
  /** Not logged in, or not allowed. */
  refused: 3,
  /** The server did not answer. */
  unreachable: 4,
  /** The turn is final, and one of its calls did not succeed. */
  callFailed: 5,
  /** The turn was accepted and is still open. */
  turnOpen: 6,
  /** Another process connected as this client. */
  replaced: 7,
  /** Some files were not synced: changed on both sides, unreadable or unwritable. */
  incomplete: 8,
  /** Ended by a signal. */
  interrupted: 130,
} as const;

/** An error whose message says what to do; printed without a stack. */
export class CliError extends Error {
  override readonly name = 'CliError';

  constructor(
    message: string,
    readonly exitCode: number = EXIT.failed,
  ) {
    super(message);
  }
}

const EXIT_OF: Partial<Record<PatchbayErrorCode, number>> = {
  NETWORK: EXIT.unreachable,
  UNAVAILABLE: EXIT.unreachable,
  INVALID_TOKEN: EXIT.refused,
  FORBIDDEN: EXIT.refused,
  VALIDATION_ERROR: EXIT.usage,
};

const HINT: Partial<Record<PatchbayErrorCode, string>> = {
  NETWORK: 'Is the server running there, and --url right?',
  INVALID_TOKEN: 'Run "patchbay login", or pass another access token (--token, PATCHBAY_TOKEN).',
  FORBIDDEN: 'Ask an owner of the workspace to add you, or choose another with --workspace.',
};

/** The server's message about an unknown token, written for authors of requests. */
const ABOUT_HEADERS = /^No valid token found in Authorization header/;
const UNKNOWN_TOKEN =
  "The access token is not from this server: it is truncated, misspelt or another server's.";

/** Certificate errors of an unknown authority. */
const UNTRUSTED_CODES = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);
const UNTRUSTED =
  "Node does not trust the authority of the server's certificate: set NODE_EXTRA_CA_CERTS to a PEM file with the authority's certificate.";

/** System calls as verbs. */
const VERB_OF_SYSCALL: Record<string, string> = {
  mkdir: 'make the folder',
  scandir: 'read the folder',
  rename: 'replace',
  unlink: 'delete',
  rm: 'delete',
};

/** System errors in words; others are shown as the system says them. */
const SYSTEM_FAULT: Record<string, string> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
  ENOENT: 'it does not exist',
  ENOTDIR: 'a part of its path is a file, not a folder',
  EBUSY: 'another program has it open; close it there, then try again',
  ETXTBSY: 'it is a program that is running; end it, then try again',
  EISDIR: 'it is a folder, not a file',
  EEXIST: 'it already exists',
};

/** Windows also reports this for a file that another program has open. */
const PROTECTED = 'permission denied, or another program has it open; close it there, then try again';

/** One line for the terminal, and the exit code. */
export function explain(error: unknown): { message: string; exitCode: number } {
  if (error instanceof CliError) return { message: error.message, exitCode: error.exitCode };
  if (error instanceof ClientLockedError) return { message: error.message, exitCode: EXIT.replaced };
  if (error instanceof PatchbayError) {
    const hint = isUntrusted(error) ? UNTRUSTED : (HINT[error.code] ?? '');
    const said = ABOUT_HEADERS.test(error.message) ? UNKNOWN_TOKEN : faultsOf(error);
    const message = [said, hint].filter(Boolean).join(' ');
    return { message, exitCode: EXIT_OF[error.code] ?? EXIT.failed };
  }
  const { message, path, dest, syscall = '' } = error as NodeJS.ErrnoException & { dest?: string };
  const why = systemReason(error);
  if (path !== undefined && why !== null) {
    const what = `Cannot ${VERB_OF_SYSCALL[syscall] ?? syscall} ${dest ?? path}`;
    return { message: `${what}: ${why}.`, exitCode: EXIT.failed };
  }
  return { message: error instanceof Error ? message : String(error), exitCode: EXIT.failed };
}

/** A system error in words: `it does not exist (ENOENT)`; null for other errors. */
export function systemReason(error: unknown): string | null {
  const { code = '', syscall } = error as NodeJS.ErrnoException;
  if (!(code in SYSTEM_FAULT)) return null;
  const isProtected = syscall === 'rename' && (code === 'EPERM' || code === 'EACCES');
  return `${isProtected ? PROTECTED : SYSTEM_FAULT[code]} (${code})`;
}

/** fetch hides the reason in a chain of causes. */
function isUntrusted(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  return (typeof code === 'string' && UNTRUSTED_CODES.has(code)) || isUntrusted(cause);
}

/** Every fault once: a server's message may repeat the first of `fields`, or all of them. */
function faultsOf({ message, fields }: PatchbayError): string {
  const faults = Object.entries(fields).map(([field, fault]) => `${field} ${fault}`);
  if (faults.length > 1 && message.startsWith(faults[0]!)) return `${faults.join('; ')}.`;
  const unmentioned = Object.entries(fields).flatMap(([field, fault]) =>
    message.includes(fault) ? [] : [`${field} ${fault}`],
  );
  return [message, ...unmentioned].map(ended).join(' ');
}

function ended(sentence: string): string {
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}
