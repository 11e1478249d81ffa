import type { CreateFileErrorCode } from '@patchbay/protocol';

/**
 * An expected failure on the user's disk. `code` is an error code of a create [CREATE-4]. `message` is safe for the
 * LLM: no absolute path, no errno. `cause` has the system error.
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

/** The root folder is missing. This does not mean that its files were deleted. */
export class RootMissing extends WorkspaceFault {
  constructor() {
    super('DirectoryCreateFailed', 'The workspace folder is gone.');
  }
}

/** The errno name of a system error, such as `ENOENT`; null for other errors. */
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

/** Windows reports EPERM and EACCES for a file that another program has open, other systems for a protected file. */
const PROTECTED =
  'another program has it open, or it or its folder is protected. Close it there, or allow writing, then try again';
const RENAME_REASONS = { ...REASONS, EPERM: PROTECTED, EACCES: PROTECTED };

/** Builds a fault with the message `<what>: <reason>`. Rethrows errors that are not system errors. */
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

/** The same for a failed rename over a file; the message says what the user can do. */
export function renameFault(what: string, error: unknown): WorkspaceFault {
  return diskFault('WriteFailed', what, error, RENAME_REASONS);
}

/** Added to the result if extended attributes or the access control list were lost. */
export const ATTRIBUTES_LOST =
  'Its extended attributes and access control list could not be kept; its group has only the permissions of other users.';

/** A create without overwrite found a file. `cause` is the system error, if there is one. */
export function fileExists(cause?: unknown): WorkspaceFault {
  return new WorkspaceFault(
    'FileExists',
    'A file exists at this path. Choose another path, or set overwrite to replace it as a whole.',
    cause,
  );
}
