import { applyFilePatch, invertFilePatch, parsePatchBatch } from '../line-patch.js';
import type { FilePatch } from '../patch-batch.js';

const SHA = '0'.repeat(64);
const NEW_SHA = '1'.repeat(64);

function inverseOf(content: string, ...changes: unknown[]): FilePatch {
  const file = { docPath: 'a', fileKey: 'f', fileLabel: 'L', originalSha256: SHA, changes };
  const parsed = parsePatchBatch({ files: [file] });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.faults));
  const patch = parsed.batch.files[0] as FilePatch;
  const result = invertFilePatch(Buffer.from(content), patch, NEW_SHA);
  if (!result.ok) throw new Error(JSON.stringify(result.faults));
  const applied = applyFilePatch(Buffer.from(content), patch);
  const back = applied.ok && applyFilePatch(applied.bytes, result.patch);
  expect(back && back.ok && Buffer.from(back.bytes).toString()).toBe(content);
  return result.patch;
}

const range = (operation: string, startLine: number, endLine: number, expectedOriginalLines: string[]) => ({
  operation,
  startLine,
  endLine,
  expectedOriginalLines,
});
const insert = (afterLine: number, ...newLines: string[]) => ({ operation: 'insert', afterLine, newLines });

describe('inverting a file patch', () => {
  it('has the new sha256 and keeps docPath, keys and descriptions', () => {
    const inverse = inverseOf('a\n', { ...insert(0, 'x'), changeKey: 'k', description: 'add x' });
    expect(inverse).toMatchObject({
      docPath: 'a',
      fileKey: 'f',
      fileLabel: 'Revert: L',
      originalSha256: NEW_SHA,
    });
    expect(inverse.changes[0]).toMatchObject({ changeKey: 'k', description: 'Revert: add x' });
  });

  it.each([
    ['a\r\nb\r\n', 'a\r', 'a'],
    ['a\r\r\nb\r\n', 'a\r', 'a\r'],
    ['a\r\r\nb\r\n', 'a', 'a\r'],
    ['a\r', 'a', 'a\r'],
  ])('restores the line of %j that was expected as %j [LINE-2]', (content, expected, text) => {
    const replaced = { ...range('replace', 1, 1, [expected]), newLines: ['x'] };
    expect(inverseOf(content, replaced).changes).toMatchObject([{ newLines: [text] }]);
    expect(inverseOf(content, range('delete', 1, 1, [expected])).changes).toMatchObject([
      { newLines: [text] },
    ]);
  });

  it('turns each change into its opposite at its place in the new file', () => {
    const inverse = inverseOf('a\nb\nc\nd\n', insert(0, 'x', 'y'), range('delete', 2, 2, ['b']), {
      ...range('replace', 3, 3, ['c']),
      newLines: ['C', 'CC'],
    });
    expect(inverse.changes).toMatchObject([
      range('delete', 1, 2, ['x', 'y']),
      insert(3, 'b'),
      { ...range('replace', 4, 5, ['C', 'CC']), newLines: ['c'] },
    ]);
  });

  it('has newEndings only if the line rules would not restore the endings', () => {
    const plain = inverseOf('a\r\nb\r\n', range('delete', 2, 2, ['b']));
    expect(plain.changes[0]).not.toHaveProperty('newEndings');
    const exact = inverseOf('a\r\nb\nc\r\n', range('delete', 2, 2, ['b']));
    expect(exact.changes[0]).toMatchObject({ newLines: ['b'], newEndings: ['\n'] });
  });

  it('removes the ending that an append gave to the last line', () => {
    expect(inverseOf('a\nb', insert(2, 'x'), insert(2, 'y')).changes).toMatchObject([
      { ...range('replace', 2, 3, ['b', 'x']), newLines: ['b'] },
      range('delete', 4, 4, ['y']),
    ]);
  });

  it('restores a last line without ending, a carriage return in a line, and an emptied file', () => {
    inverseOf('a\nb', range('delete', 2, 2, ['b']));
    inverseOf('a\rb\n', range('delete', 1, 1, ['a\rb']));
    inverseOf('\uFEFFa\r\nb', range('delete', 1, 2, ['a', 'b']));
    inverseOf('a\nb', { ...range('replace', 2, 2, ['b']), newLines: [''] });
  });

  it('must be parsed as trusted if it has newEndings', () => {
    const inverse = inverseOf('a\nb', range('delete', 2, 2, ['b']));
    expect(parsePatchBatch({ files: [inverse] }).ok).toBe(false);
    expect(parsePatchBatch({ files: [inverse] }, { trusted: true }).ok).toBe(true);
  });

  it('reports why a patch that does not apply has no inverse', () => {
    const changes = [{ ...insert(5, 'x'), changeKey: null, description: null }] as FilePatch['changes'];
    const patch: FilePatch = { docPath: 'a', fileKey: null, fileLabel: null, originalSha256: SHA, changes };
    const result = invertFilePatch(Buffer.from('a\n'), patch, NEW_SHA);
    expect(result).toMatchObject({ ok: false, faults: [{ code: 'RANGE_BEYOND_END' }] });
  });
});
