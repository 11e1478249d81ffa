import { type FilePatch } from '../patch-batch.js';
import { checkFilePatch } from './apply.js';
import { FaultList, MAX_REPORTED_BYTES } from './faults.js';

describe('the faults of a batch', () => {
  const changes = (count: number): FilePatch['changes'] =>
    Array.from({ length: count }, (_, at) => ({
      ...{ changeKey: null, description: null, operation: 'delete', startLine: at + 1, endLine: at + 1 },
      expectedOriginalLines: ['other'],
    }));
  const patch = (count: number): FilePatch => ({
    ...{ fileKey: null, docPath: 'a', originalSha256: '', fileLabel: null, changes: changes(count) },
  });
  const size = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

  it('show the beginning of a long line, and how much is cut [PATCH-13]', () => {
    const { faults } = checkFilePatch(Buffer.from(`${'y'.repeat(5_000_000)}\n`), patch(1));
    const [line] = faults[0]!.actualLines!;
    expect(line!.text).toBe(`${'y'.repeat(2_000)}… (4998000 more characters)`);
    expect(size(faults)).toBeLessThan(4_000);
  });

  it('show the lines around the difference if there are many', () => {
    const lines = Array.from({ length: 40 }, (_, at) => `${at}`.padEnd(1_500, 'y'));
    const expected = lines.map((line, at) => (at === 20 ? 'other' : line));
    const change = { ...patch(1).changes[0]!, startLine: 1, endLine: 40, expectedOriginalLines: expected };
    const { faults } = checkFilePatch(Buffer.from(lines.join('\n')), {
      ...patch(1),
      changes: [change],
    });
    const { actualLines, omittedLines } = faults[0]!;
    expect(actualLines!.map(({ line }) => line)).toEqual(expect.arrayContaining([20, 21, 22]));
    expect(actualLines!.length + omittedLines!).toBe(40);
    expect(size(actualLines)).toBeLessThan(20_000);
  });

  it('have a limit of bytes, beyond which they are counted [PATCH-13]', () => {
    const lines = Array.from({ length: 100 }, () => 'ü'.repeat(100_000)).join('\n');
    const { faults, moreFaults } = checkFilePatch(Buffer.from(lines), patch(100));
    expect(size(faults)).toBeLessThanOrEqual(MAX_REPORTED_BYTES + faults.length);
    expect(faults.length + moreFaults).toBe(100);
    // Lines are dropped first, and their number is reported.
    expect(faults.at(-1)).toMatchObject({ actualLines: [], omittedLines: 1 });
  });

  it('create no text if they cannot be shown, in any file and pass [PATCH-1]', () => {
    const list = new FaultList();
    let made = 0;
    const text = (): string => `${(made += 1)}`;
    for (let file = 0; file < 1_000; file += 1) {
      const pass = list.ofPass();
      for (let at = 0; at < 10; at += 1) pass.add({ fileIndex: file }, 'SCHEMA', text);
      list.absorb(pass);
    }
    expect([list.count, made]).toEqual([10_000, 100]);
  });

  it('create no text once their bytes exceed the limit', () => {
    const list = new FaultList();
    list.add({}, 'SCHEMA', () => 'x'.repeat(MAX_REPORTED_BYTES));
    let made = 0;
    for (let at = 0; at < 10; at += 1) list.add({}, 'SCHEMA', () => `${(made += 1)}`);
    expect([list.count, made, list.result().faults.length]).toEqual([11, 0, 1]);
  });

  it('are not reported at a line that only shares the hash of the expected one', () => {
    // These two words have the same FNV-1a hash.
    const change = { ...patch(1).changes[0]!, expectedOriginalLines: ['liquid'], startLine: 2, endLine: 2 };
    const { faults } = checkFilePatch(Buffer.from('costarring\nb\n'), { ...patch(1), changes: [change] });
    expect(faults).toMatchObject([{ code: 'LINES_MISMATCH', foundAt: null }]);
  });

  it('of another pass follow those that are there', () => {
    const list = new FaultList();
    list.add({ fileIndex: 0 }, 'STALE', () => 'first');
    list.append(checkFilePatch(Buffer.from('a\n'), patch(1), 1));
    list.append({ faults: [], moreFaults: 7 });
    const { faults, moreFaults } = list.result();
    expect(faults.map(({ code }) => code)).toEqual(['STALE', 'LINES_MISMATCH']);
    expect([list.count, moreFaults]).toEqual([9, 7]);
  });
});
