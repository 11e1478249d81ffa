import type { Json } from '@patchbay/protocol';
import { writePatch } from '@patchbay/protocol';
import { SchemaCheck } from './schema-check.js';

const SHA = 'a'.repeat(64);
const change = (): Json => ({
  operation: 'delete',
  startLine: 1,
  endLine: 1,
  expectedOriginalLines: ['x'],
});
const file = (): Json => ({ docPath: 'r/a', originalSha256: SHA, changes: [change()] });
const times = (count: number, make: (index: number) => Json): Json[] =>
  Array.from({ length: count }, (_, index) => make(index));
const request = new SchemaCheck(writePatch.requestSchema);
const response = new SchemaCheck(writePatch.responseSchema);

/** A result that is as large as a body allows. */
const resultOf = (files: Json[], success: boolean): Json => ({
  ...{ success, batchId: 'b', batchKey: null, batchLabel: null, files },
});
const fileResult = (status: string, errorCode: string | null): Json => ({
  ...{ filePatchId: 'p', fileKey: null, docPath: 'a', status, originalSha256: SHA, versionId: null },
  ...{ newSha256: status === 'applied' ? SHA : null, errorCode, message: null },
  changes: [
    {
      ...{ changeId: 'c', changeKey: null, operation: 'insert', description: null, status: 'applied' },
      ...{ errorCode: null, message: null },
    },
  ],
});

describe('a schema check', () => {
  it('reports no fault of a large valid value', () => {
    expect(request.faultsOf({ files: times(30_000, file) })).toEqual([]);
    expect(
      response.faultsOf(
        resultOf(
          times(20_000, () => fileResult('applied', null)),
          true,
        ),
      ),
    ).toEqual([]);
  });

  it('names every fault of a small value', () => {
    const faults = request.faultsOf({ files: [{ ...(file() as object), docPath: 7, extra: 1 }], mode: 'x' });
    expect(faults).toEqual([
      { path: '/mode', code: 'additionalProperties', message: 'is not a known property' },
      { path: '/files/0/extra', code: 'additionalProperties', message: 'is not a known property' },
      { path: '/files/0/docPath', code: 'type', message: 'must be string, is number' },
    ]);
  });

  it('says how many more faults there are', () => {
    const faults = request.faultsOf({ files: times(50, () => 0) });
    expect(faults).toHaveLength(20);
    expect(faults.at(-1)).toEqual({ path: '', code: 'more', message: 'has 31 more faults' });
  });

  it.each<[string, Json]>([
    ['numbers', { files: times(90_000, () => 0) }],
    ['empty objects', { files: times(90_000, () => ({})) }],
    ['objects of unknown properties', { files: times(40_000, () => ({ a: 1, b: 2, c: 3 })) }],
    [
      'unknown properties',
      Object.fromEntries(times(50_000, (at) => `k${String(at)}`).map((key) => [key, 1])),
    ],
    [
      'lines that are none',
      { files: [{ ...(file() as object), changes: [{ newLines: times(400_000, () => 0) }] }] },
    ],
    ['changes that are none', { files: [{ ...(file() as object), changes: times(400_000, () => ({})) }] }],
  ])('names faults of a sample of %s, and says that there may be more', (_what, value) => {
    const faults = request.faultsOf(value);
    expect(faults.length).toBeGreaterThan(1);
    expect(faults.length).toBeLessThanOrEqual(20);
    expect(faults.at(-1)).toMatchObject({ path: '', code: 'more' });
    expect(faults.at(-1)!.message).toContain('may be more');
  });

  it('names a fault at the far end, and none that exists only in a sample', () => {
    const files = times(20_000, file);
    files[19_000] = { ...(file() as object), originalSha256: 'short' };
    expect(request.faultsOf({ files })).toEqual([
      expect.objectContaining({ path: '/files/19000/originalSha256', code: 'pattern' }),
      expect.objectContaining({ code: 'more' }),
    ]);
    const late = [...times(20_000, () => fileResult('rejected', null)), fileResult('applied', null)];
    expect(response.faultsOf(resultOf([...late, 0], true))).toEqual([
      expect.objectContaining({ path: '/files/20001', code: 'type' }),
      expect.objectContaining({ code: 'more' }),
    ]);
  });

  it('refuses an overlong list before any rule about its items', () => {
    expect(
      response.faultsOf(
        resultOf(
          times(100_001, () => ({})),
          true,
        ),
      ),
    ).toEqual([
      { path: '/files', code: 'maxItems', message: 'must NOT have more than 100000 items, has 100001' },
    ]);
  });
});
