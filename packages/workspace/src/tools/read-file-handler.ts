import {
  type Ack,
  DEFAULT_MAX_FILE_BYTES,
  type ErrorCode,
  type FileRead,
  type FileReadAnswer,
} from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { readFile } from '../disk/file-entry.js';
import { realFileSystem } from '../disk/file-system.js';
import { openDirectory } from '../disk/open-directory.js';
import { WorkspaceFault } from '../disk/workspace-fault.js';
import type { LocatedPath } from '../disk/located-path.js';
import { hiddenForCall } from '../visible/hidden-doc-paths.js';
import { DocPathFinder } from '../write-patch/doc-path-finder.js';
import type { PatchContext } from '../write-patch/execute-write-patch.js';
import { notFound, PatchFileFault } from '../write-patch/patch-file-fault.js';

/** The files that this client may give to a model. */
export interface ReadContext extends PatchContext {
  /** Whether a file may be read although a push would leave it out; none may if undefined. */
  allows?(docPath: string): boolean | Promise<boolean>;
}

class ReadRefusal extends Error {
  constructor(
    readonly code: ErrorCode,
    message: string,
  ) {
    super(message);
  }
}

/**
 * The `readFile` of a RelayClient. Reads files below the roots from unsaved buffers or the disk, without following
 * links. Files that a push leaves out, such as secrets, are refused [RELAY-25].
 */
export function clientFileReader(context: ReadContext): (read: FileRead) => Promise<Ack<FileReadAnswer>> {
  return async (read) => {
    try {
      const { content, isDirty, source } = await readOne(context, read);
      return { ok: true, content, sha256: sha256(content), isDirty, source };
    } catch (error) {
      const { code, message } = refusalOf(error);
      return { ok: false, error: { code, message } };
    }
  };
}

type Found = Pick<FileReadAnswer, 'content' | 'isDirty' | 'source'>;

async function readOne(context: ReadContext, { docPath, maxBytes }: FileRead): Promise<Found> {
  const limit = Math.min(maxBytes, context.maxFileBytes ?? DEFAULT_MAX_FILE_BYTES);
  refuseOutside(context, docPath);
  await refuseHidden(context, docPath);
  const open = (await context.buffers?.read?.(docPath)) ?? null;
  // Without unsaved changes the disk is authoritative: an editor's bytes may differ, for example by normalized line
  // endings.
  const buffer = open?.isDirty ? open : null;
  const located = await locate(context, docPath).catch((error: unknown) => {
    // The buffer's file may never have been saved.
    if (buffer !== null && error instanceof PatchFileFault && error.code === 'NOT_FOUND') return null;
    throw error;
  });
  if (buffer === null) return { content: await onDisk(context, located!, docPath, limit), ...FROM_DISK };
  if (buffer.bytes.length > limit) throw tooLarge(limit);
  return { content: Buffer.from(buffer.bytes), isDirty: true, source: 'active' };
}

const FROM_DISK = { isDirty: false, source: 'disk' } as const;

function refuseOutside({ roots }: ReadContext, docPath: string): void {
  if (roots.named(docPath.split('/', 1)[0]!) && docPath.includes('/')) return;
  throw new ReadRefusal('FORBIDDEN', 'The file lies in no folder that this client has connected.');
}

/** Runs before any read, so that the answer does not depend on whether the file exists. */
async function refuseHidden(context: ReadContext, docPath: string): Promise<void> {
  const hidden = (await hiddenForCall(context, [docPath])).get(docPath);
  if (!hidden || (await context.allows?.(docPath)) === true) return;
  const message =
    hidden.kind === 'secret'
      ? 'The file may contain secrets, and is left out of the Cloud.'
      : `The file is one that push leaves out (${hidden.reason}).`;
  throw new ReadRefusal('FORBIDDEN', message);
}

function locate({ roots, fs = realFileSystem }: ReadContext, docPath: string): Promise<LocatedPath> {
  return new DocPathFinder(fs, roots).find(docPath);
}

async function onDisk(
  { fs = realFileSystem }: ReadContext,
  { root, segments }: LocatedPath,
  docPath: string,
  maxBytes: number,
): Promise<Buffer> {
  const directory = await openDirectory(fs, root.directory, segments.slice(0, -1));
  if (!directory) throw notFound(docPath);
  try {
    const file = await readFile(fs, directory, segments.at(-1)!, maxBytes);
    if (!file) throw notFound(docPath);
    return file.bytes;
  } finally {
    await directory.close();
  }
}

function tooLarge(maxBytes: number): ReadRefusal {
  return new ReadRefusal('TOO_LARGE', `The file has more than ${maxBytes} bytes.`);
}

/** Unexpected errors are reported without details, which may name paths outside of the roots. */
function refusalOf(error: unknown): { code: ErrorCode; message: string } {
  if (error instanceof ReadRefusal) return error;
  if (error instanceof PatchFileFault) return { code: codeOf(error), message: error.message };
  if (error instanceof WorkspaceFault) {
    return { code: error.code === 'TooLarge' ? 'TOO_LARGE' : 'FORBIDDEN', message: error.message };
  }
  return { code: 'FORBIDDEN', message: 'The file could not be read.' };
}

function codeOf({ code }: PatchFileFault): ErrorCode {
  if (code === 'NOT_FOUND') return 'NOT_FOUND';
  return code === 'AmbiguousDocPath' ? 'CONFLICT' : 'FORBIDDEN';
}
