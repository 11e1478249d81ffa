import fc from 'fast-check';
import {
  applyFilePatch,
  checkFilePatch,
  diffToChanges,
  invertFilePatch,
  parsePatchBatch,
  selectChanges,
  splitLines,
} from '../line-patch.js';
import type { FilePatch } from '../patch-batch.js';

const SHA = 'a'.repeat(64);
const text = fc.constantFrom(
  '',
  'a',
  'b',
  'c',
  'ä',
  ' a',
  'a\rb',
  '\u2028',
  'x\u0085y',
  '\u{1F600}',
  '\uFEFFz',
);
const ending = fc.constantFrom('\n', '\r\n');
const bom = fc.constantFrom('', '', '\uFEFF');

const body = fc
  .tuple(
    fc.array(fc.tuple(text, ending), { maxLength: 12 }),
    fc.constantFrom('', '', 'a', 'end', 'e\r', '\r'),
  )
  .map(([lines, last]) => lines.map((line) => line.join('')).join('') + last);
/** Text that starts with U+FEFF would have a byte order mark, so only `bom` decides about it. */
const file = fc
  .tuple(bom, body)
  .map(([mark, content]) => mark + (mark === '' ? content.replace(/^\uFEFF+/, '') : content));

const bytesOf = (content: string) => Buffer.from(content);
const patchOf = (changes: unknown[]) => ({ docPath: 'repo/file.txt', originalSha256: SHA, changes });

function parsed(patch: unknown, trusted: boolean): FilePatch {
  const result = parsePatchBatch({ files: [patch] }, { trusted });
  if (!result.ok) throw new Error(JSON.stringify(result.faults));
  return result.batch.files[0] as FilePatch;
}

function applied(original: Uint8Array, patch: FilePatch): string {
  const result = applyFilePatch(original, patch);
  if (!result.ok) throw new Error(JSON.stringify(result.faults));
  return Buffer.from(result.bytes).toString();
}

type Change = { operation: string } & Record<string, unknown>;
const newText = fc.constantFrom('', 'a', 'b', 'new', 'ä', '\u2028', 'tab\t');
const newLines = fc.array(newText, { minLength: 1, maxLength: 4 });

/** Random changes of a text: each line may be in a range, each gap may get inserts, in either array order. */
function changesFor(content: string): fc.Arbitrary<Change[]> {
  const lines = splitLines(bytesOf(content)).map((line) => line.text);
  const step = fc.record({
    length: fc.nat(3),
    kind: fc.constantFrom('keep', 'keep', 'replace', 'delete', 'insert', 'insertBefore'),
    newLines,
  });
  return fc.array(step, { minLength: 1, maxLength: 10 }).map((steps) => buildChanges(steps, lines));
}

function buildChanges(
  steps: { length: number; kind: string; newLines: string[] }[],
  lines: string[],
): Change[] {
  const changes: Change[] = [];
  let line = 0;
  for (const { length, kind, newLines } of steps) {
    if (kind === 'insert') {
      changes.push({ operation: 'insert', afterLine: line, newLines });
      continue;
    }
    const endLine = Math.min(lines.length, line + length);
    if (endLine > line && kind !== 'keep') {
      const startLine = line + 1;
      const range = { startLine, endLine, expectedOriginalLines: lines.slice(line, endLine) };
      if (kind === 'insertBefore' && startLine === endLine) {
        changes.push({ operation: 'insert', afterLine: startLine, newLines });
      }
      if (kind === 'replace') changes.push({ operation: 'replace', ...range, newLines });
      else changes.push({ operation: 'delete', ...range });
    }
    line = endLine;
  }
  return changes;
}

const fileWithChanges = file.chain((content) => fc.tuple(fc.constant(content), changesFor(content)));
const runs = { numRuns: Number(process.env.PROPERTY_RUNS ?? 1_000) };

