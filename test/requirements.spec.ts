import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');

/** Ids that docs/protocol.md defines, in bold at the head of their line. */
const defined = [
  ...readFileSync(join(ROOT, 'docs/protocol.md'), 'utf8').matchAll(/^- \*\*([A-Z]+-\d+)\*\*/gm),
].map(([, id]) => id!);
const groups = new Set(defined.map((id) => id.split('-')[0]));

/** Every source, specs included, but this one, whose samples are wrong on purpose. */
const sources = ['src', 'test', 'packages', 'bench', 'scripts'].flatMap(sourcesIn);

function sourcesIn(folder: string): { path: string; text: string }[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(ts|mjs|js)$/.test(file) && !/(^|\/)(node_modules|dist)\//.test(file))
    .map((file) => join(folder, file))
    .filter((path) => join(ROOT, path) !== import.meta.filename)
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));
}

/**
 * Ids that stand in brackets in the title of a test, or of a group of tests: a text that is the first argument of a
 * call, with a function behind it. Tests that are skipped or commented out hold nothing.
 */
function idsNamedIn(source: string): string[] {
  const code = source.replace(/^\s*\/\/.*$|^\s*\/\*[^]*?\*\//gm, '');
  const titles = code.matchAll(
    /(?<!skip|todo|xit|xdescribe)\(\s*(['"`])((?:\\.|(?!\1)[^\n\\])*)\1,\s*(?:async\b|\(|inFixture\()/g,
  );
  return [...titles].flatMap(([, , title]) => [...title!.matchAll(/\[([A-Z]+-\d+)\]/g)].map(([, id]) => id!));
}

/** Ids of a group of ours, and whatever looks like one in brackets; those of others, such as UTF-8, are none. */
function idsCitedIn(text: string): string[] {
  return [...text.matchAll(/(\[)?\b([A-Z]+)-(\d+)\b(\])?/g)]
    .filter(([, open, group, , close]) => groups.has(group) || (open && close))
    .map(([, , group, number]) => `${group}-${number}`);
}

/** Ids of a group of ours that stand without brackets, which nobody finds who looks for them. */
function bareIdsIn(text: string): string[] {
  return [...text.matchAll(/(?<!\[)\b([A-Z]+)-\d+\b|\b([A-Z]+)-\d+\b(?!\])/g)]
    .filter(([, group, other]) => groups.has(group ?? other))
    .map(([id]) => id);
}

/**
 * Documents that a source names and that are not in the repository: those that the rules once came from, wherever they
 * are named, and in a comment whatever ends in `.md`.
 */
function strayDocumentsIn(text: string): string[] {
  const former = text.match(/\b(?:contract|design)\.md\b|\b(?:TUL|AGN)-\d+|\bspec\/[\w-]+/g) ?? [];
  const comments = text.match(/^\s*\/\/.*$|\/\*[^]*?\*\//gm) ?? [];
  const named = comments.flatMap((comment) => comment.match(/[\w./-]+\.md\b/g) ?? []);
  return [...new Set([...former, ...named.filter((path) => !existsSync(join(ROOT, path)))])];
}

const named = new Set(
  sources.filter(({ path }) => path.endsWith('.spec.ts')).flatMap(({ text }) => idsNamedIn(text)),
);

/** `path: what` of everything that a search finds in the sources. */
const found = (search: (text: string) => string[]) =>
  sources.flatMap(({ path, text }) => search(text).map((what) => `${path}: ${what}`));

describe('the requirements of docs/protocol.md', () => {
  it('are there, each under an id of its own', () => {
    expect(defined.length).toBeGreaterThan(30);
    expect(new Set(defined).size).toBe(defined.length);
  });

  it.each(defined)('%s is named by a test that holds it', (id) => {
    expect(named).toContain(id);
  });

  it('are all that tests name', () => {
    expect([...named].filter((id) => !defined.includes(id))).toEqual([]);
  });
});

describe('sources', () => {
  it('are found', () => {
    expect(sources.length).toBeGreaterThan(300);
  });

  it('cite only requirements that there are', () => {
    expect(found((text) => idsCitedIn(text).filter((id) => !defined.includes(id)))).toEqual([]);
  });

  it('cite them in brackets', () => {
    expect(found(bareIdsIn)).toEqual([]);
  });

  it('name no document that is not in the repository', () => {
    expect(found(strayDocumentsIn)).toEqual([]);
  });
});

describe('the search for ids', () => {
  it.each([
    ["it('holds [A-1]', async () => {", ['A-1']],
    ['it("holds [A-1] [B-2]", () => {', ['A-1', 'B-2']],
    ["it.each([\n  ['x [C-3]', 1],\n])('holds %s [A-1]', (_, n) => {", ['A-1']],
    ["it.each(['x'])(\n  'isn\\'t %s [A-1]',\n  async (x) => {", ['A-1']],
    ["it(\n  'holds [A-1]',\n  inFixture(async (fixture) => {", ['A-1']],
    ["describe('a group [A-1]', () => {", ['A-1']],
    ["it('holds A-1', () => {", []],
    ["// it('holds [A-1]', () => {", []],
    ["/* it('holds [A-1]', () => {\n}); */", []],
    ["it.skip('holds [A-1]', () => {", []],
    ["it.todo('holds [A-1]');", []],
    ["const text = 'about [A-1]';", []],
    ["expect(text('[A-1]', 5)).toBe(1);", []],
  ])('finds in %j only those of titles', (source, ids) => {
    expect(idsNamedIn(source)).toEqual(ids);
  });

  it.each([
    ['/** What it is [RELAY-5]. */', ['RELAY-5']],
    ["'see [RELAY-999] [FOO-1]'", ['RELAY-999', 'FOO-1']],
    ['// as RELAY-999 says', ['RELAY-999']],
    ['/^[A-Z0-9]/ of UTF-8, SHA-256 and ISO-8601', []],
  ])('finds in %j what is cited', (text, ids) => {
    expect(idsCitedIn(text)).toEqual(ids);
  });

  it.each([
    ['// as RELAY-5 says [RELAY-4] [FILE-1]', ['RELAY-5']],
    ['// (RELAY-5) [RELAY-4, UTF-8]', ['RELAY-5', 'RELAY-4']],
    ['// in UTF-8 [TURN-1]', []],
  ])('finds in %j what has no brackets', (text, ids) => {
    expect(bareIdsIn(text)).toEqual(ids);
  });

  it.each([
    ['/** As contract.md section 5 has it. */', ['contract.md']],
    ["const guidance = 'See TUL-004.';", ['TUL-004']],
    [
      '/** `ls` (spec/workspace-tools-api.md). */',
      ['spec/workspace-tools-api', 'spec/workspace-tools-api.md'],
    ],
    ['  // docs/protocol.md and docs/nowhere.md', ['docs/nowhere.md']],
    ["const path = 'docs/guide.md';", []],
  ])('finds in %j the documents that are not there', (text, documents) => {
    expect(strayDocumentsIn(text)).toEqual(documents);
  });
});
