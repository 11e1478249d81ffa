import { type CreateFileErrorCode, type CreateFileResult, normalizeText } from '@patchbay/protocol';

import { toForwardSlashes } from '../disk/relative-path.js';
import { bytesOf } from '../disk/utf8.js';
import { ATTRIBUTES_LOST, WorkspaceFault } from '../disk/workspace-fault.js';
import { docPathOf, type LocatedPath } from '../disk/located-path.js';

/** Resolves a path, as WorkspaceRoots does. */
export interface PathFinder {
  locate(path: string): LocatedPath;
}

/** A create whose arguments are valid. The disk is not checked yet. */
export interface CreateFilePlan {
  readonly located: LocatedPath;
  /** The file's folder below the root, and its name. */
  readonly folder: readonly string[];
  readonly name: string;
  /** The text to write: `\n` endings, no BOM. */
  readonly text: string;
  readonly bytes: Uint8Array;
  readonly overwrite: boolean;
}

/**
 * Checks the arguments and normalizes the content. The size limit applies after that [CREATE-2] [CREATE-3].
 * @throws WorkspaceFault InvalidPath, WriteFailed for content that is not text, TooLarge
 */
export function planCreateFile(roots: PathFinder, args: unknown, maxFileBytes: number): CreateFilePlan {
  const { path, content, overwrite } = (args ?? {}) as Record<string, unknown>;
  if (typeof path !== 'string') throw new WorkspaceFault('InvalidPath', 'The path is missing.');
  const located = roots.locate(path);
  if (typeof content !== 'string')
    throw new WorkspaceFault('WriteFailed', 'The content is missing or is not text.');
  if (overwrite != null && typeof overwrite !== 'boolean') {
    throw new WorkspaceFault('WriteFailed', 'overwrite is neither true nor false.');
  }
  if (!content.isWellFormed()) {
    throw new WorkspaceFault(
      'WriteFailed',
      'The content is not valid Unicode: it has a lone surrogate. Nothing was written.',
    );
  }
  const text = normalizeText(content);
  const bytes = bytesOf(text);
  const sizeBytes = bytes.length;
  if (sizeBytes > maxFileBytes) {
    throw new WorkspaceFault(
      'TooLarge',
      `The content has ${sizeBytes} bytes; at most ${maxFileBytes} are allowed.`,
    );
  }
  return {
    located,
    folder: located.segments.slice(0, -1),
    name: located.segments.at(-1)!,
    text,
    bytes,
    overwrite: overwrite ?? false,
  };
}

/** The file has changed since the user decided about it. */
export class FileChangedSinceApproval extends WorkspaceFault {
  constructor() {
    super(
      'FileExists',
      'The file was changed after its replacement was approved, so it was not replaced. ' +
        'Read it, and call again if its current content is to be replaced.',
    );
  }
}

/** The path of a result. */
export interface ShownPath {
  /** Normalized if valid, else as given with forward slashes. */
  path: string;
  /** Null if the path is invalid. */
  docPath: string | null;
}

/** The path of a result, from the call's arguments. */
export function shownPath(roots: PathFinder, args: unknown): ShownPath {
  const path = (args as { path?: unknown } | null | undefined)?.path;
  if (typeof path !== 'string') return { path: '', docPath: null };
  try {
    const located = roots.locate(path);
    return { path: located.requested, docPath: docPathOf(located) };
  } catch {
    return { path: toForwardSlashes(path).toWellFormed(), docPath: null };
  }
}

/** The result of a create that wrote nothing [CREATE-4]. */
export function failedCreate(
  { path, docPath }: ShownPath,
  errorCode: CreateFileErrorCode,
  message: string,
): CreateFileResult {
  return {
    success: false,
    message,
    path,
    ...(docPath !== null && errorCode !== 'InvalidPath' && { docPath }),
    sizeBytes: 0,
    hash: '',
    created: false,
    overwritten: false,
    errorCode,
  };
}

/** The result of a create that failed with `error`. Unexpected errors become UnhandledException without details. */
export function failureOf(path: ShownPath, error: unknown): CreateFileResult {
  if (error instanceof WorkspaceFault) return failedCreate(path, error.code, error.message);
  return failedCreate(path, 'UnhandledException', 'An unexpected error; nothing was written.');
}

/** The result of a successful create. */
export function succeededCreate(file: {
  path: string;
  docPath: string | null;
  sizeBytes: number;
  sha256: string;
  replaced: boolean;
  /** The file was replaced in the editor and is not saved. */
  isUnsaved?: boolean;
  /** The replaced file may have had attributes that the new one lacks. */
  hasLostAttributes?: boolean;
}): CreateFileResult {
  const replaced = file.isUnsaved
    ? 'File overwritten in the editor, where it is open with changes that are not saved; nothing was written on the disk.'
    : 'File overwritten.';
  return {
    success: true,
    message: [
      file.replaced ? replaced : 'File created.',
      ...(file.hasLostAttributes ? [ATTRIBUTES_LOST] : []),
    ].join(' '),
    path: file.path,
    ...(file.docPath !== null && { docPath: file.docPath }),
    sizeBytes: file.sizeBytes,
    hash: file.sha256,
    created: !file.replaced,
    overwritten: file.replaced,
    errorCode: null,
  };
}
