import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const MAX_SPECS = 3;

/** @typedef {import('../../test/mutations/fault.js').Fault} Fault */

/**
 * @typedef {{ room: string, faults: Fault[], needs: string[] }} Table
 * needs: environment variables without which its specs would leave their tests out
 */

/**
 * The tables of test/mutations, each of them a room: its name is that of its file.
 * @returns {Promise<Table[]>} by name
 */
export async function readTables(root) {
  const folder = join(root, 'test/mutations');
  const names = (await readdir(folder)).filter((name) => name.endsWith('.mjs')).sort();
  return Promise.all(
    names.map(async (name) => {
      const { FAULTS, NEEDS = [] } = await import(pathToFileURL(join(folder, name)).href);
      return { room: name.slice(0, -'.mjs'.length), faults: FAULTS, needs: NEEDS };
    }),
  );
}

/**
 * The faults that these words choose: the name of a room, or the beginning of the path of a faulty file.
 * @returns {{ tables: Table[], whole: boolean }} whole: no room lacks a fault
 * @throws {Error} where a word chooses nothing
 */
export function choose(tables, words) {
  if (words.length === 0) return { tables, whole: true };
  const chosen = new Map();
  let whole = true;
  for (const word of words) {
    const named = tables.filter(({ room }) => room === word);
    const some = named.length > 0 ? named : tables.map((table) => byPath(table, word)).filter(hasFaults);
    if (some.length === 0) throw new Error(`No room and no faulty file is called "${word}".`);
    if (named.length === 0) whole = false;
    for (const table of some) {
      const faults = new Set([...(chosen.get(table.room)?.faults ?? []), ...table.faults]);
      chosen.set(table.room, { ...table, faults: [...faults] });
    }
  }
  return { tables: [...chosen.values()], whole };
}

const byPath = (table, path) => ({
  ...table,
  faults: table.faults.filter(({ file }) => file.startsWith(path)),
});
const hasFaults = ({ faults }) => faults.length > 0;

/** What is wrong with the tables, one line each: above all a `find` that its file has no more, or more than once. */
export async function problemsOf(root, tables) {
  const problems = await Promise.all(
    tables.flatMap(({ room, faults }) => [
      ...repeated(faults.map(({ name }) => name)).map(
        (name) => `${room}: "${name}": there are two of this name`,
      ),
      ...faults.map(async (fault) => {
        const found = await problemsOfOne(root, fault);
        return found.map((problem) => `${room}: "${fault.name}": ${problem}`);
      }),
    ]),
  );
  return problems.flat();
}

async function problemsOfOne(root, { file, find, replace, specs, only, equivalent }) {
  const problems = [];
  const text = await readFile(join(root, file), 'utf8').catch(() => null);
  if (text === null) problems.push(`there is no ${file}`);
  else {
    const times = text.split(find).length - 1;
    if (times !== 1) problems.push(`\`find\` occurs ${times} times in ${file}`);
  }
  if (find === replace) problems.push('`replace` is what `find` is');
  if (equivalent !== undefined) return problems;
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
