import { type CreateFileResult, DEFAULT_MAX_FILE_BYTES } from '@patchbay/protocol';

import { type FileContent, hashFile, readFile, statFile } from '../disk/file-entry.js';
import { type FileSystem, realFileSystem } from '../disk/file-system.js';
import { openDirectory } from '../disk/open-directory.js';
import { fileExists, WorkspaceFault } from '../disk/workspace-fault.js';
import type { PatchContext } from '../write-patch/execute-write-patch.js';
import { dirtyBuffer } from './create-in-buffer.js';
import { planOnDisk, refuseHidden } from './locate-on-disk.js';
import { type CreateFilePlan, failureOf, planCreateFile, shownPath } from './create-file-plan.js';

/** What a create would do, for the user's decision and for the match of `--allow` against `path`. */
export interface CreateFilePreview {
  /** Workspace path in the spelling of the disk; as requested if the call is refused. */
  path: string;
  kind: 'new' | 'overwrite' | 'refused';
  /**
   * The current text of the file that would be replaced, with unsaved changes; null if there is none or it cannot be
   * shown.
   */
  before: string | null;
  /** Of the file that would be replaced, even if it cannot be shown; null if there is none. */
  beforeSha256: string | null;
  /** Why `before` is null for an existing file. */
  hidden: 'binary' | 'too_large' | null;
  /** The text to write: `\n` endings, no BOM; "" if refused. */
  after: string;
  /** Bytes to write. */
  sizeBytes: number;
  /** The result to report without asking the user; null unless `kind` is `refused`. */
  refusal: CreateFileResult | null;
}

/** Reads the editor and the disk, changes nothing and never throws. The answer may be outdated when the call runs. */
export async function previewCreateFile(context: PatchContext, args: unknown): Promise<CreateFilePreview> {
  try {
    const maxFileBytes = context.maxFileBytes ?? DEFAULT_MAX_FILE_BYTES;
    const requested = planCreateFile(context.roots, args, maxFileBytes);
    await refuseHidden(context, requested);
    const plan = await planOnDisk(context, requested);
    const existing = await currentText(context, plan, maxFileBytes);
    return {
      path: plan.located.path,
      kind: existing ? 'overwrite' : 'new',
      before: existing?.text ?? null,
      beforeSha256: existing?.sha256 ?? null,
      hidden: existing?.hidden ?? null,
      after: plan.text,
      sizeBytes: plan.bytes.length,
      refusal: null,
    };
  } catch (error) {
    const refusal = failureOf(shownPath(context.roots, args), error);
    return {
      path: refusal.path,
      kind: 'refused',
      before: null,
      beforeSha256: null,
      hidden: null,
      after: '',
      sizeBytes: 0,
      refusal,
    };
  }
}

/** The sha256 of the file that a create would replace now; null if there is none or the create would fail. */
export async function sha256ToReplace(context: PatchContext, args: unknown): Promise<string | null> {
  return (await previewCreateFile(context, args)).beforeSha256;
}

type CurrentText = { sha256: string | null } & (
  { text: string; hidden: null } | { text: null; hidden: 'binary' | 'too_large' }
);

async function currentText(
  context: PatchContext,
  plan: CreateFilePlan,
  maxBytes: number,
): Promise<CurrentText | null> {
  const buffer = await dirtyBuffer(context, plan);
  return buffer ? asText(buffer) : textOnDisk(context.fs ?? realFileSystem, plan, maxBytes);
}

async function textOnDisk(
  fs: FileSystem,
  plan: CreateFilePlan,
  maxBytes: number,
): Promise<CurrentText | null> {
  const directory = await openDirectory(fs, plan.located.root.directory, plan.folder);
  if (!directory) return null;
  try {
    if (!(await statFile(fs, directory, plan.name))) return null;
    if (!plan.overwrite) throw fileExists();
    const file = await readFile(fs, directory, plan.name, maxBytes);
    return file && asText(file);
  } catch (error) {
    if (!(error instanceof WorkspaceFault && error.code === 'TooLarge')) throw error;
    const hashed = await hashFile(fs, directory, plan.name);
    return { text: null, hidden: 'too_large', sha256: hashed?.sha256 ?? null };
  } finally {
    await directory.close();
  }
}

function asText({ bytes, sha256 }: Pick<FileContent, 'bytes' | 'sha256'>): CurrentText {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.includes('\0') ? { text: null, hidden: 'binary', sha256 } : { text, hidden: null, sha256 };
  } catch {
    return { text: null, hidden: 'binary', sha256 };
  }
}
