import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

/* The import rules of design.md section 2. */

const ROOT = resolve(import.meta.dirname, '..');
/** Files that carry the logic: nothing that they load, at however many steps, is a framework, a store or a socket. */
const PURE = [
  'src/turn-api/tool-call-forms.ts',
  'src/turns/deadlines.ts',
  'src/common/digest.ts',
  'src/turns/turn-draft.ts',
  'src/turns/turn-state.ts',
  'src/storage/ports/turn.ts',
];
/** Parts of Node that compute, and neither read nor write. */
const COMPUTING = ['node:buffer', 'node:crypto'];
interface Source {
  path: string;
  text: string;
  /** Packages and Node modules by name; our own files by their path from the root. */
  imports: string[];
}

function sourcesIn(folder: string): Source[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.ts$/.test(name) && !/\.spec\.ts$/.test(name) && !name.includes('node_modules'))
    .map((name) => readSource(join(folder, name)));
}

function readSource(path: string): Source {
  const text = readFileSync(join(ROOT, path), 'utf8');
  return {
    path,
    text,
    imports: importsOf(text).map((name) => (name.startsWith('.') ? fileOf(path, name) : name)),
  };
}

/** What a file imports or exports again, as it writes it: with `from`, for its effect alone, or when it runs. */
function importsOf(text: string): string[] {
  const statements =
    /^\s*(?:import|export)\b[^;'"]*?\bfrom\s*['"]([^'"]+)['"]|^\s*import\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/gm;
  return [...text.matchAll(statements)].map(([, from, effect, dynamic]) => (from ?? effect ?? dynamic)!);
}

function fileOf(importer: string, name: string): string {
  return relative(ROOT, resolve(ROOT, dirname(importer), name)).replace(/\.js$/, '.ts');
}

const src = sourcesIn('src');
const protocol = sourcesIn('packages/protocol/src');
const client = sourcesIn('packages/client/src');

/** `importer → imported` of every import that breaks a rule. */
function offences(sources: Source[], breaks: (imported: string, importer: Source) => boolean): string[] {
  return sources.flatMap((source) =>
    source.imports
      .filter((imported) => breaks(imported, source))
      .map((imported) => `${source.path} → ${imported}`),
  );
}

const isOurs = (name: string): boolean =>
  name.startsWith('src/') || name.startsWith('packages/') || name.startsWith('@patchbay/');
/** `turns` of `src/turns/turn-state.ts`; null for what lies beside the folders. */
const featureOf = (path: string): string | null => /^src\/([^/]+)\//.exec(path)?.[1] ?? null;

