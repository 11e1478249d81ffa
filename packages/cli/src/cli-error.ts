import { PatchbayError, type PatchbayErrorCode } from '@patchbay/client';
import { ClientLockedError } from '@patchbay/client/home';

/** What the command line ends with. Part of its contract: scripts branch on it. */
export const EXIT = {
  ok: 0,
  /** Something failed that has no code of its own. */
  failed: 1,
  /** The command was not understood, or its input is not valid. */
  usage: 2,
  /** Not logged in, or not allowed. */
  refused: 3,
  /** The server did not answer. */
  unreachable: 4,
  /** The turn is final, and one of its calls did not succeed. */
  callFailed: 5,
  /** The turn was taken and is still open. */
  turnOpen: 6,
  /** Another process is this client. */
  replaced: 7,
  /** Some files were not synced: changed on both sides, or not to be read or written. */
  incomplete: 8,
  /** Ended by a signal. */
  interrupted: 130,
} as const;

/** A failure in words that say what to do; printed without a stack. */
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

/** What a server says of a token that it does not know, to whoever makes requests. */
const ABOUT_HEADERS = /^No valid token found in Authorization header/;
const UNKNOWN_TOKEN = "The access token is none of this server's: it is cut, misspelt or another server's.";

/** Codes of a certificate whose authority Node does not know. */
const UNTRUSTED_CODES = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);
const UNTRUSTED =
  "Node does not know the authority of the server's certificate: set NODE_EXTRA_CA_CERTS to a PEM file with it.";

/** What was to be done with it. */
const DOING: Record<string, string> = {
  mkdir: 'make the folder',
  scandir: 'read the folder',
  rename: 'replace',
};

/** What the system says of a file, in words; what is not here is shown as the system says it. */
const SYSTEM_FAULT: Record<string, string> = {
  EACCES: 'this user may not',
  EPERM: 'this user may not',
  EROFS: 'it is on a disk that is read-only',
  ENOSPC: 'the disk is full',
  ENOENT: 'it is not there',
  ENOTDIR: 'a part of its path is a file, no folder',
  EISDIR: 'it is a folder, no file',
  EEXIST: 'something else is there already',
};

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
  const { message, code = '', path, syscall } = error as NodeJS.ErrnoException;
  if (path !== undefined && code in SYSTEM_FAULT) {
    return {
      message: `Cannot ${DOING[syscall ?? ''] ?? syscall} ${path}: ${SYSTEM_FAULT[code]} (${code}).`,
      exitCode: EXIT.failed,
    };
  }
  return { message: error instanceof Error ? message : String(error), exitCode: EXIT.failed };
}

/** fetch hides the fault of the connection in a chain of causes. */
function isUntrusted(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  return (typeof code === 'string' && UNTRUSTED_CODES.has(code)) || isUntrusted(cause);
}

/** Every fault once: the message of a server names the first of `fields`, or all of them. */
function faultsOf({ message, fields }: PatchbayError): string {
  const faults = Object.entries(fields).map(([field, fault]) => `${field} ${fault}`);
  if (faults.length > 1 && message.startsWith(faults[0]!)) return `${faults.join('; ')}.`;
  const untold = Object.entries(fields).flatMap(([field, fault]) =>
    message.includes(fault) ? [] : [`${field} ${fault}`],
  );
  return [message, ...untold].map(ended).join(' ');
}

function ended(sentence: string): string {
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}
