import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { unifiedDiffBetween } from './unified-diff.js';

/** A file before and after; null: it does not exist. */
interface Change {
  name: string;
  before: string | null;
  after: string | null;
}

describe('the unified diff of any two texts', () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'patchbay-diff-'));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  /** The files after `git apply` of all diffs. */
  function gitApplies(changes: readonly Change[]): (string | null)[] {
    rmSync(dir, { recursive: true, force: true });
    mkdirSync(dir);
    for (const { name, before } of changes) {
      mkdirSync(dirname(join(dir, name)), { recursive: true });
      if (before !== null) writeFileSync(join(dir, name), before);
    }
    const bytes = (text: string | null) => (text === null ? null : Buffer.from(text));
    const diffs = changes.map(({ name, before, after }) =>
      unifiedDiffBetween(bytes(before), bytes(after), name),
    );
    const git = spawnSync('git', ['apply', '--allow-empty', '--whitespace=nowarn', '-'], {
      cwd: dir,
      input: diffs.join(''),
      env: { ...process.env, GIT_CEILING_DIRECTORIES: tmpdir(), GIT_CONFIG_GLOBAL: '/dev/null' },
    });
    expect(git.stderr.toString()).toBe('');
    return changes.map(({ name }) =>
      existsSync(join(dir, name)) ? readFileSync(join(dir, name), 'utf8') : null,
    );
  }

  const line = fc.tuple(
    fc.constantFrom('', 'a', 'b', 'c', '@@ -1 +1 @@', '--- a/x', '\\ x', 'é\u2028', '\r', '\0', '\uFEFF'),
    fc.constantFrom('\n', '\n', '\n', '\r\n'),
  );
  const text = fc
    .tuple(fc.array(line, { maxLength: 40 }), fc.constantFrom('', '', 'a', '\r', '\uFEFF'))
    .map(([lines, last]) => lines.flat().join('') + last);
  const side = fc.option(text, { freq: 8 });
  const name = fc.constantFrom(
    'f',
    'with blank',
    'blank ',
    'quo"te',
    'back\\slash',
    'tab\t',
    'café',
    'a/b c/d',
  );
  const change = fc.oneof(
    { weight: 3, arbitrary: fc.record({ name, before: side, after: side }) },
    // Most of a text stays the same.
    {
      weight: 5,
      arbitrary: fc
        .record({ name, top: text, before: text, after: text, end: text })
        .map(({ name, top, before, after, end }) => ({
          name,
          before: top + before + end,
          after: top + after + end,
        })),
    },
  );

  it('makes git turn one into the other, for all lines, endings and names', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 60, size: 'max' }), (drawn) => {
        const changes = drawn.map((one, at) => ({ ...one, name: `${at}/${one.name}` }));
        expect(gitApplies(changes)).toEqual(changes.map(({ after }) => after));
      }),
      { numRuns: Number(process.env.PROPERTY_RUNS ?? 25) },
    );
  });

  it('works for a created or deleted file without lines', () => {
    const changes = [
      { name: 'made empty', before: null, after: '' },
      { name: 'deleted empty', before: '', after: null },
      { name: 'made', before: null, after: 'a' },
      { name: 'deleted', before: 'a\n', after: null },
      { name: 'emptied', before: 'a\n', after: '' },
    ];
    expect(gitApplies(changes)).toEqual(['', null, 'a', null, '']);
  });

  it('works if there is too much to compare line by line', () => {
    let state = 1;
    const repeated = () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return `${state >>> 26}\n`;
    };
    const lines = () => Array.from({ length: 30_000 }, repeated).join('');
    const change = { name: 'f', before: lines(), after: lines() };
    expect(gitApplies([change])).toEqual([change.after]);
  });

  it('is empty if nothing differs', () => {
    expect(unifiedDiffBetween(Buffer.from('a\n'), Buffer.from('a\n'), 'f')).toBe('');
    expect(unifiedDiffBetween(null, null, 'f')).toBe('');
  });
});
