import { readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { basename, join } from 'node:path';
import {
  COMPUTING,
  cycleIn,
  offences,
  reachable,
  ROOT,
  type Source,
  sourcesIn,
  valueImports,
} from './support/sources.js';

/* What each package may need, so that who installs one gets no more than it is for. */

/** Each of our packages, and those of ours that it may import: protocol ← client ← workspace ← cli. */
const PACKAGES = {
  protocol: [],
  client: ['protocol'],
  workspace: ['protocol', 'client'],
  cli: ['protocol', 'client', 'workspace'],
} as const;
type PackageName = keyof typeof PACKAGES;
const names = Object.keys(PACKAGES) as PackageName[];

interface Manifest {
  exports: Record<string, { types: string; default: string }>;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
}

const sources = Object.fromEntries(names.map((name) => [name, sourcesIn(`packages/${name}/src`)])) as Record<
  PackageName,
  Source[]
>;
const manifests = Object.fromEntries(
  names.map((name) => [name, JSON.parse(readFileSync(join(ROOT, `packages/${name}/package.json`), 'utf8'))]),
) as Record<PackageName, Manifest>;

/** Every way to import one of ours, such as `@patchbay/client/relay`, and the file that it leads to. */
const ENTRIES = new Map(
  names.flatMap((name) =>
    Object.entries(manifests[name].exports).map(([entry, { default: built }]): [string, string] => [
      `@patchbay/${name}${entry.slice(1)}`,
      `packages/${name}/${built.replace('./dist/', 'src/').replace(/\.js$/, '.ts')}`,
    ]),
  ),
);
/** Those that a page may load. */
const FOR_BROWSERS = [
  '@patchbay/protocol',
  '@patchbay/protocol/hash',
  '@patchbay/protocol/line-patch',
  '@patchbay/client',
  '@patchbay/client/relay',
  '@patchbay/client/indexed-db',
  '@patchbay/workspace/text',
];
/** Packages of others that a page may load. */
const KNOWN_TO_BROWSERS = ['socket.io-client', '@noble/hashes/sha2.js', '@noble/hashes/utils.js'];

const all = names.flatMap((name) => sources[name]);
const byPath = new Map(all.map((source) => [source.path, source.imports]));
const importsOfFile = (name: string) => byPath.get(ENTRIES.get(name) ?? name);
const isFile = (name: string): boolean => name.startsWith('packages/') || name.startsWith('src/');
const isNode = (name: string): boolean => name.startsWith('node:') || builtinModules.includes(name);
/** `@scope/name` or `name` of an import of a package. */
const packageOf = (name: string): string => /^(?:@[^/]+\/)?[^/]+/.exec(name)![0];

describe.each(names)('the package %s', (name) => {
  const own = `packages/${name}/src/`;

  it('is there', () => {
    expect(sources[name].length).toBeGreaterThan(10);
  });

  it('imports its own files, Node, the packages before it by their entries, and what it has declared', () => {
    const before = PACKAGES[name].map((other) => `@patchbay/${other}`);
    const { dependencies = {}, devDependencies = {} } = manifests[name];
    const declared = Object.keys({ ...dependencies, ...devDependencies });
    const allowed = (imported: string): boolean => {
      if (isFile(imported)) return imported.startsWith(own) && byPath.has(imported);
      if (isNode(imported)) return imported.startsWith('node:');
      if (!declared.includes(packageOf(imported))) return false;
      return ENTRIES.has(imported)
        ? before.includes(packageOf(imported))
        : !imported.startsWith('@patchbay/');
    };
    expect(offences(sources[name], (imported) => !allowed(imported))).toEqual([]);
  });

  it('declares nothing that it does not need, and our own packages exactly', () => {
    const { dependencies = {}, devDependencies = {} } = manifests[name];
    const declared = { ...dependencies, ...devDependencies };
    const needed = new Set(sources[name].flatMap(({ imports }) => imports.map(packageOf)));
    // The command line is one file, in which all is bundled but this, which it loads late.
    if (name === 'cli') needed.add('socket.io-client');
    expect(Object.keys(declared).filter((dependency) => !needed.has(dependency))).toEqual([]);
    const ours = Object.entries(declared).filter(([dependency]) => dependency.startsWith('@patchbay/'));
    expect(ours.filter(([, version]) => version !== '0.1.0')).toEqual([]);
  });

  it('has no two files that need each other', () => {
    const graph = new Map(sources[name].map(({ path, imports }) => [path, new Set(imports)]));
    expect(cycleIn(graph)).toBeNull();
  });

  it('has no two folders that need each other', () => {
    const folderOf = (path: string): string | null =>
      path.startsWith(own) ? (/^([^/]+)\//.exec(path.slice(own.length))?.[1] ?? null) : null;
    const graph = new Map<string, Set<string>>();
    for (const { path, imports } of sources[name]) {
      const folder = folderOf(path);
      if (folder === null) continue;
      const others = imports.map(folderOf).filter((other) => other !== null && other !== folder);
      graph.set(folder, new Set([...(graph.get(folder) ?? []), ...others]) as Set<string>);
    }
    expect(cycleIn(graph)).toBeNull();
  });

  it('has no barrels beside its entries, and no entry that leads nowhere', () => {
    const entries = [...ENTRIES.values()].filter((path) => path.startsWith(own));
    expect(entries.filter((path) => !byPath.has(path))).toEqual([]);
    const barrels = sources[name].filter(
      ({ path, text }) =>
        /^export (?:type )?(?:\*|\{[^}]*\}) from/m.test(text) || basename(path) === 'index.ts',
    );
    expect(barrels.map(({ path }) => path).filter((path) => !entries.includes(path))).toEqual([]);
  });
});

describe('the packages', () => {
  it('have one name for one thing: no two files are called the same', () => {
    const entries = [...ENTRIES.values()];
    const files = all.map(({ path }) => path).filter((path) => !entries.includes(path));
    const taken = new Map<string, string>();
    const twins = files.filter((path) => {
      const first = taken.get(basename(path));
      taken.set(basename(path), path);
      return first !== undefined;
    });
    expect(twins).toEqual([]);
  });

  it.each(FOR_BROWSERS)('let a browser load %s: nothing in it needs Node, at however many steps', (entry) => {
    const reached = [...reachable([entry], importsOfFile)];
    expect(reached.length).toBeGreaterThan(2);
    const allowed = [...FOR_BROWSERS, ...KNOWN_TO_BROWSERS];
    expect(reached.filter((name) => !isFile(name) && !allowed.includes(name))).toEqual([]);
  });

  it.each(['@patchbay/client/home', '@patchbay/workspace', '@patchbay/workspace/sync'])(
    'would notice it: %s does need Node',
    (entry) => {
      expect([...reachable([entry], importsOfFile)].filter(isNode)).not.toEqual([]);
    },
  );

  it('leave the protocol without input or output', () => {
    const reads = (name: string): boolean => isNode(name) && !COMPUTING.includes(name);
    expect(offences(sources.protocol, reads)).toEqual([]);
  });

  it('keep the tools of a workspace apart from the socket, of which they know the types alone', () => {
    const loads = /^(?:import|export) (?!type\b)[^;]*'@patchbay\/client\/relay'/m;
    expect(sources.workspace.filter(({ text }) => loads.test(text)).map(({ path }) => path)).toEqual([]);
  });

  it('let the command line start without what only some commands need', () => {
    const started = new Map(
      sources.cli.map((source) => {
        const text = source.text.replace(/\bimport\(/g, '(');
        return [source.path, valueImports({ ...source, text })];
      }),
    );
    const loaded = reachable(['packages/cli/src/main.ts'], (name) => started.get(name));
    expect([...loaded]).toContain('commander');
    const late = ['@patchbay/workspace', '@patchbay/client/relay', 'socket.io-client', 'diff', 'picomatch'];
    expect([...loaded].filter((name) => late.some((one) => name.startsWith(one)))).toEqual([]);
  });

  it('give who installs the SDK no command line, no ignore rules and no diff', () => {
    expect(Object.keys(manifests.client.dependencies!)).toEqual(['@patchbay/protocol', 'socket.io-client']);
    expect(Object.keys(manifests.protocol.dependencies!)).toEqual(['@noble/hashes']);
  });
});
