import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/** The one block of code in a language below a heading of a document. */
export async function snippetOf(document: string, heading: string, language: string): Promise<string> {
  const sections = (await readFile(join(ROOT, document), 'utf8')).split(/^(?=## )/m);
  const section = sections.find((one) => one.startsWith(`## ${heading}\n`));
  const blocks = [...(section ?? '').matchAll(/^```(\w*)\n([^]*?)^```$/gm)].filter(
    ([, it]) => it === language,
  );
  if (blocks.length !== 1)
    throw new Error(`${document} has ${blocks.length} blocks of ${language} below "${heading}".`);
  return blocks[0]![2]!;
}

/**
 * Runs a snippet as it stands in a document.
 *
 * @param given the names that the snippet leaves to its reader, with their values
 * @param wanted a name that the snippet declares
 * @returns the value of `wanted` after the last statement
 */
export async function runSnippet<T>(
  code: string,
  given: Record<string, unknown>,
  wanted: string,
): Promise<T> {
  const names = { ...given };
  const body = code.replace(/^import \{(.*)\} from '(.*)';$/gm, (_, list: string, specifier: string) => {
    for (const name of list.split(',')) names[name.trim()] = imported(specifier, name.trim());
    return '';
  });
  const AsyncFunction = Object.getPrototypeOf(runSnippet) as { constructor: FunctionConstructor };
  const snippet = new AsyncFunction.constructor(...Object.keys(names), `${body}\nreturn ${wanted};`);
  const values = await Promise.all(Object.values(names));
  return (snippet as (...values: unknown[]) => Promise<T>)(...values);
}

async function imported(specifier: string, name: string): Promise<unknown> {
  const module = (await import(specifier)) as Record<string, unknown>;
  if (!(name in module)) throw new Error(`${specifier} has no ${name}.`);
  return module[name];
}
