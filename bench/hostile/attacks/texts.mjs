// Texts that are searched, compared, patched: large ones, many at once, and patterns chosen to be slow.
import { MIB, repeated, sha256, times } from '../attack-fixture.mjs';

/** @typedef {import('../attacks.mjs').Attack} Attack */

const LARGE = 8 * MIB;
const SLOW_PATTERNS = ['(a+a+)+b', '(a|aa)*b', '(.*)(.*)(.*)(.*)[^a]$', '((a{0,30}){0,30}){0,1}b'];
const manyLines = (line) => Buffer.from(repeated(line, LARGE - 64));

/** Just within the bounds of a path: runs of thirty combining marks, in an order that normalising has to change. */
const markedPath = (n) => `r/${n}${repeated(`a${'\u0315\u0300'.repeat(15)}`, 900)}`;
const markedFiles = (count, make) => Array.from({ length: count }, (_, n) => make(markedPath(n)));

/** @type {Attack[]} */
export const TEXTS = [
  {
    name: '8,000 docPaths of many short runs of 30 combining marks in a patch',
    isQuick: true,
    prepare: async () => {
      const changes = [{ operation: 'insert', afterLine: 0, newLines: ['x'] }];
      return markedFiles(8_000, (docPath) => ({ docPath, originalSha256: 'a'.repeat(64), changes }));
    },
    run: (fixture, files) =>
      times(2, () => fixture.turn([{ name: 'workspace_write_patch', arguments: { files } }])),
  },
  {
    name: '8,000 paths of many short runs of 30 combining marks in a commit, and as Active Files',
    isQuick: true,
    prepare: async () => ({
      files: markedFiles(1_000, (path) => ({ path, sha256: 'a'.repeat(64), baseSha256: null })),
      activeFiles: markedFiles(1_000, (docPath) => ({
        ...{ docPath, displayPath: docPath, sha256: 'a'.repeat(64), sizeBytes: 1, isDirty: false },
      })),
    }),
    run: (fixture, { files, activeFiles }) =>
      times(8, (n) =>
        n % 2 === 0
          ? fixture.post(`${fixture.home}/files/commit`, { files })
          : fixture.ask('PUT', `${fixture.home}/sessions/${fixture.session}/active-files`, { activeFiles }),
      ),
  },
  {
    name: 'a needle of 60 KB in 0.9 MB',
    isQuick: true,
    prepare: (fixture) => fixture.file('hay.txt', 'a'.repeat(0.9 * MIB)),
    run: (fixture) => {
      const oldString = `${'a'.repeat(30_000)}b${'a'.repeat(30_000)}`;
      return times(4, () => fixture.tool('edit', { path: '/hay.txt', oldString, newString: 'x' }));
    },
  },
  {
    name: '100 greps of 40 MB',
    isQuick: true,
    prepare: (fixture) =>
      fixture.files(
        ['1', '2', '3', '4', '5'].map((n) => `g/${n}.txt`),
        manyLines('a line\n'),
      ),
    run: (fixture) => times(100, () => fixture.tool('grep', { pattern: '(a|b|ab)*c$', path: '/g' })),
  },
  {
    name: 'patterns that are slow elsewhere, over lines of 1 MB',
    isQuick: true,
    prepare: (fixture) => fixture.file('a.txt', 'a'.repeat(MIB)),
    run: (fixture) =>
      times(8, (n) => fixture.tool('grep', { pattern: SLOW_PATTERNS[n % SLOW_PATTERNS.length], path: '/' })),
  },
  {
    name: 'globs with forty stars over 20,000 files',
    isQuick: true,
    prepare: (fixture) =>
      fixture.files(
        Array.from({ length: 20_000 }, (_, n) => `${'a'.repeat(60)}/${'a'.repeat(60)}${n}`),
        Buffer.from('x'),
      ),
    run: (fixture) => times(20, () => fixture.tool('glob', { pattern: `**/${'a*'.repeat(40)}b`, path: '/' })),
  },
  {
    name: '40 listings of 20,000 files, and paths near to none',
    isQuick: true,
    prepare: (fixture) =>
      fixture.files(
        Array.from({ length: 20_000 }, (_, n) => `d${n % 100}/${'b'.repeat(80)}${n}`),
        Buffer.from('x'),
      ),
    run: (fixture) =>
      times(40, (n) =>
        n % 2 === 0
          ? fixture.tool('ls', { path: '/', recursive: true })
          : fixture.tool('read', { path: `/d1/${'b'.repeat(79)}c${n}` }),
      ),
  },
  {
    name: '40 diffs of 4,000,000 lines',
    isQuick: true,
    async prepare(fixture) {
      await fixture.file('d.txt', manyLines('a\n'));
      await fixture.file('d.txt', manyLines('b\n'));
      const { files } = (await fixture.get(`${fixture.home}/files`)).json();
      const { fileId } = files.find(({ path }) => path === '/d.txt');
      const { versions } = (await fixture.get(`${fixture.home}/files/${fileId}/versions`)).json();
      return `${fixture.home}/files/${fileId}/diff?from=${versions[1].versionId}&to=${versions[0].versionId}`;
    },
    run: (fixture, path) => times(40, () => fixture.get(path)),
  },
  {
    name: '1,000 files of one blob of 8 MB in a patch',
    isQuick: true,
    async prepare(fixture) {
      const bytes = manyLines('a line of some length\n');
      const paths = Array.from({ length: 1000 }, (_, n) => `p/${n}.txt`);
      await fixture.files(paths, bytes);
      const changes = [{ operation: 'insert', afterLine: 3, newLines: ['x'] }];
      return paths.map((docPath) => ({ docPath, originalSha256: sha256(bytes), changes }));
    },
    run: (fixture, files) =>
      times(3, () => fixture.turn([{ name: 'workspace_write_patch', arguments: { files } }])),
  },
  {
    name: '40 patches of one line of 8 MB that is not as expected',
    async prepare(fixture) {
      const bytes = Buffer.from(`${'y'.repeat(LARGE - 100)}\n`);
      await fixture.file('one.txt', bytes);
      const change = {
        operation: 'replace',
        startLine: 1,
        endLine: 1,
        expectedOriginalLines: ['x'],
        newLines: ['z'],
      };
      return [{ docPath: 'one.txt', originalSha256: sha256(bytes), changes: [change] }];
    },
    run: (fixture, files) =>
      times(40, () => fixture.turn([{ name: 'workspace_write_patch', arguments: { files } }])),
  },
  {
    name: '100 writes, edits and hashes of 8 MB',
    isQuick: true,
    prepare: (fixture) => fixture.file('h.txt', manyLines('old text\r\n')),
    run: (fixture) =>
      times(100, (n) =>
        n % 3 === 0
          ? fixture.file(`w${n}.txt`, Buffer.alloc(LARGE, 97))
          : n % 3 === 1
            ? fixture.tool('edit', { path: '/h.txt', oldString: 'old', newString: 'new', replaceAll: true })
            : fixture.tool('code_hash_normalized', { docPath: 'h.txt' }),
      ),
  },
  {
    name: '60 numbered reads of 4,000,000 lines',
    prepare: (fixture) => fixture.file('n.txt', manyLines('\n')),
    run: (fixture) =>
      times(60, () => fixture.tool('workspace_read_file', { docPath: 'n.txt', numbered: true })),
  },
];
