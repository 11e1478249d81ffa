import type { Approval, PatchBatch } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { applyBatch } from './apply-batch.js';

const TEXT = '\u{feff}one\r\ntwo\r\nthree';

function fileOf(docPath: string, expected = 'two', text = TEXT): PatchBatch['files'][number] {
  const change = { operation: 'replace', startLine: 2, endLine: 2 } as const;
  const said = { expectedOriginalLines: [expected], newLines: ['TWO', '2'] };
  const second = { operation: 'delete', startLine: 3, endLine: 3 } as const;
  const common = { changeKey: null, description: null };
  return {
    ...{ filePatchId: `f-${docPath}`, fileKey: null, docPath, originalSha256: sha256(text), fileLabel: null },
    changes: [
      { ...change, ...said, ...common, changeId: `${docPath}-1` },
      { ...second, ...common, expectedOriginalLines: ['three'], changeId: `${docPath}-2` },
    ],
  };
}

function batchOf(...files: PatchBatch['files']): PatchBatch {
  return { batchId: 'b', batchKey: 'key', batchLabel: null, files };
}

const texts = () =>
  new Map([
    ['r/a.txt', TEXT],
    ['r/b.txt', TEXT],
  ]);

describe('applyBatch', () => {
  it('returns the result and the new texts with their endings and byte order mark, and changes nothing', () => {
    const held = texts();
    const { result, files } = applyBatch(batchOf(fileOf('r/a.txt')), held);
    const text = '\u{feff}one\r\nTWO\r\n2';
    expect(files).toMatchObject([{ docPath: 'r/a.txt', before: TEXT, text, sha256: sha256(text) }]);
    expect(result).toMatchObject({ success: true, batchId: 'b', batchKey: 'key' });
    expect(result.files).toMatchObject([
      { status: 'applied', newSha256: sha256(text), changes: [{ status: 'applied' }, { status: 'applied' }] },
    ]);
    expect(held).toEqual(texts());
  });

  it('leaves out rejected changes', () => {
    const approval: Approval = { decision: 'allow', by: 'ada', at: '', rejectedChangeIds: ['r/a.txt-1'] };
    const { result, files } = applyBatch(batchOf(fileOf('r/a.txt')), texts(), { approval });
    expect(files.map(({ text }) => text)).toEqual(['\u{feff}one\r\ntwo\r\n']);
    expect(result.files[0]!.changes.map(({ status }) => status)).toEqual(['rejected', 'applied']);
  });

  it.each([
    ['a changed text', fileOf('r/b.txt', 'two', 'else'), 'conflict', 'STALE', ['failed', 'failed']],
    ['other lines', fileOf('r/b.txt', 'zwei'), 'conflict', 'LINES_MISMATCH', ['failed', 'skipped']],
    ['no text', fileOf('r/c.txt'), 'failed', 'NOT_FOUND', ['failed', 'failed']],
  ])('applies nothing if one file has %s', (_what, file, status, errorCode, changes) => {
    const { result, files } = applyBatch(batchOf(fileOf('r/a.txt'), file), texts());
    expect(files).toEqual([]);
    expect(result).toMatchObject({ success: false, files: [{ status: 'skipped' }, { status, errorCode }] });
    expect(result.files[1]!.changes.map((change) => change.status)).toEqual(changes);
  });

  it('rejects a text above the limit', () => {
    const { result } = applyBatch(batchOf(fileOf('r/a.txt')), texts(), { maxFileBytes: 10 });
    expect(result.files).toMatchObject([{ status: 'failed', errorCode: 'TOO_LARGE' }]);
  });
});
