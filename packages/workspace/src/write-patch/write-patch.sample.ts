import {
  type Approval,
  type PatchBatch,
  type PatchFileResult,
  writePatch as contract,
  type WritePatchResult,
} from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { parsePatchBatch } from '@patchbay/protocol/line-patch';
import { Ajv } from 'ajv';

import { type FileSystem } from '../disk/file-system.js';
import { executeWritePatch, type PatchContext } from './execute-write-patch.js';
import { isTemp, WalkedFolder } from '../disk/walked-folder.sample.js';

/* Batches and the folder that they patch, for tests; not part of the build. */

const isValidResult = new Ajv({ allowUnionTypes: true }).compile(contract.responseSchema);
export const allow: Approval = { decision: 'allow', by: 'ada', at: '2026-01-01T00:00:00.000Z' };

export const replace = (line: number, from: string, to: string) => ({
  operation: 'replace',
  startLine: line,
  endLine: line,
  expectedOriginalLines: [from],
  newLines: [to],
});
export const insert = (afterLine: number, ...newLines: string[]) => ({
  operation: 'insert',
  afterLine,
  newLines,
});

export interface Proposed {
  docPath: string;
  original: string | Uint8Array;
  changes: object[];
  fileKey?: string;
}

/** A batch as the server delivers it: file n has the id `f<n>`, its changes `f<n>c<m>`. */
export function batchOf(...files: Proposed[]): PatchBatch {
  const parsed = parsePatchBatch(
    {
      batchId: 'b',
      batchKey: 'key',
      files: files.map(({ docPath, original, changes, fileKey }, file) => ({
        filePatchId: `f${file}`,
        fileKey,
        docPath,
        originalSha256: sha256(original),
        changes: changes.map((change, index) => ({ changeId: `f${file}c${index}`, ...change })),
      })),
    },
    { trusted: true },
  );
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.faults));
  return parsed.batch;
}

export const statuses = ({ files }: WritePatchResult) => files.map(({ status }) => status);
export const only = ({ files }: WritePatchResult): PatchFileResult => files[0]!;

export class PatchedFolder extends WalkedFolder {
  constructor(hasHandlePaths: boolean) {
    super('patchbay-patch-', 'Repo', hasHandlePaths);
  }

  readonly patch = async (
    batch: PatchBatch,
    more: Partial<PatchContext> & { approval?: Approval; faults?: Partial<FileSystem> } = {},
  ): Promise<WritePatchResult> => {
    const { approval = null, faults, ...rest } = more;
    const result = await executeWritePatch(
      { ...this.context, fs: { ...this.fs, ...faults }, ...rest },
      batch,
      approval,
    );
    expect([isValidResult(result), isValidResult.errors]).toEqual([true, null]);
    for (const { message } of result.files)
      expect(message ?? '').not.toMatch(/patchbay-patch|\/proc\/|\/secret/);
    expect((await this.tree()).filter(isTemp)).toEqual([]);
    return result;
  };
}