describe('the line-patch engine, for any text', () => {
  it('turns x into y with the changes of diff(x, y), for all endings and byte order marks', () => {
    fc.assert(
      fc.property(bom, body, body, (mark, x, y) => {
        const [before, after] = [mark + x, mark + y].map((content) => bytesOf(content));
        const diff = diffToChanges(before!, after!);
        if (!diff.ok) return expect(diff.reason).toBe('the byte order mark differs');
        if (before!.equals(after!)) return expect(diff.changes).toEqual([]);
        expect(applied(before!, parsed(patchOf(diff.changes), true))).toBe(after!.toString());
      }),
      runs,
    );
  });

  it('returns to x when a patch is applied and then inverted', () => {
    fc.assert(
      fc.property(fileWithChanges, ([content, changes]) => {
        const patch = accept(changes);
        if (patch === null) return;
        const result = applyFilePatch(bytesOf(content), patch);
        if (!result.ok) return;
        const inverse = invertFilePatch(bytesOf(content), patch, SHA);
        if (!inverse.ok) throw new Error('an applied patch must invert');
        expect(applied(result.bytes, parsed(inverse.patch, true))).toBe(content);
      }),
      runs,
    );
  });

  it('returns to y when the inverse is inverted', () => {
    fc.assert(
      fc.property(fileWithChanges, ([content, changes]) => {
        const patch = accept(changes);
        const result = patch && applyFilePatch(bytesOf(content), patch);
        if (!patch || !result?.ok) return;
        const inverse = invertFilePatch(bytesOf(content), patch, SHA);
        const again = inverse.ok && invertFilePatch(result.bytes, inverse.patch, SHA);
        if (!again || !again.ok) throw new Error('an inverse must invert');
        const end = applied(bytesOf(content), parsed(again.patch, true));
        expect(end).toBe(Buffer.from(result.bytes).toString());
      }),
      runs,
    );
  });

  it('never touches a byte outside the ranges of an accepted batch', () => {
    fc.assert(
      fc.property(fileWithChanges, ([content, changes]) => {
        const patch = accept(changes);
        const result = patch && applyFilePatch(bytesOf(content), patch);
        if (!patch || !result?.ok) return;
        expect(Buffer.from(result.bytes).toString()).toMatch(untouched(content, patch));
      }),
      runs,
    );
  });

  it('applies exactly what the check accepts', () => {
    fc.assert(
      fc.property(fileWithChanges, file, ([, changes], other) => {
        const patch = accept(changes);
        if (patch === null) return;
        const { faults } = checkFilePatch(bytesOf(other), patch);
        const result = applyFilePatch(bytesOf(other), patch);
        expect(result.ok ? [] : result.faults).toEqual(faults);
        expect(result.ok).toBe(faults.length === 0);
      }),
      runs,
    );
  });

  it('applies any part of a patch at the same places as the whole', () => {
    fc.assert(
      fc.property(
        fileWithChanges,
        fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }),
        ([content, changes], kept) => {
          const patch = accept(changes);
          if (patch === null) return;
          const part = selectChanges(patch, (index) => kept[index] === true);
          const result = applyFilePatch(bytesOf(content), part);
          if (!result.ok)
            return expect(result.faults.map(({ code }) => code)).toEqual([
              expect.stringMatching(/NO_CHANGE|NOT_TEXT/),
            ]);
          expect(textsOf(Buffer.from(result.bytes).toString())).toEqual(modelTexts(content, part));
        },
      ),
      runs,
    );
  });
});

/** The parser's structural verdict; only these reasons can reject what `buildChanges` makes. */
function accept(changes: Change[]): FilePatch | null {
  const result = parsePatchBatch({ files: [patchOf(changes)] });
  if (result.ok) return result.batch.files[0] as FilePatch;
  for (const { code } of result.faults)
    expect(['NO_CHANGE', 'NEWLINE_IN_LINE', 'NOT_TEXT', 'SCHEMA']).toContain(code);
  if (changes.length > 0) expect(result.faults.map(({ code }) => code)).not.toContain('SCHEMA');
  return null;
}

/** A pattern of the result: untouched lines verbatim, anything where a change is. */
function untouched(content: string, patch: FilePatch): RegExp {
  const lines = splitLines(bytesOf(content));
  const removed = new Set<number>();
  const gaps = new Set<number>();
  for (const change of patch.changes) {
    if (change.operation === 'insert') gaps.add(change.afterLine);
    else for (let line = change.startLine; line <= change.endLine; line += 1) removed.add(line);
  }
  const quoted = (value: string) => value.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
  let pattern = content.startsWith('\uFEFF') ? '^\uFEFF' : '^';
  for (let line = 0; line <= lines.length; line += 1) {
    const kept = lines[line - 1];
    if (kept !== undefined) pattern += removed.has(line) ? '[^]*' : quoted(kept.text + kept.ending);
    if (gaps.has(line)) pattern += '[^]*';
  }
  return new RegExp(`${pattern}$`);
}

const textsOf = (content: string) => splitLines(bytesOf(content)).map((line) => line.text);

/** A second, naive implementation on arrays of texts. */
function modelTexts(content: string, patch: FilePatch): string[] {
  const lines = splitLines(bytesOf(content));
  const added = (text: string) => ({ text, isNew: true });
  const slots = lines.map((line) => [{ text: line.text, isNew: false }]);
  const after: { text: string; isNew: boolean }[][] = [[], ...lines.map(() => [])];
  for (const change of patch.changes) {
    if (change.operation === 'insert') after[change.afterLine]?.push(...change.newLines.map(added));
    else {
      for (let line = change.startLine; line <= change.endLine; line += 1) slots[line - 1] = [];
      if (change.operation === 'replace') slots[change.startLine - 1] = change.newLines.map(added);
    }
  }
  const result = [...(after[0] ?? [])];
  slots.forEach((slot, index) => result.push(...slot, ...(after[index + 1] ?? [])));
  // Without an ending to keep, an empty new last line leaves no trace.
  const newest = result.at(-1);
  if (lines.at(-1)?.ending === '' && newest?.isNew && newest.text === '') result.pop();
  return result.map(({ text }) => text);
}
