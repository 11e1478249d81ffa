import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

export const ROOT = resolve(import.meta.dirname, '../..');

/** Parts of Node that compute, and neither read nor write. */
export const COMPUTING = ['node:buffer', 'node:crypto'];

export interface Source {
  path: string;
  text: string;
  /** Packages and Node modules by name; our own files by their path from the root. */
  imports: string[];
}

/** Every source below a folder; specs, and the samples that they share, are none. */
export function sourcesIn(folder: string): Source[] {
  return filesIn(folder).filter(({ path }) => !isSpec(path));
}

/** The specs below a folder, with the samples that they share. */
export function specsIn(folder: string): Source[] {
  return filesIn(folder).filter(({ path }) => isSpec(path));
}

const isSpec = (path: string): boolean => /\.(?:spec|sample)\.ts$/.test(path);

function filesIn(folder: string): Source[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.includes('node_modules'))
    .map((name) => readSource(join(folder, name)));
}

function readSource(path: string): Source {
  const text = readFileSync(join(ROOT, path), 'utf8');
  return { path, text, imports: placedImports(path, text) };
}

/** What a file imports or exports again, as it writes it: with `from`, for its effect alone, or when it runs. */
export function importsOf(text: string): string[] {
  const statements =
    /^\s*(?:import|export)\b[^;'"]*?\bfrom\s*['"]([^'"]+)['"]|^\s*import\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/gm;
  return [...text.matchAll(statements)].map(([, from, effect, dynamic]) => (from ?? effect ?? dynamic)!);
}

function placedImports(path: string, text: string): string[] {
  return importsOf(text).map((name) => (name.startsWith('.') ? fileOf(path, name) : name));
}

function fileOf(importer: string, name: string): string {
  return relative(ROOT, resolve(ROOT, dirname(importer), name)).replace(/\.js$/, '.ts');
}

/** Imports that are there when the code runs; a type costs nothing. */
export function valueImports({ path, text }: Source): string[] {
  return placedImports(path, text.replace(/^\s*(?:import|export) type\b[^;]*;/gm, ''));
}

/** `importer → imported` of every import that breaks a rule. */
export function offences(
  sources: readonly Source[],
  breaks: (imported: string, importer: Source) => boolean,
): string[] {
  return sources.flatMap((source) =>
    source.imports
      .filter((imported) => breaks(imported, source))
      .map((imported) => `${source.path} → ${imported}`),
  );
}

/** Everything that these names need, at however many steps, themselves included. */
export function reachable(
  from: readonly string[],
  importsOfName: (name: string) => readonly string[] | undefined,
): Set<string> {
  const reached = new Set(from);
  for (const name of reached) for (const next of importsOfName(name) ?? []) reached.add(next);
  return reached;
}

/** A way from a node back to itself, or null where there is none. */
export function cycleIn(graph: ReadonlyMap<string, ReadonlySet<string>>): string[] | null {
  const done = new Set<string>();
  const visit = (node: string, path: string[]): string[] | null => {
    if (path.includes(node)) return [...path.slice(path.indexOf(node)), node];
    if (done.has(node)) return null;
    for (const next of graph.get(node) ?? []) {
      const cycle = visit(next, [...path, node]);
      if (cycle) return cycle;
    }
    done.add(node);
    return null;
  };
  for (const node of graph.keys()) {
    const cycle = visit(node, []);
    if (cycle) return cycle;
  }
  return null;
}
