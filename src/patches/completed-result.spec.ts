import type { PatchBatch, WritePatchReport } from '@patchbay/protocol';
import { completedResult } from './completed-result.js';

const SHA = 'a'.repeat(64);
const batch: PatchBatch = {
  ...{ batchId: 'b', batchKey: 'key', batchLabel: 'Louder' },
  files: [
    {
      ...{ filePatchId: 'p', fileKey: 'file', docPath: 'repo/a', originalSha256: SHA, fileLabel: 'A' },
      changes: [
        {
          ...{ changeId: 'c', changeKey: 'two', description: 'Why', operation: 'insert', afterLine: 0 },
          newLines: ['x'],
        },
      ],
    },
  ],
};
const report: WritePatchReport = {
  ...{ success: true, batchId: 'b' },
  files: [
    {
      ...{ filePatchId: 'p', status: 'applied', newSha256: SHA },
      changes: [{ changeId: 'c', status: 'applied' }],
    },
  ],
};
const whole = {
  ...{ success: true, batchId: 'b', batchKey: 'key', batchLabel: 'Louder' },
  files: [
    {
      ...{ filePatchId: 'p', fileKey: 'file', docPath: 'repo/a', status: 'applied', originalSha256: SHA },
      ...{ newSha256: SHA, versionId: null, errorCode: null, message: null },
      changes: [
        {
          ...{ changeId: 'c', changeKey: 'two', operation: 'insert', description: 'Why' },
          ...{ status: 'applied', errorCode: null, message: null },
        },
      ],
    },
  ],
};

describe('A reported patch', () => {
  it('is completed from the batch, treating null like absent [PATCH-14]', async () => {
    expect(await completedResult(batch, report)).toEqual(whole);
    const files = [{ ...report.files[0]!, fileKey: null, docPath: null, versionId: null }];
    expect(await completedResult(batch, { ...report, batchKey: null, files })).toEqual(whole);
  });

  it('is unchanged if nothing was omitted', async () => {
    const said = whole as unknown as WritePatchReport;
    expect(await completedResult(batch, said)).toEqual(whole);
  });

  it('applies the client’s file outcome to each change, without nulls', async () => {
    const details = { actualLines: [{ line: 1, text: 'x' }], hint: null, foundAt: 3 };
    const change = { changeId: 'c', status: 'failed', errorCode: 'LINES_MISMATCH', details } as const;
    const files = [{ ...report.files[0]!, changes: [change] }];
    const completed = await completedResult(batch, { ...report, files });
    expect(completed.files[0]!.changes[0]!.details).toEqual({
      actualLines: [{ line: 1, text: 'x' }],
      foundAt: 3,
    });
  });
});
