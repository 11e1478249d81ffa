import { createFile as contract } from '@patchbay/protocol';
import { Ajv } from 'ajv';

import { type FileSystem } from '../disk/file-system.js';
import type { WorkspaceContext } from '../disk/workspace-context.js';
import { executeCreateFile } from './execute-create-file.js';
import { WalkedFolder } from '../disk/walked-folder.sample.js';

/* Creates in a folder, for tests; not part of the build. */

const isValidResult = new Ajv().compile(contract.responseSchema);

export const refusal = (path: string, errorCode: string) => ({
  success: false,
  message: expect.any(String) as string,
  path,
  ...(errorCode !== 'InvalidPath' && { docPath: `root/${path}`.toLowerCase() }),
  sizeBytes: 0,
  hash: '',
  created: false,
  overwritten: false,
  errorCode,
});

export class CreatedIn extends WalkedFolder {
  constructor(hasHandlePaths: boolean) {
    super('patchbay-create-', 'root', hasHandlePaths);
  }

  readonly create = async (
    args: unknown,
    faults: Partial<FileSystem> = {},
    more: Partial<WorkspaceContext> = {},
  ) => {
    const result = await executeCreateFile({ ...this.context, fs: { ...this.fs, ...faults }, ...more }, args);
    expect(isValidResult(result)).toBe(true);
    expect(result.message).not.toMatch(/patchbay-create|\/proc\/|secret(?!s)|E[A-Z]{4,}/);
    return result;
  };
}
