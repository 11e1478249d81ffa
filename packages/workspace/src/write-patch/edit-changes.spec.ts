import fc from 'fast-check';
import type { FilePatch } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { applyFilePatch, parsePatchBatch } from '@patchbay/protocol/line-patch';
import { editBatch } from './edit-batch.js';
import { editChanges } from './edit-changes.js';

const ORIGINAL = 'one\ntwo\nthree\nfour\nfive\n';

function patchOf(original: string, changes: object[]): FilePatch {
  const withIds = changes.map((change, at) => ({ changeId: `c${at}`, ...change }));
  const file = {
    filePatchId: 'f',
    docPath: 'repo/a',
    originalSha256: sha256(original),
    changes: withIds,
  };
  const parsed = parsePatchBatch({ batchId: 'b', files: [file] }, { trusted: true });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.faults));
  return parsed.batch.files[0]!;
}

const replace = (line: number, from: string, ...to: string[]) => ({
  operation: 'replace',
  ...{
    startLine: line,
    endLine: line,
    expectedOriginalLines: [from],
    newLines: to,
    description: `at ${line}`,
  },
});
const insert = (afterLine: number, ...newLines: string[]) => ({ operation: 'insert', afterLine, newLines });

const appliedTo = (original: string, patch: FilePatch): string => {
  const applied = applyFilePatch(Buffer.from(original), patch);
  if (!applied.ok) throw new Error(JSON.stringify(applied.faults));
  return Buffer.from(applied.bytes).toString();
};
const PATCH = patchOf(ORIGINAL, [replace(1, 'one', '1'), insert(3, 'new'), replace(5, 'five', '5')]);

describe('editChanges', () => {
  it('assigns edited lines to the change at their place, with its id and description [PATCH-6]', () => {
    const { changes, undone } = editChanges(ORIGINAL, PATCH, 'I\ntwo\nthree\nNEW\nMORE\nfour\n5\n');
    expect(undone).toEqual([]);
    expect(changes).toMatchObject([
      { changeId: 'c0', operation: 'replace', startLine: 1, newLines: ['I'], description: 'at 1' },
      { changeId: 'c1', operation: 'insert', afterLine: 3, newLines: ['NEW', 'MORE'] },
      { changeId: 'c2', operation: 'replace', startLine: 5, newLines: ['5'] },
    ]);
  });

  it('reports a change as undone if the original lines are back', () => {
    const { changes, undone } = editChanges(ORIGINAL, PATCH, 'one\ntwo\nthree\nnew\nfour\n5\n');
    expect(undone).toEqual(['c0']);
    expect(changes[0]).toEqual(PATCH.changes[0]);
  });

  it('assigns other edited lines to the nearest change', () => {
    const { changes } = editChanges(ORIGINAL, PATCH, '1\nTWO\nthree\nnew\nfour\n5\nsix\n');
    expect(changes).toMatchObject([
      { startLine: 1, endLine: 2, expectedOriginalLines: ['one', 'two'], newLines: ['1', 'TWO'] },
      { afterLine: 3, newLines: ['new'] },
      { startLine: 5, endLine: 5, newLines: ['5', 'six'] },
    ]);
  });

  it('splits an edit that spans several changes', () => {
    const text = 'all\nof it\nis other\n';
    const { changes, undone } = editChanges(ORIGINAL, PATCH, text);
    const kept = changes.filter(({ changeId }) => !undone.includes(changeId!));
    expect(appliedTo(ORIGINAL, { ...PATCH, changes: kept })).toBe(text);
  });

  it('expresses every edited text as changes of the patch', () => {
    const word = fc.constantFrom('a', 'b', 'c', '');
    const lines = fc.array(word, { minLength: 1, maxLength: 8 });
    const places = fc.uniqueArray(fc.nat({ max: 7 }), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(lines, places, lines, fc.boolean(), (before, at, after, crlf) => {
        const ending = crlf ? '\r\n' : '\n';
        const original = before.map((line) => line + ending).join('');
        const changes = at
          .filter((line) => line < before.length)
          .sort((a, b) => a - b)
          .map((line) => (line % 2 ? insert(line, 'x') : replace(line + 1, before[line]!, 'x', 'y')));
        fc.pre(changes.length > 0);
        const patch = patchOf(original, changes);
        const edited = editChanges(original, patch, after.map((line) => `${line}\n`).join(''));
        expect(edited.changes.map(({ changeId }) => changeId)).toEqual(patch.changes.map((c) => c.changeId));
        const kept = edited.changes.filter(({ changeId }) => !edited.undone.includes(changeId!));
        const made = kept.length === 0 ? original : appliedTo(original, { ...patch, changes: kept });
        expect(made).toBe(after.map((line) => line + ending).join(''));
        if (kept.length > 0) {
          const parsed = parsePatchBatch({ files: [{ ...patch, changes: edited.changes }] });
          expect([parsed.ok, parsed]).toEqual([true, parsed]);
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('editBatch', () => {
  const batch = { batchId: 'b', batchKey: null, batchLabel: null, files: [PATCH] };
  const changes = PATCH.changes;
  const preview = {
    path: 'repo/A',
    before: ORIGINAL,
    after: appliedTo(ORIGINAL, PATCH),
    diff: 'd',
    label: 'l',
    changes,
  };

  it('returns the edited text with its diff and arguments', () => {
    const { files, editedArguments } = editBatch(batch, [preview], ['1\ntwo\nthree\nfour\nV\n']);
    expect(files[0]).toMatchObject({ path: 'repo/A', before: ORIGINAL, patch: { label: 'l' } });
    expect(files[0]!.patch!.diff).toContain('-five\n+V\n');
    expect(files[0]!.patch!.changes.map(({ changeId }) => changeId)).toEqual(['c0', 'c2']);
    expect(editedArguments).toMatchObject({ files: [{ filePatchId: 'f', changes: [{}, {}, {}] }] });
  });

  it('keeps an unedited file as it was shown', () => {
    expect(editBatch(batch, [preview], [preview.after]).files[0]!.patch!.diff).toBe('d');
  });

  it.each([
    ['no change is left', ORIGINAL, 'To refuse it, deny it'],
    ['it is not text', 'a\0b\n', 'is not text'],
    ['a line holds a carriage return', 'a\rb\n', 'The edit cannot be a patch'],
  ])('rejects an edit if %s', (_what, text, message) => {
    expect(() => editBatch(batch, [preview], [text])).toThrow(message);
  });
});
