import fc from 'fast-check';
import { parsePatchBatch } from '../line-patch.js';
import { batch, codesOf, faultsOf, file, insert, SHA } from './parse-batch.sample.js';

describe('the schema', () => {
  it.each([
    ['null', null],
    ['a string', 'x'],
    ['an array', []],
    ['no files', {}],
    ['empty files', { files: [] }],
    ['files that are an object', { files: { 0: file([insert(0)]) } }],
    ['a file that is null', { files: [null] }],
    ['no docPath', { files: [{ originalSha256: SHA, changes: [insert(0)] }] }],
    ['a docPath that is a number', { files: [file([insert(0)], { docPath: 7 })] }],
    ['no sha256', { files: [{ docPath: 'a', changes: [insert(0)] }] }],
    ['no changes', { files: [{ docPath: 'a', originalSha256: SHA }] }],
    ['empty changes', { files: [file([])] }],
    ['a change that is a string', batch('insert')],
    ['no operation', batch({ afterLine: 0, newLines: ['x'] })],
    ['no afterLine', batch({ operation: 'insert', newLines: ['x'] })],
    ['a number as a string', batch(insert('5'))],
    ['a fraction', batch(insert(1.5))],
    ['a number beyond 2^53', batch(insert(1e300))],
    ['no newLines', batch({ operation: 'insert', afterLine: 0 })],
    ['newLines that are a string', batch(insert(0, 'x'))],
    ['a new line that is a number', batch(insert(0, ['x', 5]))],
    ['no expectedOriginalLines', batch({ operation: 'delete', startLine: 1, endLine: 1 })],
    ['a key that is a number', batch({ ...insert(0), changeKey: 5 })],
    ['a key of 257 characters', batch({ ...insert(0), changeKey: 'k'.repeat(257) })],
    ['a field of another operation', batch({ ...insert(0), startLine: 1 })],
    ['an unknown field of a batch', { ...batch(insert(0)), mode: 'force' }],
    ['an unknown field of a file', { files: [file([insert(0)], { path: 'a' })] }],
    ['newEndings from outside', batch({ ...insert(0), newEndings: ['\n'] })],
  ])('rejects %s', (_what, input) => {
    expect(codesOf(input)).toEqual(['SCHEMA']);
  });

  it('names the received value and the correction', () => {
    const messages = faultsOf(batch({ ...insert('5'), after_line: 5 })).map(({ message }) => message);
    expect(messages[0]).toMatch(/no field "after_line" \(did you mean "afterLine"\?\)/);
    expect(messages[1]).toBe(
      'afterLine must be a whole number, but it is the string "5": send 5 without quotes.',
    );
  });

  it('rejects __proto__ as a key and pollutes nothing', () => {
    const text = `{"files":[{"docPath":"a","originalSha256":"${SHA}","__proto__":{"fileKey":"evil"},"changes":[
      {"operation":"insert","afterLine":0,"newLines":["x"],"__proto__":{"polluted":true}}]}],"__proto__":{}}`;
    const faults = faultsOf(JSON.parse(text));
    expect(faults.map(({ code }) => code)).toEqual(['SCHEMA', 'SCHEMA', 'SCHEMA']);
    expect(faults.map(({ fileKey }) => fileKey)).toEqual([null, null, null]);
    expect(faults[0]?.message).toContain('"__proto__"');
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it('reads no field from a prototype', () => {
    const input = Object.create({ files: [file([insert(0)])] }) as object;
    expect(codesOf(input)).toEqual(['SCHEMA']);
  });

  it('handles any depth of nesting', () => {
    let deep: unknown = [];
    for (let depth = 0; depth < 100_000; depth += 1) deep = [deep];
    expect(codesOf({ files: deep })).toEqual(['SCHEMA']);
    expect(codesOf(batch(insert(0, [deep])))).toEqual(['SCHEMA']);
    expect(codesOf(batch({ ...insert(0), operation: deep }))).toEqual(['SCHEMA']);
  });

  it('never throws, for any input', () => {
    const junk = fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.anything());
    const field = fc.constantFrom(
      'operation',
      'afterLine',
      'startLine',
      'endLine',
      'newLines',
      '__proto__',
      'x',
    );
    const change = fc.dictionary(
      field,
      fc.oneof(junk, fc.constantFrom('insert', 'replace', 'delete', 1, -1, ['x'])),
    );
    const patch = fc.record({
      docPath: fc.oneof(junk, fc.string()),
      originalSha256: junk,
      changes: fc.array(change),
    });
    fc.assert(
      fc.property(fc.oneof(junk, fc.record({ files: fc.array(patch) })), fc.boolean(), (input, trusted) => {
        const result = parsePatchBatch(input, { trusted });
        expect(result.ok || result.faults.length > 0).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  it('cuts long values in messages', () => {
    const long = 'y'.repeat(1_000_000);
    const input = { files: [file([{ ...insert(0), [long]: 1, operation: long }], { originalSha256: long })] };
    for (const { message } of faultsOf(input)) expect(message.length).toBeLessThan(600);
  });
});

describe('docPath and sha256', () => {
  it.each(['Repo/A.txt', '/repo/a.txt', 'repo//a', 'repo/../a', './a', 'a/', '', 'cafe\u0301.txt'])(
    'rejects %j as INVALID_DOC_PATH',
    (docPath) => {
      expect(codesOf({ files: [file([insert(0)], { docPath })] })).toEqual(['INVALID_DOC_PATH']);
    },
  );

  it('gives the right form of a docPath with capitals', () => {
    const [fault] = faultsOf({ files: [file([insert(0)], { docPath: 'Repo/Caf\u00c9.txt' })] });
    expect(fault?.message).toContain('"repo/caf\u00e9.txt"');
  });

  it('rejects a docPath over 1,024 characters', () => {
    const docPath = 'a/'.repeat(600) + 'b';
    expect(codesOf({ files: [file([insert(0)], { docPath })] })).toEqual(['INVALID_DOC_PATH']);
  });

  it('rejects a file twice, also after lowercasing and NFC [PATCH-8]', () => {
    const one = file([insert(0)], { docPath: 'repo/caf\u00e9' });
    const same = faultsOf({ files: [one, one] });
    expect(same).toMatchObject([{ fileIndex: 1, changeIndex: null, code: 'DUPLICATE_DOC_PATH' }]);
    const folded = codesOf({ files: [one, file([insert(0)], { docPath: 'Repo/CAFE\u0301' })] });
    expect(folded).toEqual(['INVALID_DOC_PATH', 'DUPLICATE_DOC_PATH']);
  });

  it.each(['', 'abc', SHA.slice(1), `${SHA}0`, SHA.replace('e', 'g'), ` ${SHA.slice(1)}`])(
    'rejects the sha256 %j as INVALID_SHA256',
    (originalSha256) => {
      expect(codesOf({ files: [file([insert(0)], { originalSha256 })] })).toEqual(['INVALID_SHA256']);
    },
  );

  it('rejects 10,001 files as TOO_LARGE and accepts 10,000', () => {
    const files = Array.from({ length: 10_001 }, (_, n) => file([insert(0)], { docPath: `repo/${n}` }));
    expect(codesOf({ files })).toEqual(['TOO_LARGE']);
    expect(codesOf({ files: files.slice(1) })).toEqual([]);
    expect(codesOf({ files: files.slice(0, 3) }, { maxFiles: 2 })).toEqual(['TOO_LARGE']);
  });
});
