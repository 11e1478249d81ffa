import type { FilePatch } from '@patchbay/protocol';
import { INSPECT_PATCHES, loadOf } from './patch-jobs.js';

const bytes = Buffer.from('a\n'.repeat(25_000));
const patchOf = (changes: number): FilePatch => ({
  ...{ fileKey: null, fileLabel: null, docPath: 'a.txt' },
  originalSha256: 'a'.repeat(64),
  changes: Array.from({ length: changes }, (_, n) => ({
    ...{ changeKey: null, description: null, operation: 'replace', startLine: n + 1, endLine: n + 1 },
    ...{ expectedOriginalLines: ['b'], newLines: ['c'] },
  })),
});

describe('the inspection of a patch', () => {
  it('runs on a worker for many changes of one text, and inline for few', () => {
    const isAtOnce = (changes: number): boolean =>
      loadOf(bytes, [patchOf(changes)]).bytes <= INSPECT_PATCHES.inlineBytes;
    expect([1, 8, 20, 100].map(isAtOnce)).toEqual([true, true, false, false]);
  });
});