/** A way from a node back to itself, or null where there is none. */
function cycleIn(graph: ReadonlyMap<string, ReadonlySet<string>>): string[] | null {
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

describe('the scanner', () => {
  it('sees every kind of import', () => {
    const text = [
      "import { a } from './a.js';",
      "import type {\n  B,\n} from '../b.js';",
      "export * from './c.js';",
      "export { type D } from 'd';",
      "import 'reflect-metadata';",
      "const e = await import('./e.js');",
      "export const from = 'nowhere';",
    ].join('\n');
    expect(importsOf(text)).toEqual(['./a.js', '../b.js', './c.js', 'd', 'reflect-metadata', './e.js']);
  });

  it('finds a cycle where there is one', () => {
    const graph = (edges: Record<string, string[]>) =>
      new Map(Object.entries(edges).map(([from, to]) => [from, new Set(to)]));
    expect(cycleIn(graph({ a: ['b', 'c'], b: ['c'], c: [] }))).toBeNull();
    expect(cycleIn(graph({ a: ['b'], b: ['c'], c: ['b'] }))).toEqual(['b', 'c', 'b']);
  });

  it('reads the whole house', () => {
    expect([src.length, protocol.length, client.length].every((count) => count > 10)).toBe(true);
    expect(src.find(({ path }) => path === 'src/turns/turn-state.ts')!.imports).toContain(
      'src/turns/turn-draft.ts',
    );
  });
});

describe('the packages', () => {
  it('stand in one direction: the protocol knows none of ours', () => {
    expect(offences(protocol, (name) => isOurs(name) && !name.startsWith('packages/protocol/src/'))).toEqual(
      [],
    );
  });

  it('stand in one direction: the client knows the protocol, never the server', () => {
    const allowed = (name: string): boolean =>
      name.startsWith('packages/client/') || name === '@patchbay/protocol' || !isOurs(name);
    expect(offences(client, (name) => !allowed(name))).toEqual([]);
  });

  it('stand in one direction: the server knows the protocol by its name, never the client', () => {
    expect(
      offences(src, (name) => isOurs(name) && !name.startsWith('src/') && name !== '@patchbay/protocol'),
    ).toEqual([]);
  });

  it('leave the protocol without input or output', () => {
    expect(offences(protocol, (name) => name.startsWith('node:') && !COMPUTING.includes(name))).toEqual([]);
  });
});

describe('the server', () => {
  it('has no two features that need each other', () => {
    const graph = new Map<string, Set<string>>();
    for (const { path, imports } of src) {
      const feature = featureOf(path);
      if (feature === null || feature === 'storage') continue;
      const others = graph.get(feature) ?? new Set<string>();
      for (const name of imports) {
        const other = featureOf(name);
        if (other !== null && other !== feature && other !== 'storage') others.add(other);
      }
      graph.set(feature, others);
    }
    expect(cycleIn(graph)).toBeNull();
    expect([...(graph.get('config') ?? [])]).toEqual([]);
    expect([...(graph.get('common') ?? [])]).toEqual(['config']);
    const rooms = ['turn-api', 'delivery', 'turns'];
    expect(rooms.map((room) => rooms.filter((other) => graph.get(room)!.has(other)))).toEqual([
      ['delivery', 'turns'],
      ['turns'],
      [],
    ]);
  });

  it('has no two files that need each other', () => {
    expect(cycleIn(new Map(src.map(({ path, imports }) => [path, new Set(imports)])))).toBeNull();
  });

  it('stores records of its own, and knows no feature', () => {
    const storage = src.filter(({ path }) => path.startsWith('src/storage/'));
    const isFeature = (name: string): boolean =>
      !['storage', 'common', 'config', null].includes(featureOf(name));
    expect(offences(storage, isFeature)).toEqual([]);
  });

  it('chooses its backend in one file', () => {
    const inside = (name: string, folder: string): boolean => name.startsWith(`src/storage/${folder}/`);
    for (const backend of ['sqlite', 'mongo']) {
      const others = src.filter(
        ({ path }) => path !== 'src/storage/storage.module.ts' && !inside(path, backend),
      );
      expect(offences(others, (name) => inside(name, backend))).toEqual([]);
    }
  });

  it('keeps SQL and its driver in their folder', () => {
    const others = src.filter(({ path }) => !path.startsWith('src/storage/sqlite/'));
    expect(offences(others, (name) => name === 'libsql')).toEqual([]);
    const sql = /\b(?:SELECT\s[\s\S]{1,200}?\sFROM|INSERT INTO|DELETE FROM|UPDATE \w+ SET)\b/;
    expect(others.filter(({ text }) => sql.test(text)).map(({ path }) => path)).toEqual([]);
  });

  it('keeps its pure files free of frameworks, stores and sockets', () => {
    const known = new Map(src.map((source) => [source.path, valueImports(source)]));
    expect(PURE.filter((path) => !known.has(path))).toEqual([]);
    const reached = new Set(PURE);
    for (const path of reached) for (const name of known.get(path) ?? []) reached.add(name);
    const packages = [...reached].filter((name) => !known.has(name));
    expect(packages.filter((name) => name !== '@patchbay/protocol' && !COMPUTING.includes(name))).toEqual([]);
  });

  it('keeps the line-patch engine free of everything but itself', () => {
    const engine = protocol.filter(({ path }) => path.includes('/line-patch/'));
    expect(engine.length).toBeGreaterThan(5);
    const allowed = (name: string): boolean =>
      name.startsWith('packages/protocol/src/') || COMPUTING.includes(name);
    expect(offences(engine, (name) => !allowed(name))).toEqual([]);
  });

  it('reads the environment in its configuration alone', () => {
    const readers = src
      .filter(({ text }) => /process\.env|['"]node:process['"]/.test(text))
      .map(({ path }) => path);
    expect(readers.filter((path) => path !== 'src/config/config.ts' && path !== 'src/main.ts')).toEqual([]);
  });

  it('is tested in its folder without a running server, which belongs to test/', () => {
    const specs = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.spec.ts'))
      .map((name) => readSource(join('src', name)));
    expect(specs.length).toBeGreaterThan(10);
    expect(offences(specs, (name) => name.startsWith('test/'))).toEqual([]);
  });

  it('needs no forward references, global modules or barrels', () => {
    expect(src.filter(({ text }) => text.includes('forwardRef')).map(({ path }) => path)).toEqual([]);
    const globals = src.filter(({ text }) => /@Global\(|global: true/.test(text)).map(({ path }) => path);
    expect(
      globals.filter((path) => !/src\/(?:config\/config|common\/logging)\.module\.ts/.test(path)),
    ).toEqual([]);
    expect(
      src
        .filter(({ path, text }) => /\/index\.ts$/.test(path) || /^export \*/m.test(text))
        .map(({ path }) => path),
    ).toEqual([]);
  });
});

/** Imports that are there when the code runs; a type costs nothing. */
function valueImports({ path, text }: Source): string[] {
  const values = text.replace(/^\s*(?:import|export) type\b[^;]*;/gm, '');
  return importsOf(values).map((name) => (name.startsWith('.') ? fileOf(path, name) : name));
}
