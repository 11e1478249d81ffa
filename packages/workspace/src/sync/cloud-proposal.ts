import { isUtf8 } from 'node:buffer';
import { join } from 'node:path';
import { toDocPath } from '@patchbay/protocol';
import type { FileProposal } from '../approval/approver.js';
import type { Difference } from './differences.js';
import { type FolderSync, rootOf } from './folder-sync.js';
import { readWhole } from './read-file.js';

/** Shows the user what the Cloud's content would change in the local file. */
export async function cloudProposal(
  sync: Pick<FolderSync, 'files' | 'roots' | 'maxFileBytes'>,
  { path, remote }: Difference,
): Promise<FileProposal> {
  const root = rootOf(sync);
  const shown = `${root.name}/${path}`;
  const cloud = remote === null ? null : await sync.files.read(toDocPath(shown));
  const here = textHere(join(root.directory, path), sync.maxFileBytes);
  return { path: shown, before: here, after: cloud === null ? '' : textOf(cloud.bytes) };
}

function textHere(path: string, maxFileBytes: number): string | null {
  try {
    const read = readWhole(path, maxFileBytes);
    return read === null ? null : textOf(read.bytes);
  } catch {
    return null;
  }
}

function textOf(bytes: Uint8Array): string {
  return isUtf8(bytes) ? Buffer.from(bytes).toString('utf8') : `(${bytes.length} bytes that are not text)`;
}
