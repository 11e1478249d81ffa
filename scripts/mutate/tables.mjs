import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const MAX_SPECS = 3;

/** @typedef {import('../../test/mutations/fault.js').Fault} Fault */

/**
 * @typedef {{ table: string, faults: Fault[], needs: string[] }} Table
 * needs: environment variables without which its specs skip their tests
 */

/** @returns {Promise<Table[]>} the tables of test/mutations, by name */
export async function readTables(root) {
  const folder = join(root, 'test/mutations');
  const names = (await readdir(folder)).filter((name) => name.endsWith('.mjs')).sort();
  return Promise.all(
    names.map(async (name) => {
      const { FAULTS, NEEDS = [] } = await import(pathToFileURL(join(folder, name)).href);
      return { table: name.slice(0, -'.mjs'.length), faults: FAULTS, needs: NEEDS };
    }),
  );
}

/**
 * The faults that these words choose: the name of a table, or the start of a faulty file's path. No word chooses all.
 * @returns {Table[]}
 * @throws {Error} where a word chooses nothing
 */
export function choose(tables, words) {
  const useless = words.find((word) => !tables.some((table) => table.faults.some(isChosen(table, word))));
  if (useless !== undefined) throw new Error(`No table and no faulty file is called "${useless}".`);
  if (words.length === 0) return tables;
  return tables
    .map((table) => ({
      ...table,
      faults: table.faults.filter((fault) => words.some((word) => isChosen(table, word)(fault))),
    }))
    .filter(({ faults }) => faults.length > 0);
}

const isChosen =
  ({ table }, word) =>
  ({ file }) =>
    table === word || file.startsWith(word);

/** What is wrong with the tables, one line each: above all a `find` that its file lacks, or has more than once. */
export async function problemsOf(root, tables) {
  const problems = await Promise.all(
    tables.flatMap(({ table, faults }) => [
      ...repeated(faults.map(({ name }) => name)).map((name) => `${table}: two faults are called "${name}"`),
      ...faults.map(async (fault) => {
        const found = await problemsOfOne(root, fault);
        return found.map((problem) => `${table}: "${fault.name}": ${problem}`);
      }),
    ]),
  );
  return problems.flat();
}

async function problemsOfOne(root, { file, find, replace, specs, only }) {
  const problems = [];
  const text = await readFile(join(root, file), 'utf8').catch(() => null);
  if (text === null) problems.push(`there is no ${file}`);
  else {
    const times = text.split(find).length - 1;
    if (times !== 1) problems.push(`\`find\` occurs ${times} times in ${file}`);
  }
  if (find === replace) problems.push('`find` and `replace` are the same');
  if (specs.length === 0 || specs.length > MAX_SPECS) problems.push(`it names ${specs.length} specs`);
  for (const spec of specs) {
    if (!(await stat(join(root, spec)).catch(() => null))) problems.push(`there is no ${spec}`);
  }
  if (only !== undefined && !isPattern(only)) problems.push('`only` is no regular expression');
  return problems;
}

const repeated = (names) => names.filter((name, at) => names.indexOf(name) !== at);

function isPattern(text) {
  try {
    return new RegExp(text) instanceof RegExp;
  } catch {
    return false;
  }
}
