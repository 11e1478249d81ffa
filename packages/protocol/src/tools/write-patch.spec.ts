import { Ajv } from 'ajv';
import { parsePatchBatch } from '../line-patch.js';
import type { WritePatchReport, WritePatchResult } from './patch-result.js';
import { writePatch } from './write-patch.js';

const ajv = new Ajv({ strict: true, strictTypes: true, allErrors: true });
const isRequest = ajv.compile(writePatch.requestSchema);
const isResponse = ajv.compile(writePatch.responseSchema);

const SHA = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
const changes = [
  { changeKey: 'k', operation: 'insert', description: 'why', afterLine: 5, newLines: ['using A;'] },
  { operation: 'replace', startLine: 42, endLine: 42, expectedOriginalLines: ['a'], newLines: ['a', 'b'] },
  { operation: 'delete', startLine: 100, endLine: 101, expectedOriginalLines: ['', 'x'] },
];
const file = { fileKey: 'f', docPath: 'repo/a.cs', originalSha256: SHA, fileLabel: 'l', changes };
const request = { batchLabel: 'l', batchKey: 'k', files: [file] };

function resultWith(
  success: boolean,
  ...files: Partial<WritePatchResult['files'][number]>[]
): WritePatchResult {
  const change = { changeId: 'c', changeKey: null, description: null, errorCode: null, message: null };
  const base = { filePatchId: 'p', fileKey: null, docPath: 'a', originalSha256: SHA, versionId: null };
  return {
    success,
    batchId: 'b',
    batchKey: null,
    batchLabel: null,
    files: files.map((more) => ({
      ...base,
      status: 'applied',
      newSha256: SHA,
      errorCode: null,
      message: null,
      changes: [{ ...change, operation: 'insert', status: 'applied' }],
      ...more,
    })),
  };
}

describe('the contract of workspace_write_patch', () => {
  it('accepts a request with all three operations, in the schema and in the parser', () => {
    expect(isRequest(request)).toBe(true);
    expect(parsePatchBatch(request).ok).toBe(true);
  });

  it.each([
    ['an unknown field', { ...request, mode: 'force' }],
    ['no files', { files: [] }],
    ['no change', { files: [{ ...file, changes: [] }] }],
    ['newLines on a delete', { files: [{ ...file, changes: [{ ...changes[2], newLines: ['x'] }] }] }],
    ['empty newLines', { files: [{ ...file, changes: [{ ...changes[0], newLines: [] }] }] }],
    ['a number as a string', { files: [{ ...file, changes: [{ ...changes[0], afterLine: '5' }] }] }],
    ['newEndings', { files: [{ ...file, changes: [{ ...changes[0], newEndings: ['\n'] }] }] }],
    ['a short sha256', { files: [{ ...file, originalSha256: 'abc' }] }],
  ])('rejects %s, in the schema and in the parser', (_what, input) => {
    expect(isRequest(input)).toBe(false);
    expect(parsePatchBatch(input).ok).toBe(false);
  });

  it('accepts a successful result, also if a person rejected a file', () => {
    expect(isResponse(resultWith(true, {}))).toBe(true);
    expect(isResponse(resultWith(true, {}, { status: 'rejected', newSha256: null }))).toBe(true);
  });

  it('accepts a failed result with a reason', () => {
    const conflict = {
      status: 'conflict',
      newSha256: null,
      errorCode: 'STALE',
      message: 'moved on',
    } as const;
    expect(isResponse(resultWith(false, conflict, { status: 'skipped', newSha256: null }))).toBe(true);
    expect(isResponse(resultWith(false, { ...conflict, errorCode: null }))).toBe(false);
  });

  it('rejects a result whose success contradicts its files [PATCH-4]', () => {
    expect(isResponse(resultWith(true, { status: 'rejected', newSha256: null }))).toBe(false);
    expect(isResponse(resultWith(true, {}, { status: 'failed', newSha256: null, errorCode: 'X' }))).toBe(
      false,
    );
    expect(isResponse(resultWith(false, {}))).toBe(false);
  });

  it('rejects a result without ids or without the hash of a written file', () => {
    expect(isResponse(resultWith(true, { newSha256: null }))).toBe(false);
    const { batchId: _none, ...rest } = resultWith(true, {});
    expect(isResponse(rest)).toBe(false);
  });

  it('accepts a result without nulls and without what the batch already says [PATCH-14]', () => {
    const change = { changeId: 'c', status: 'applied' } as const;
    const short: WritePatchReport = {
      ...{ success: true, batchId: 'b' },
      files: [{ filePatchId: 'p', status: 'applied', newSha256: SHA, changes: [change] }],
    };
    expect(isResponse(short)).toBe(true);
    const files = [{ ...short.files[0]!, fileKey: null, versionId: null, message: null }];
    expect(isResponse({ ...short, files })).toBe(true);
    for (const left of ['filePatchId', 'status', 'newSha256', 'changes']) {
      const { [left]: _left, ...file } = short.files[0] as unknown as Record<string, unknown>;
      expect([left, isResponse({ ...short, files: [file] })]).toEqual([left, false]);
    }
  });

  it('accepts what a change reports of the file if it did not fit, within limits [PATCH-14]', () => {
    const result = (details: unknown) => ({
      ...{ success: false, batchId: 'b' },
      files: [
        {
          ...{ filePatchId: 'p', status: 'conflict', errorCode: 'LINES_MISMATCH' },
          changes: [{ changeId: 'c', status: 'failed', errorCode: 'LINES_MISMATCH', details }],
        },
      ],
    });
    const lines = (count: number) => Array.from({ length: count }, (_, at) => ({ line: at + 1, text: 'x' }));
    const details = { actualLines: lines(50), omittedLines: 2, hint: 'tabs', foundAt: 3, lineCount: 60 };
    expect(isResponse(result({ ...details, currentSha256: SHA }))).toBe(true);
    expect(isResponse(result(null))).toBe(true);
    for (const wrong of [
      { actualLines: lines(51) },
      { foundAt: 0 },
      { more: 1 },
      { currentSha256: 'x' },
      [],
    ]) {
      expect([wrong, isResponse(result(wrong))]).toEqual([wrong, false]);
    }
  });

  it('tells the model which text outranks which', () => {
    expect(writePatch.guidance).toContain(
      'Active file before folder before Cloud file, and search results never',
    );
  });
});
