import { sha256 } from '@patchbay/protocol/hash';
import { newId } from '../../src/common/ids.js';
import type { FileRecord, FileVersion, FolderRecord } from '../../src/storage/ports/files.store.js';
import type { Stores } from './backends.js';
import { NOON } from '../../src/turns/state/turn.sample.js';

export const bytesOf = (text: string): Buffer => Buffer.from(text, 'utf8');

export function aVersion(text: string, changes: Partial<FileVersion> = {}): FileVersion {
  return {
    ...{ id: newId(), number: 1, sha256: sha256(text), sizeBytes: bytesOf(text).length, shape: 'text' },
    ...{ author: newId(), source: 'tool', batchId: null, filePatchId: null, callId: null },
    ...{ isExecutable: null, conflict: false, createdAt: NOON },
    ...changes,
  };
}

export function aFile(
  workspaceId: string,
  path: string,
  text = path,
  changes: Partial<FileRecord> = {},
): FileRecord {
  return {
    ...{ kind: 'file', id: newId(), workspaceId, path, docPath: path.slice(1).toLowerCase(), revision: 1 },
    ...{ lastNumber: 1, head: aVersion(text), createdAt: NOON, updatedAt: NOON, deletedAt: null },
    holder: 'me',
    ...changes,
  };
}

export function aFolder(workspaceId: string, path: string, createdAt = NOON): FolderRecord {
  const docPath = path.slice(1).toLowerCase();
  return { kind: 'folder', id: newId(), workspaceId, path, docPath, createdAt, holder: 'me' };
}

/** The file with a new head. */
export function withHead(file: FileRecord, text: string, changes: Partial<FileVersion> = {}): FileRecord {
  const number = file.lastNumber + 1;
  const head = aVersion(text, { number, ...changes });
  return { ...file, revision: file.revision + 1, lastNumber: number, head, updatedAt: NOON + number };
}

/** The file as it is to be saved. */
export function moved(file: FileRecord, changes: Partial<FileRecord>): FileRecord {
  return { ...file, revision: file.revision + 1, ...changes };
}

/** Stores a file with its path as its text. */
export async function givenFile({ files }: Stores, workspaceId: string, path: string, text = path) {
  const file = aFile(workspaceId, path, text);
  expect(await files.insert(file, bytesOf(text), [])).toBe(true);
  return file;
}

/** Stores a folder. */
export async function givenFolder({ files }: Stores, workspaceId: string, path: string) {
  const folder = aFolder(workspaceId, path);
  expect(await files.insertFolder(folder, [])).toBe(true);
  return folder;
}
