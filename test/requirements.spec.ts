import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');

/** Ids that docs/protocol.md defines, in bold at the head of their line. */
const defined = [
  ...readFileSync(join(ROOT, 'docs/protocol.md'), 'utf8').matchAll(/^- \*\*([A-Z]+-\d+)\*\*/gm),
].map(([, id]) => id!);

function specFiles(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.spec.ts') && !file.includes('node_modules'))
    .map((file) => join(ROOT, folder, file));
}

/**
 * Ids that stand in brackets in the title of a test, or of a group of tests: a text that is the first argument of a
 * call, with a function behind it. Tests that are skipped or commented out hold nothing.
 */
function idsNamedIn(source: string): string[] {
  const code = source.replace(/^\s*\/\/.*$|^\s*\/\*[^]*?\*\//gm, '');
  const titles = code.matchAll(
    /(?<!skip|todo|xit|xdescribe)\(\s*(['"`])((?:\\.|(?!\1)[^\n\\])*)\1,\s*(?:async\b|\(|inScene\()/g,
  );
  return [...titles].flatMap(([, , title]) => [...title!.matchAll(/\[([A-Z]+-\d+)\]/g)].map(([, id]) => id!));
}

const named = new Set(
  ['src', 'test', 'packages']
    .flatMap(specFiles)
    .filter((file) => file !== import.meta.filename)
    .flatMap((file) => idsNamedIn(readFileSync(file, 'utf8'))),
);

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

describe('the search for ids', () => {
  it.each([
    ["it('holds [A-1]', async () => {", ['A-1']],
    ['it("holds [A-1] [B-2]", () => {', ['A-1', 'B-2']],
    ["it.each([\n  ['x [C-3]', 1],\n])('holds %s [A-1]', (_, n) => {", ['A-1']],
    ["it.each(['x'])(\n  'isn\\'t %s [A-1]',\n  async (x) => {", ['A-1']],
    ["it(\n  'holds [A-1]',\n  inScene(async (scene) => {", ['A-1']],
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
});
