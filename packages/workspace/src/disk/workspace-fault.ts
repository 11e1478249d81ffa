import type { CreateFileErrorCode } from '@patchbay/protocol';

/**
 * An expected failure on the user's disk. `code` is one of a create [CREATE-4]; `message` is fit for the LLM:
 * it holds no absolute path and no errno. What the system said is in `cause`.
 */
export class WorkspaceFault extends Error {
  constructor(
    readonly code: CreateFileErrorCode,
    message: string,
    cause?: unknown,
  ) {
    super(message, { cause });
    this.name = 'WorkspaceFault';
  }
}

/** The root itself is not there: that says nothing of what was in it. */
export class RootGone extends WorkspaceFault {
  constructor() {
    super('DirectoryCreateFailed', 'The workspace folder is gone.');
  }
}

/** The errno name of a system error, such as `ENOENT`; null of anything else. */
export function errnoOf(error: unknown): string | null {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' && /^E[A-Z0-9]+$/.test(code) ? code : null;
}

const BUSY = 'another program has it open, or it is mounted by itself. Close it there, then try again';

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'it is too large for the disk',
  ENAMETOOLONG: 'the name is too long for the disk',
  EMFILE: 'too many files are open',
  ENFILE: 'too many files are open',
  ENOENT: 'its folder is gone',
  EIO: 'the disk reported an error',
  EBUSY: BUSY,
  ETXTBSY: 'it is a program that is running. End it, then try again',
};

/** Windows says these of a file that another program has open, other systems of one that is protected. */
const PROTECTED =
  'another program has it open, or it or its folder is protected. Close it there, or allow writing, then try again';
const RENAME_REASONS = { ...REASONS, EPERM: PROTECTED, EACCES: PROTECTED };

/** A fault whose message is `<what>: <why, in words>.` */
export function diskFault(
  code: CreateFileErrorCode,
  what: string,
  error: unknown,
  reasons: Readonly<Record<string, string>> = REASONS,
): WorkspaceFault {
  if (error instanceof WorkspaceFault) return error;
  const errno = errnoOf(error);
  if (errno === null) throw error;
  return new WorkspaceFault(code, `${what}: ${reasons[errno] ?? 'the system refused it'}.`, error);
}

/** The same where another file was to take the place or the name of a file, and says what a person can do about it. */
export function renameFault(what: string, error: unknown): WorkspaceFault {
  return diskFault('WriteFailed', what, error, RENAME_REASONS);
}

/** What a result says of a file that has lost what it had beside its text and mode. */
export const ATTRIBUTES_LOST =
  'Its extended attributes and access control list could not be kept; its group may do no more with it than everybody else.';

/** What a create without overwrite meets; `cause` is what the system said, if it was asked. */
export function fileExists(cause?: unknown): WorkspaceFault {
  return new WorkspaceFault(
    'FileExists',
    'A file exists at this path. Choose another path, or set overwrite to replace it as a whole.',
    cause,
  );
}
